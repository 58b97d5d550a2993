import AlertQueue
import CLinux
import Glibc
import Linux
import TextFormats

/// A stream of text that leaves the process, or is kept for a test.
struct Output: Sendable {
    /// The width of the terminal in columns; `nil` if it is not a terminal.
    let columns: Int?
    private let send: @Sendable ([UInt8]) throws(OutputError) -> Void
    private let descriptor: Int32?
    /// The characters that it may have: all, unless it is for people in another locale.
    let characters: TerminalCharacters

    var isTerminal: Bool { columns != nil }

    init(
        columns: Int? = nil, descriptor: Int32? = nil, characters: TerminalCharacters = .all,
        send: @escaping @Sendable ([UInt8]) throws(OutputError) -> Void
    ) {
        self.columns = columns
        self.descriptor = descriptor
        self.characters = characters
        self.send = send
    }

    /// The stream of a file descriptor. Nothing is buffered: once `write` has returned, the system
    /// has the bytes.
    init(descriptor: Int32) {
        let columns = Self.columns(of: descriptor)
        let isForPeople = columns != nil || descriptor == STDERR_FILENO
        let characters = isForPeople ? TerminalCharacters() : .all
        self.init(columns: columns, descriptor: descriptor, characters: characters) {
            bytes throws(OutputError) in
            try Self.write(bytes, to: descriptor)
        }
    }

    func write(_ text: String) throws(OutputError) {
        try send(Array(characters.ours(text).utf8))
    }

    /// How wide the terminal is now; ``columns`` is how wide it was at first.
    var currentColumns: Int? {
        guard let descriptor else { return columns }
        return Self.columns(of: descriptor)
    }

    /// Whether this process may write to the terminal: a background job would write into what a
    /// person is typing. See tcgetpgrp(3).
    var isInForeground: Bool {
        guard let descriptor else { return true }
        let group = tcgetpgrp(descriptor)
        return group <= 0 || group == getpgrp()
    }

    /// Checks, without writing, whether there is still a reader; see poll(2).
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

    /// Writes all bytes, even to a pipe that doesn't block.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(OutputError) {
        do {
            try SharedDescriptor.write(bytes, to: descriptor)
        } catch {
            throw OutputError(errorNumber: error.code)
        }
    }
}
