import AlertCore
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Prompts for values and notes in a terminal", .inParallel, .within(.seconds(120)))
struct TerminalPromptTests {
    let terminal: PseudoTerminal
    let keyboard: Keyboard

    init() throws {
        terminal = try PseudoTerminal(columns: 120)
        keyboard = Keyboard(terminal)
    }

    private func choice(
        of alert: Alert, _ act: () async throws -> Void
    ) async throws -> PresenterChoice {
        try await keyboard.choice(of: alert, by: try keyboard.presenter(term: "dumb"), act)
    }

    /// A question whose first button is chosen with the first line.
    private func question(_ fields: Alert.Field...) -> Alert {
        Alert("Rename?", buttons: ["Rename", .cancel("Keep")], fields: fields)
    }

    /// Types the digits that confirm what was pasted, once they are asked for.
    private func confirm(_ what: String) async throws {
        try await terminal.wait(for: "If you mean \(what), type ")
        let digits = try #require(terminal.text.matches(of: #/type (\d+): /#).last?.output.1)
        await keyboard.pass(.milliseconds(300))
        try await keyboard.type(digits + "\n")
        await keyboard.pass(.milliseconds(300))
    }

    @Test("Values are asked for after the button, and one that is missing is asked for again")
    func values() async throws {
        let alert = question(
            Alert.Field("name", isRequired: true), Alert.Field("keep", .boolean))
        let choice = try await choice(of: alert) {
            try await keyboard.press("1\n")
            try await terminal.wait(for: "name: ")
            try await keyboard.press("\n")
            try await terminal.wait(for: "It must have a value.")
            // A pasted text is a value, too.
            try await keyboard.type("nas-2026")
            await keyboard.pass(.milliseconds(300))
            try await keyboard.press("\n")
            try await terminal.wait(for: "keep (optional, yes or no): ")
            try await keyboard.press("no\n")
        }
        let values: [String: Alert.Value] = ["name": .text("nas-2026"), "keep": .boolean(false)]
        #expect(choice == .button(0, Alert.Input(values: values)))
        #expect(!terminal.text.contains("If you mean"))
    }

    @Test(
        "An answer whose values end with pasted Enters has to be confirmed",
        arguments: [
            ("nas\nno\n", "", ["name": .text("nas"), "keep": .boolean(false)]),
            ("nas\n", "no\n", ["name": .text("nas"), "keep": .boolean(false)]),
            // A blank line takes the initial values.
            (" \n \n", "", ["name": .text(" ")]),
        ] as [(String, String, [String: Alert.Value])])
    func pastedValues(paste: String, typed: String, values: [String: Alert.Value]) async throws {
        let alert = question(
            Alert.Field("name"), Alert.Field("keep", .boolean, initialValue: .boolean(true)))
        let choice = try await choice(of: alert) {
            try await keyboard.press("1\n")
            try await keyboard.type(paste)
            await keyboard.pass(.milliseconds(300))
            try await keyboard.press(typed)
            try await confirm("“Rename”")
        }
        #expect(choice == .button(0, Alert.Input(values: values)))
    }

    @Test("A pasted text that ends the last field, and goes on, answers nothing")
    func pastedMore() async throws {
        let alert = question(Alert.Field("tags", .choices(["a", "b"])))
        let choice = try await choice(of: alert) {
            try await keyboard.press("1\n")
            try await keyboard.type("a b\n1\nb\n")
            try await terminal.wait(for: "“b” is not one of them.")
            await keyboard.pass(.milliseconds(300))
            try await keyboard.press("2\n")
            try await confirm("“Keep”")
        }
        #expect(choice == .button(1))
    }

    @Test("An empty line that is pasted ends no text of several lines, and is a part of it")
    func pastedLines() async throws {
        let alert = question(Alert.Field("text", .text(.init(isMultiline: true))))
        let choice = try await choice(of: alert) {
            try await keyboard.press("1\n")
            try await keyboard.type("one\n\ntwo\n\n\n")
            await keyboard.pass(.milliseconds(300))
            try await keyboard.press("\n")
        }
        #expect(choice == .button(0, Alert.Input(values: ["text": .text("one\n\ntwo")])))
    }

    @Test("Holding Enter down in the last field does not answer")
    func heldEnter() async throws {
        let alert = question(Alert.Field("copies", .integer(1...3), initialValue: .integer(2)))
        let choice = try await choice(of: alert) {
            try await keyboard.press("1\n")
            try await keyboard.type("\n")
            await keyboard.pass(.milliseconds(100))
            try await keyboard.type("\n")
            try await confirm("“Rename”")
        }
        #expect(choice == .button(0))
    }

    @Test("A value that is too long for its field is refused, and not cut")
    func long() async throws {
        let alert = question(Alert.Field("name"))
        let choice = try await choice(of: alert) {
            try await keyboard.press("1\n")
            try await keyboard.type(String(repeating: "a", count: 5000))
            await keyboard.pass(.milliseconds(300))
            try await keyboard.press("\n")
            try await terminal.wait(for: "at most 4096")
            try await keyboard.press("b\n")
        }
        #expect(choice == .button(0, Alert.Input(values: ["name": .text("b")])))
    }

    @Test("A note that is given before the button goes with it, and can be taken back")
    func note() async throws {
        let alert = Alert("Go?", buttons: ["Yes", .cancel("No")])
        let choice = try await choice(of: alert) {
            try await keyboard.press("+ nearly\n")
            try await terminal.wait(for: "This note goes with the answer. 1 to 2, ")
            try await keyboard.press("+\n")
            try await terminal.wait(for: "No note goes with the answer")
            try await keyboard.press("+after 8\n2\n")
        }
        #expect(choice == .button(1, Alert.Input(note: "after 8")))
    }

    @Test("An answer with a pasted note has to be confirmed")
    func pastedNote() async throws {
        let alert = question(Alert.Field("name"))
        let choice = try await choice(of: alert) {
            try await keyboard.type("+ a line of a patch\n")
            await keyboard.pass(.milliseconds(300))
            try await keyboard.press("1\n")
            try await confirm("“Rename” with your note")
            try await keyboard.press("nas\n")
        }
        let input = Alert.Input(values: ["name": .text("nas")], note: "a line of a patch")
        #expect(choice == .button(0, input))
    }
}
