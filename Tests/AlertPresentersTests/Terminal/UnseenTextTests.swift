import AlertCore
import TestSupport
import Testing

@testable import AlertPresenters

/// Alerts that a window can't show at once: what has not been on the screen is not approved.
@Suite("Text that has not been on the screen", .inParallel, .within(.seconds(120)))
struct UnseenTextTests {
    let terminal: PseudoTerminal
    let keyboard: Keyboard

    init() throws {
        terminal = try PseudoTerminal(columns: 60, rows: 20)
        keyboard = Keyboard(terminal)
    }

    private var lines: [String] { terminal.screen.lines }
    private var hint: String { lines.last ?? "" }
    private static let rows = (1...40).map { "row \($0)." }

    /// Shows an alert, does something once it takes keys, and returns the choice.
    private func choice(
        _ alert: Alert, _ act: () async throws -> Void
    ) async throws -> PresenterChoice {
        try await keyboard.choice(of: alert, by: nil, act)
    }

    /// Presses Enter on a button until it counts; returns what was on the screen.
    private func readOn() async throws -> String {
        var seen = lines
        var presses = 0
        while hint.hasPrefix("Enter reads on"), presses < 50 {
            try await keyboard.press("\r")
            seen += lines
            presses += 1
        }
        #expect(presses > 0)
        return seen.joined(separator: "\n")
    }

    @Test(
        "An initial value is shown from its beginning, and approved once all of it was shown",
        arguments: [false, true])
    func value(isMultiline: Bool) async throws {
        let separator = isMultiline ? "\n" : "; "
        let value = "rm -rf /srv " + String(repeating: "; true 4567", count: isMultiline ? 0 : 90)
        let text = ([value] + Self.rows).joined(separator: separator)
        let alert = Alert(
            "Run?", buttons: ["Run", .cancel("Keep")],
            fields: [
                Alert.Field(
                    "c", .text(.init(isMultiline: isMultiline)), initialValue: .text(text))
            ])
        var seen = ""
        let choice = try await choice(alert) {
            #expect(lines.contains { $0.contains("rm -rf /srv") })
            #expect(!lines.contains { $0.contains("row 40.") })
            try await keyboard.press("\t")
            // Of what has not been shown, nothing is selected but the button that cancels.
            #expect(hint.hasPrefix("PgDn reads on · Enter chooses"), "\(lines)")
            try await keyboard.press("\u{1B}[D")
            seen = try await readOn()
            try await keyboard.press("\r")
        }
        #expect(choice == .button(0, Alert.Input(values: ["c": .text(text)])))
        for row in Self.rows where isMultiline { #expect(seen.contains(row)) }
        let shown = seen.replacing("\n", with: "").replacing(" ", with: "")
        #expect(shown.contains("rm-rf/srv") && shown.contains("row40."))
    }

    @Test("A long message is read before a button counts, and cancelling needs nothing")
    func message() async throws {
        var alert = Alert("Go?", buttons: ["Yes", "Maybe"])
        let rows = (1...70).map { "row \($0)." }
        alert.message = rows.joined(separator: "\n")
        let choice = try await choice(alert) {
            // Nothing is selected, and no key chooses; the keys' explanation shows nothing of it.
            try await keyboard.press("\r")
            try await keyboard.press("?")
            #expect(hint == "any key goes back")
            try await keyboard.press("x")
            #expect(hint.hasPrefix("PgDn reads on · ←→ select"))
            try await keyboard.press("2")
            #expect(!lines.contains("row 1.") && lines.contains("row 17."))
            // What was jumped over has not been shown.
            try await keyboard.press("\u{1B}[F")
            #expect(lines.contains("row 70."))
            let seen = try await readOn()
            for row in rows[34...] { #expect(seen.contains(row)) }
            try await keyboard.press("\u{1B}[H")
            #expect(lines.contains("row 1."))
            try await keyboard.press("y")
        }
        #expect(choice == .button(0))
        alert.buttons.append(.cancel("No"))
        for key in ["\r", "n"] {
            #expect(try await self.choice(alert) { try await keyboard.press(key) } == .button(2))
        }
    }

    @Test("Descriptions and options below the edge are shown before a button counts")
    func options() async throws {
        let options = (1...60).map { Alert.Field.Option("option \($0) (of many)", id: "\($0)") }
        let alert = Alert(
            "Which?", buttons: ["Go", .cancel("Stop")],
            fields: [
                Alert.Field(
                    "one", .choice(options), detail: String(repeating: "word ", count: 200),
                    initialValue: .text("60"))
            ])
        let choice = try await choice(alert) {
            try await keyboard.press("\t\u{1B}[D")
            let seen = try await readOn()
            for option in options { #expect(seen.contains(option.title)) }
            #expect(seen.contains("(•) option 60"))
            try await keyboard.press("\r")
        }
        #expect(choice == .button(0, Alert.Input(values: ["one": .text("60")])))
    }

    @Test("In a larger window everything is shown at once, and a smaller one takes nothing back")
    func resized() async throws {
        var alert = Alert("Go?", buttons: ["Yes", .cancel("No")])
        alert.message = Self.rows.joined(separator: "\n")
        let choice = try await choice(alert) {
            try await keyboard.press("\u{1B}[D")
            #expect(hint.hasPrefix("Enter reads on"))
            for (columns, rows) in [(60, 50), (60, 10)] {
                terminal.resize(columns: columns, rows: rows)
                try await keyboard.pass(until: "a button that counts") {
                    hint.hasPrefix("Enter chooses")
                }
            }
            try await keyboard.press("\r")
        }
        #expect(choice == .button(0))
    }

    @Test("A prompt writes a long text in parts, and no button counts before the last of them")
    func prompt() async throws {
        var alert = Alert("Go?", buttons: ["Yes", .cancel("No")])
        alert.message = Self.rows.joined(separator: "\n")
        let presenter = try keyboard.presenter(term: "dumb")
        let choice = try await keyboard.choice(of: alert, by: presenter) {
            #expect(hint.hasPrefix("Enter shows ") && lines.contains("row 16."))
            #expect(!terminal.text.contains("row 17."))
            try await keyboard.press("1\n")
            #expect(terminal.text.contains("There is more to read first. Enter shows 3"))
            // Holding Enter down shows no more than one part.
            try await keyboard.type("\n")
            await keyboard.pass(.milliseconds(100))
            try await keyboard.type("\n\n")
            await keyboard.pass(.milliseconds(500))
            #expect(!terminal.text.contains("row 36."))
            try await keyboard.press("\n")
            #expect(terminal.text.contains("row 40.") && hint.hasPrefix("1 to 2, "))
            try await keyboard.press("y\n")
        }
        #expect(choice == .button(0))
        let cancelled = try await keyboard.choice(of: alert, by: presenter) {
            try await keyboard.press("no\n")
        }
        #expect(cancelled == .button(1))
    }

    @Test("What is pasted is shown before a button counts, and what is typed has been")
    func pasted() async throws {
        let alert = Alert(
            "Run?", buttons: ["Run", .cancel("Keep")],
            fields: [Alert.Field("c", .text(.init(isMultiline: true)))])
        let pasted = Self.rows.joined(separator: "\n")
        let choice = try await choice(alert) {
            try await keyboard.type("\u{1B}[200~\(pasted)\u{1B}[201~")
            await keyboard.pass(.milliseconds(500))
            try await keyboard.press("\t\u{1B}[D")
            let seen = try await readOn()
            #expect(seen.contains("row 1.") && seen.contains("row 9."))
            try await keyboard.press("\u{1B}[Z!\t")
            #expect(hint.hasPrefix("Enter chooses"))
            try await keyboard.press("\r")
        }
        #expect(choice == .button(0, Alert.Input(values: ["c": .text(pasted + "!")])))
    }
}
