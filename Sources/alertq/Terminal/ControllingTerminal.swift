import AlertQueue
import Glibc
import Linux
import TextFormats

/// The terminal that this process may read from and write to.
final class ControllingTerminal: Sendable {
    private let descriptor: Int32

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
}
