import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("A terminal on which nothing is shown", .inParallel)
struct IdleTerminalTests {
    let queue: CommandLineQueue
    let terminal: PseudoTerminal

    init() throws {
        queue = try CommandLineQueue()
        terminal = try PseudoTerminal()
    }

    @Test("What is typed is not echoed, before an alert and after it, and no shell gets it")
    func echo() async throws {
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows("Ctrl-C stops"))
        #expect(await eventually { !terminal.isCanonical })
        try terminal.type("typed\n")
        #expect(try await queue.run("notify", "Done", "--dismiss-after", "10ms").code == 0)
        #expect(await terminal.shows("• Done"))
        #expect(await eventually { !terminal.isCanonical })
        try terminal.type("typed\n")
        presenter.kill(SIGTERM)
        #expect(await presenter.exit() == 128 + SIGTERM)
        #expect(!terminal.text.contains("typed") && terminal.isInOrder)
    }

    @Test(
        "Where keys are sent as numbers, Ctrl-C still ends the program",
        arguments: ["\u{1B}[99;5u", "\u{1B}[27;5;99~"], [true, false])
    func interrupt(key: String, isEmpty: Bool) async throws {
        if !isEmpty {
            let asked = try await queue.run("ask", "Prune?", "-b", "yes", "--detach")
            #expect(asked.code == 0)
        }
        let presenter = try queue.start(["present"], on: terminal)
        #expect(await terminal.shows(isEmpty ? "Ctrl-C stops" : "Enter chooses"))
        #expect(await eventually { !terminal.isCanonical })
        try terminal.type(key)
        #expect(await presenter.exit() == 128 + SIGINT)
        #expect(terminal.isInOrder)
        #expect(await queue.isDeserted())
    }
}
