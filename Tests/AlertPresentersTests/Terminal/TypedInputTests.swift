import Glibc
import Linux
import TestSupport
import Testing

@Suite("Typed input", .inParallel)
struct TypedInputTests {
    private let terminal: PseudoTerminal

    init() throws {
        terminal = try PseudoTerminal()
        _ = fcntl(terminal.descriptor, F_SETFL, O_NONBLOCK)
    }

    /// Has the terminal pass on every key at once, and still show it.
    private func leaveCanonicalMode() {
        change { $0.c_lflag &= ~tcflag_t(ICANON) }
    }

    /// Keeps a Ctrl-C from discarding input and output, such as the “^C” of the one before it.
    private func flushNothing() {
        change { $0.c_lflag |= tcflag_t(NOFLSH) }
    }

    private func change(_ edit: (inout termios) -> Void) {
        var modes = termios()
        tcgetattr(terminal.descriptor, &modes)
        edit(&modes)
        tcsetattr(terminal.descriptor, TCSANOW, &modes)
    }

    /// What a program can read now.
    private func input() -> String {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(terminal.descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("What was typed before is discarded, and what is typed afterwards is kept")
    func discarded() async throws {
        try terminal.type("one\ntwo\nthr")
        #expect(await terminal.shows("thr"))
        TypedInput.discard(from: terminal.descriptor)
        try terminal.type("next\n")
        #expect(await terminal.shows("next"))
        #expect(input() == "next\n")
        leaveCanonicalMode()
        try terminal.type(String(repeating: "k", count: 3000))
        #expect(await terminal.shows(String(repeating: "k", count: 3000)))
        TypedInput.discard(from: terminal.descriptor)
        try terminal.type("y")
        #expect(await terminal.shows("ky"))
        #expect(input() == "y")
    }

    @Test("A Ctrl-C that the terminal has yet to look at is kept", arguments: [true, false])
    func interrupt(isCanonical: Bool) async throws {
        flushNothing()
        if !isCanonical { leaveCanonicalMode() }
        // The terminal looks at what it receives a moment later; a flush would lose some.
        let count = 500
        for _ in 1...count {
            try terminal.type("\u{3}")
            TypedInput.discard(from: terminal.descriptor)
        }
        let shown = String(repeating: "^C", count: count)
        #expect(await terminal.shows(shown), "\(terminal.text.count / 2) of \(count)")
    }
}
