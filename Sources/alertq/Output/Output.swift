import CLinux
import Glibc

/// A stream of text that leaves the process, or is kept for a test.
struct Output: Sendable {
    /// The columns of the terminal that it is; `nil` where it is something else.
    let columns: Int?
    private let send: @Sendable ([UInt8]) throws(OutputError) -> Void
    private let descriptor: Int32?

    var isTerminal: Bool { columns != nil }

    init(
        columns: Int? = nil, descriptor: Int32? = nil,
        send: @escaping @Sendable ([UInt8]) throws(OutputError) -> Void
    ) {
        self.columns = columns
        self.descriptor = descriptor
        self.send = send
    }

    /// The stream behind a file descriptor. Nothing is buffered: what `write` returned from has
    /// been given to the system.
    init(descriptor: Int32) {
        self.init(columns: Self.columns(of: descriptor), descriptor: descriptor) {
            bytes throws(OutputError) in
            try Self.write(bytes, to: descriptor)
        }
    }

    func write(_ text: String) throws(OutputError) {
        try send(Array(text.utf8))
    }

    /// How wide the terminal is now; ``columns`` tells how wide it was at first.
    var currentColumns: Int? {
        guard let descriptor else { return columns }
        return Self.columns(of: descriptor)
    }

    /// Whether the terminal is this process's to write on: a job in the background would write
    /// between what a person types. See tcgetpgrp(3).
    var isInForeground: Bool {
        guard let descriptor else { return true }
        let group = tcgetpgrp(descriptor)
        return group <= 0 || group == getpgrp()
    }

    /// Finds out without writing whether anybody still reads; see poll(2).
    ///
    /// - Throws: ``OutputError`` as a write would.
    func checkReader() throws(OutputError) {
        guard let descriptor else { return }
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        guard poll(&request, 1, 0) > 0, Int32(request.revents) & (POLLERR | POLLHUP) != 0 else {
            return
        }
        throw OutputError(errorNumber: EPIPE)
    }

    private static func columns(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard clinux_window_size(descriptor, &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes all bytes, also to a pipe that somebody made non-blocking; see write(2).
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(OutputError) {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                start += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, -1)
            default: throw OutputError(errorNumber: errno)
            }
        }
    }
}
