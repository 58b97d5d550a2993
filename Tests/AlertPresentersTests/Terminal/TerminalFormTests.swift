import AlertCore
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Forms on a terminal", .inParallel, .within(.seconds(120)))
struct TerminalFormTests {
    static let alert = Alert(
        "Rename?", buttons: ["Rename", .cancel("Keep")],
        fields: [Alert.Field("name", isRequired: true), Alert.Field("keep", .boolean)])

    let terminal: PseudoTerminal
    let keyboard: Keyboard

    init() throws {
        terminal = try PseudoTerminal()
        keyboard = Keyboard(terminal)
    }

    /// Shows an alert, does something once it takes keys, and returns the choice.
    private func choice(
        _ alert: Alert = alert, by presenter: TerminalPresenter? = nil,
        _ act: () async throws -> Void
    ) async throws -> PresenterChoice {
        try await keyboard.choice(of: alert, by: presenter, act)
    }

    /// Holds a key down: it repeats 30 times a second after half a second.
    private func hold(_ key: String, times: Int) async throws {
        try await keyboard.type(key)
        await keyboard.pass(.milliseconds(500))
        for _ in 0..<times {
            try await keyboard.type(key)
            await keyboard.pass(.milliseconds(33))
        }
        await keyboard.pass(.milliseconds(300))
    }

    private func renamed(_ name: String, keep: Bool? = nil, note: String? = nil) -> PresenterChoice
    {
        var values = ["name": Alert.Value.text(name)]
        if let keep { values["keep"] = .boolean(keep) }
        return .button(0, Alert.Input(values: values, note: note))
    }

    @Test("A form is filled in with keys, and Enter on a button answers")
    func filled() async throws {
        let result = try await choice {
            try await keyboard.press("nasx\u{7F} lq\r \r\r")
        }
        #expect(result == renamed("nas lq", keep: true))
    }

    @Test("A key or a paste for a field outside of the window is typed, and brings it there")
    func hidden() async throws {
        var long = Self.alert
        long.message = (1...100).map { "line \($0)" }.joined(separator: "\n")
        for typed in ["nas-20", "\u{1B}[200~nas-20\u{1B}[201~"] {
            let result = try await choice(long) {
                #expect(!terminal.screen.lines.contains { $0.hasPrefix("›") })
                if typed.hasPrefix("n") {
                    try await keyboard.press(typed)
                } else {
                    try await keyboard.type(typed)
                    await keyboard.pass(.milliseconds(500))
                }
                #expect(terminal.screen.lines.contains("› nas-20"))
                // What is above has not been read.
                try await keyboard.press("\t\t\u{1B}[D\r")
                while terminal.screen.lines.last?.hasPrefix("Enter reads on") == true {
                    try await keyboard.press("\r")
                }
                try await keyboard.press("\r")
            }
            #expect(result == renamed("nas-20"))
        }
    }

    @Test("A button says what is missing instead of answering, and cancelling needs nothing")
    func missing() async throws {
        let result = try await choice {
            try await keyboard.press("\r\rr\r")
            #expect(terminal.screen.lines.contains("  ! It must have a value."))
            try await keyboard.press("x\u{1B}[Z\r")
        }
        #expect(result == renamed("x"))
        let cancelled = try await choice { try await keyboard.press("x\t\tk\r") }
        #expect(cancelled == .button(1))
    }

    @Test(
        "A paste is typed into the text that takes the keys, and chooses nothing",
        arguments: [
            "\u{1B}[200~yes\rr\n\u{1B}[201~", "yes\rr\r", "\u{1B}[200~yes\nr\u{1B}[201~\r\r",
        ])
    func paste(pasted: String) async throws {
        let result = try await choice {
            try await keyboard.type(pasted)
            await keyboard.pass(.milliseconds(500))
            try await keyboard.press("!\t\t\r")
        }
        #expect(result == renamed("yes r!"))
    }

    @Test("A paste while the buttons take the keys does nothing", arguments: [true, false])
    func pasteOnButtons(isMarked: Bool) async throws {
        let result = try await choice {
            try await keyboard.press("x\t\t")
            for text in ["r", "k\r", "note", "l\r"] {
                try await keyboard.type(isMarked ? "\u{1B}[200~\(text)\u{1B}[201~" : text + "  ")
                await keyboard.pass(.milliseconds(500))
            }
            try await keyboard.press("\r")
        }
        #expect(result == renamed("x"))
    }

    @Test("A held key types, erases and moves, and never chooses a button")
    func held() async throws {
        let result = try await choice {
            try await hold("r", times: 20)
            #expect(terminal.screen.lines.contains("› " + String(repeating: "r", count: 21)))
            try await hold("\u{7F}", times: 30)
            try await keyboard.press("x")
            // It reaches the buttons, from either field, and goes no further.
            for back in ["", "\u{1B}[Z"] {
                try await keyboard.press(back)
                try await hold("\r", times: 20)
                #expect(terminal.screen.lines.last?.hasPrefix("Enter chooses") == true)
            }
            try await hold("\u{1B}[Z", times: 1)
            #expect(terminal.screen.lines.contains("› x"))
            try await hold("\t", times: 20)
            try await keyboard.press("\u{1B}")
        }
        #expect(result == .later(nil))
    }

    @Test("Keys typed before an alert takes keys are not typed into its form")
    func early() async throws {
        let appeared = Flag()
        async let choice = keyboard.presenter().present(.of(Self.alert, appeared: appeared))
        try await terminal.wait("the alert") { appeared.isSet }
        for key in ["a", "\u{1B}[200~b\u{1B}[201~", "c", "\r"] {
            try await keyboard.type(key)
            await keyboard.pass(.milliseconds(200))
        }
        try await keyboard.passUntilLive(appeared)
        try await keyboard.press("x\t\t\r")
        #expect(try await choice == renamed("x"))
    }

    @Test("A note goes with the answer")
    func note() async throws {
        let result = try await choice {
            try await keyboard.press("x\t\t+")
            try await keyboard.type("\u{1B}[200~after\nthe release\u{1B}[201~")
            await keyboard.pass(.milliseconds(500))
            try await keyboard.press("\r\r")
        }
        #expect(result == renamed("x", note: "after the release"))
    }

    @Test("What is typed right after a key that leads from the buttons to a text chooses nothing")
    func typedOn() async throws {
        let result = try await choice {
            try await keyboard.press("\t\t")
            for (key, tabs) in [("\r", "\t\t"), ("+", "\t")] {
                try await keyboard.type(key)
                await keyboard.pass(.milliseconds(20))
                try await keyboard.type("o")
                await keyboard.pass(.milliseconds(300))
                try await keyboard.press("k" + tabs)
            }
            try await keyboard.press("\r")
        }
        #expect(result == renamed("ok", note: "ok"))
    }

    @Test("What was filled in comes back with a snoozed alert, until that is resolved")
    func draft() async throws {
        let presenter = try keyboard.presenter()
        let presentation = Presentation.of(Self.alert)
        #expect(try await choice(presentation, by: presenter, "nas\u{1B}") == .later(nil))
        #expect(try await choice(presentation, by: presenter, "x\t\t\r") == renamed("nasx"))
        await presenter.didResolve(
            presentation, response: response(.answered, Self.alert.buttons[0]), choseHere: true)
        #expect(try await choice(presentation, by: presenter, "x\t\t\r") == renamed("x"))
    }

    private func choice(
        _ presentation: Presentation, by presenter: TerminalPresenter, _ keys: String
    ) async throws -> PresenterChoice {
        let start = terminal.bytes.count
        async let choice = presenter.present(presentation)
        try await keyboard.pass(until: "the alert to take keys") {
            terminal.text(since: start).contains("Enter next")
        }
        try await keyboard.press(keys)
        return try await choice
    }
}
