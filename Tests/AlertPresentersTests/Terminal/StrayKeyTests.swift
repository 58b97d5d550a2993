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

    /// Shows an alert, types pieces with a pause after each, then Enter; returns the choice.
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
        "A key right after a paste counts as pasted",
        arguments: [
            "\u{1B}[200~yes please\u{1B}[201~y", "\u{1B}[200~x\u{1B}[201~\u{1B}[C\r",
            "y\u{1B}[99~",
        ])
    func behindPaste(text: String) async throws {
        let result = try await choice(Self.question, after: [(text, 500)])
        #expect(result == .button(text.contains("[C") ? 1 : 0))
    }

    @Test("A key that arrives together with the end of a paste chooses nothing")
    func endOfPaste() async throws {
        let pieces = [("\u{1B}[200~yes", 100), ("\u{1B}[201~y", 500)]
        #expect(try await choice(Self.question, after: pieces) == .button(0))
    }

    @Test("The first letter of a paste leaves nothing selected")
    func firstLetter() async throws {
        let pieces = [("d", 5), ("elete it all", 500)]
        #expect(try await choice(Self.deletion, after: pieces) == .button(1))
    }

    @Test("An unknown sequence takes a choice back, and the next key counts")
    func unknownKey() async throws {
        let pieces = [("y", 5), ("\u{1B}[15~", 500), ("m", 5), ("\u{1B}[I", 500)]
        #expect(try await choice(Self.question, after: pieces) == .button(0))
    }

    @Test(
        "Where keys are sent as numbers, a key chooses, and its release does nothing",
        arguments: [
            ("\u{1B}[121u", "\u{1B}[121;1:3u", 1), ("\u{1B}[121;1:1u", "\u{1B}[121;1:3u", 1),
            ("\u{1B}[57441;2:1u", "\u{1B}[121:89;2:1u", 1), ("\u{1B}[27;1;121~", "", 1),
            ("\u{1B}[13;1:3u", "\u{1B}[121;1:3u", 0), ("\u{1B}[1;1:1C", "\u{1B}[1;1:3C", 1),
        ])
    func numbers(press: String, release: String, index: Int) async throws {
        let pieces = [(press, 80), (release, 500)].filter { !$0.0.isEmpty }
        #expect(try await choice(Self.question, after: pieces) == .button(index))
    }

    @Test("A release between two keys that are typed fast makes no paste of them")
    func fastReleases() async throws {
        let alert = Alert("?", buttons: ["OK"], fields: [Alert.Field("a")])
        let pieces = [
            ("\u{1B}[97u", 60), ("\u{1B}[97;1:3u", 10), ("\u{1B}[98u", 300), ("\u{1B}[9u", 300),
        ]
        let input = Alert.Input(values: ["a": .text("ab")])
        #expect(try await choice(alert, after: pieces) == .button(0, input))
    }

    @Test("Escape opens the menu of times and leaves it, any number of times")
    func escapes() async throws {
        let alert = Alert("?", buttons: ["Later", .cancel("No")])
        let escapes = Array(repeating: ("\u{1B}", 400), count: 4)
        #expect(try await choice(alert, after: escapes) == .button(0))
        let odd = Array(repeating: ("\u{1B}", 400), count: 3)
        #expect(try await choice(alert, after: odd) == .later(nil))
    }

    @Test("A pasted line can't be confirmed by digits in the same paste")
    func numbers() async throws {
        let appeared = Flag()
        let presenter = try keyboard.presenter(term: "dumb")
        let task = Task { try await presenter.present(.of(Self.question, appeared: appeared)) }
        try await keyboard.passUntilLive(appeared)
        // Each line makes a choice, and one of the later lines has the digits that it asks for.
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
