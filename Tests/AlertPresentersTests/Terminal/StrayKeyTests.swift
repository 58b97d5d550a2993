import AlertCore
import TestSupport
import Testing

@testable import AlertPresenters

/// Keys at a terminal that were meant for something else.
@Suite("Stray keys", .inParallel, .within(.seconds(120)))
struct StrayKeyTests {
    static let question = TerminalPresenterTests.question
    static let deletion = TerminalPresenterTests.deletion

    let terminal: PseudoTerminal
    let keyboard: Keyboard

    init() throws {
        terminal = try PseudoTerminal()
        keyboard = Keyboard(terminal)
    }

    /// Shows an alert, types pieces with a pause behind each, then Enter; returns the choice.
    private func choice(
        _ alert: Alert, after pieces: [(text: String, milliseconds: Int)], term: String = "xterm"
    ) async throws -> PresenterChoice {
        let appeared = Flag()
        let presenter = try keyboard.presenter(term: term)
        async let choice = presenter.present(.of(alert, appeared: appeared))
        try await keyboard.passUntilLive(appeared)
        for (text, milliseconds) in pieces {
            try await keyboard.type(text)
            await keyboard.pass(.milliseconds(milliseconds))
        }
        try await keyboard.press("\r")
        return try await choice
    }

    @Test(
        "A key right behind a paste is pasted",
        arguments: [
            "\u{1B}[200~yes please\u{1B}[201~y", "\u{1B}[200~x\u{1B}[201~\u{1B}[C\r",
            "y\u{1B}[99~",
        ])
    func behindPaste(text: String) async throws {
        let result = try await choice(Self.question, after: [(text, 500)])
        #expect(result == .button(text.contains("[C") ? 1 : 0))
    }

    @Test("The end of a paste, in a read of its own, lets no key through")
    func endOfPaste() async throws {
        let pieces = [("\u{1B}[200~yes", 100), ("\u{1B}[201~y", 500)]
        #expect(try await choice(Self.question, after: pieces) == .button(0))
    }

    @Test("The first letter of a paste leaves nothing selected")
    func firstLetter() async throws {
        let pieces = [("d", 5), ("elete it all", 500)]
        #expect(try await choice(Self.deletion, after: pieces) == .button(1))
    }

    @Test("What is no key takes a choice back, and the next key is a new one")
    func unknownKey() async throws {
        let pieces = [("y", 5), ("\u{1B}[15~", 500), ("m", 5), ("\u{1B}[I", 500)]
        #expect(try await choice(Self.question, after: pieces) == .button(0))
    }

    @Test("Escape opens the menu of times, and leads back from it, however often")
    func escapes() async throws {
        let alert = Alert("?", buttons: ["Later", .cancel("No")])
        let escapes = Array(repeating: ("\u{1B}", 400), count: 4)
        #expect(try await choice(alert, after: escapes) == .button(0))
        let odd = Array(repeating: ("\u{1B}", 400), count: 3)
        #expect(try await choice(alert, after: odd) == .later(nil))
    }

    @Test("The digits that confirm a line can't come with it")
    func numbers() async throws {
        let appeared = Flag()
        let presenter = try keyboard.presenter(term: "dumb")
        let task = Task { try await presenter.present(.of(Self.question, appeared: appeared)) }
        try await keyboard.passUntilLive(appeared)
        // Each line chooses, and one of those behind it is what it asks for.
        let all = (100...999).map { "2\n\($0)\n" }.joined()
        for start in stride(from: 0, to: all.count, by: 1000) {
            try await keyboard.type(String(all.dropFirst(start).prefix(1000)))
            await keyboard.pass(.milliseconds(20))
        }
        await keyboard.pass(.milliseconds(500))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
