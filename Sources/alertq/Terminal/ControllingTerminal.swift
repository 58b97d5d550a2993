import AlertQueue
import Dispatch
import Glibc
import Linux
import TextFormats

/// The terminal that this process may read from and write to.
final class ControllingTerminal: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "alertq.terminal")

    /// Opens the controlling terminal, whichever job is in its foreground; `nil` where there is
    /// none, or where it is not in use by this process.
    init?() {
        guard isatty(STDIN_FILENO) == 1 || isatty(STDERR_FILENO) == 1 else { return nil }
        // An open file of its own: making it non-blocking changes nothing for others.
        descriptor = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether this process's job is the one that the keyboard belongs to; see tcgetpgrp(3).
    var isForeground: Bool { tcgetpgrp(descriptor) == getpgrp() }

    /// Returns when this process's job is in the foreground; a job that `fg` brings there gets no
    /// signal unless it was stopped before.
    func waitForForeground() async throws {
        while !isForeground { try await Task.sleep(for: .milliseconds(250)) }
    }

    /// Writes a text; a terminal that has gone loses it.
    func write(_ text: String) {
        try? Output.write(Array(TerminalCharacters().ours(text).utf8), to: descriptor)
    }

    /// Discards what has been typed and not read.
    func discardInput() {
        if isForeground { TypedInput.discard(from: descriptor) }
    }

    /// The next line that is typed, without its line break; `nil` at its end or when the task is
    /// cancelled.
    func line() async -> String? {
        while !Task.isCancelled {
            await waitUntilReadable()
            // Reading from the background would stop the whole job.
            do { try await waitForForeground() } catch { return nil }
            guard !Task.isCancelled else { return nil }
            // In canonical mode a read returns one line, and lines end after 4,096 bytes.
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                let text = String(decoding: buffer[..<count], as: UTF8.self)
                return text.hasSuffix("\n") ? String(text.dropLast()) : text
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else { return nil }
        }
        return nil
    }

    private func waitUntilReadable() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { continuation.finish() }
        source.activate()
        // The stream ends when there is something to read, or when the task is cancelled.
        for await _ in stream {}
        source.cancel()
    }
}
