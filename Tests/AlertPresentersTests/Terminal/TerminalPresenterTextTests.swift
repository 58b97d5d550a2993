import AlertCore
import AlertQueueTesting
import Foundation
import TestSupport
import Testing
import TextFormats

@testable import AlertPresenters

@Suite("Terminal presenter's words", .inParallel, .within(.seconds(120)))
struct TerminalPresenterTextTests {
    static let question = TerminalPresenterTests.question
    let terminal: PseudoTerminal
    let keyboard: Keyboard
    let appeared = Flag()

    init() throws {
        terminal = try PseudoTerminal()
        keyboard = Keyboard(terminal)
    }

    func presenter(term: String? = "xterm", hasColours: Bool = true) throws -> TerminalPresenter {
        try keyboard.presenter(term: term, hasColours: hasColours)
    }

    /// Types like a person, once the alert takes keys.
    func press(_ keys: String) async throws {
        try await keyboard.passUntilLive(appeared)
        try await keyboard.press(keys)
    }

    @Test("An alert shows its texts, the asker, how many others wait and the time left")
    func shows() async throws {
        let alert = Alert(
            "Prune?", message: "40 GB\nwill go", buttons: [.destructive("Prune"), .cancel("Keep")],
            defaultButton: "Keep", validFor: .seconds(900))
        let presenter = try presenter()
        async let choice = presenter.present(
            .of(alert, waitingCount: 1000, expiresIn: .seconds(90), appeared: appeared))
        try await press("k")
        _ = try await choice
        let text = terminal.text
        for part in [
            "\u{1B}[1mPrune?\u{1B}[0m", "40 GB", "will go", "alert 42 · backup (",
            "just now",
            "a yes counts for 15 min", "1,000+ more wait", "1:30 left, then “Keep”",
            "Esc lets it expire",
            "\u{1B}[31m[ Prune ]", "\u{1B}[7m[ Keep ]",
        ] {
            #expect(text.contains(part), "\(part) is missing")
        }
    }

    @Test("A countdown is drawn once a second")
    func countsDown() async throws {
        let presenter = try presenter()
        let deadlineClock = ManualClock()
        async let choice = presenter.present(
            .of(Self.question, expiresIn: .seconds(100), appeared: appeared, clock: deadlineClock))
        try await terminal.wait(for: "1:40 left")
        for second in 1...3 {
            for _ in 0..<10 {
                deadlineClock.advance(by: .milliseconds(100))
                await keyboard.pass(.milliseconds(100))
            }
            try await terminal.wait(for: "1:\(40 - second) left")
        }
        // A drawing for each second, one as it goes live, and no more.
        let drawings = terminal.text.components("\u{1B}[?7l") - 1
        #expect(drawings <= 5)
        try await press("y")
        _ = try await choice
    }

    @Test("An alert that dismisses itself says when")
    func dismisses() async throws {
        let presenter = try presenter()
        async let choice = presenter.present(
            .of(Alert("Done"), dismissesIn: .seconds(5), appeared: appeared))
        try await terminal.wait(for: "closes in 0:05")
        try await press("q")
        #expect(try await choice == .close)
    }

    @Test("No colour is written if colours are off")
    func noColours() async throws {
        let alert = Alert("?", buttons: [.destructive("Delete"), .cancel("No")])
        let presenter = try presenter(hasColours: false)
        async let choice = presenter.present(.of(alert, appeared: appeared))
        try await press("n")
        _ = try await choice
        #expect(terminal.text.firstMatch(of: /\u{1B}\[[0-9;]*3[0-9]m/) == nil)
    }

    @Test("The line that stays is written once the result is on disk, and not before")
    func resolved() async throws {
        let presenter = try presenter()
        let presentation = Presentation.of(Self.question, appeared: appeared)
        async let choice = presenter.present(presentation)
        try await press("y")
        _ = try await choice
        #expect(terminal.screen.lines == [""])
        await presenter.didResolve(
            presentation, response: response(.answered, "Yes"), choseHere: true)
        #expect(terminal.screen.lines == ["✓ Delete? — Yes", ""])
    }

    @Test("The line that stays after a form has its values and the note, each on one line")
    func filledIn() async throws {
        let alert = Alert(
            "Rename?", buttons: ["Rename"],
            fields: [
                Alert.Field("name", title: "New name"), Alert.Field("why"),
                Alert.Field("keep", .boolean),
                Alert.Field("disks", .choices([.init("First", id: "a"), "b"])),
            ])
        let input = Alert.Input(
            values: [
                "name": .text("nas\u{1B}[2J"), "keep": .boolean(false), "disks": .list(["a", "b"]),
            ], note: "after\n8")
        let presenter = try presenter()
        await presenter.didResolve(
            .of(alert), response: response(.answered, "Rename", input: input), choseHere: true)
        #expect(
            terminal.screen.lines.joined(separator: " ")
                == "✓ Rename? — Rename · New name: nas␛[2J · keep: no · disks: First, b · note: "
                + "after␊8 ")
        await presenter.didResolve(
            .of(alert),
            response: response(.answered, "Rename", input: .init(values: ["why": .text("x")])),
            choseHere: false)
        #expect(terminal.screen.lines.joined(separator: " ").contains(" · why: x"))
    }

    @Test("The line about an alert that ended elsewhere says how, and by whom")
    func resolvedElsewhere() async throws {
        let presenter = try presenter()
        let ana = Caller(
            Account(uid: 1, name: "ana"), via: "desktop",
            process: ProcessIdentity(host: "nas", pid: 1))
        await presenter.didResolve(
            .of(Self.question), response: response(.answered, "Yes", responder: ana),
            choseHere: false)
        await presenter.didResolve(
            .of(Self.question), response: response(.expired, by: .policy), choseHere: false)
        await presenter.didFail(.of(Self.question), error: .storage(operation: "write", "full"))
        let time = LocalTime.text(Date(timeIntervalSince1970: 0), .brief(now: .now))
        #expect(
            terminal.screen.lines == [
                "• Delete? — answered “Yes” by ana (a person) via desktop at \(time)",
                "• Delete? — expired at \(time); nobody answered",
                "✗ Delete? — not stored: can't write: full", "",
            ])
    }

    @Test("A snooze leaves a line with its end, and with the deadline if that comes first")
    func snoozed() async throws {
        let presenter = try presenter()
        let end = Date().addingTimeInterval(600)
        let clock = LocalTime.text(end, .brief(now: Date()))
        await presenter.didSnooze(.of(Self.question), until: end)
        await presenter.didSnooze(.of(Self.question, expiresIn: .seconds(60)), until: end)
        let lines = terminal.screen.lines
        #expect(lines[0] == "• Delete? — snoozed until \(clock)")
        #expect(lines[1].hasPrefix("• Delete? — snoozed until \(clock), but it expires at "))
    }

    @Test("A notice leaves its message, wrapped and cut, except after a numbered prompt")
    func notice() async throws {
        let alert = Alert("Done", message: String(repeating: "word ", count: 300) + "\u{1B}[2J")
        let closed = response(.dismissed)
        await (try presenter()).didResolve(.of(alert), response: closed, choseHere: true)
        let lines = terminal.screen.lines
        #expect(lines.count == 14 && lines[0] == "✓ Done — closed", "\(lines)")
        #expect(lines[1].hasPrefix("  word word") && lines[12].hasPrefix("  … "))
        #expect(lines[12].hasSuffix(" more lines"))
        await (try presenter(term: "dumb")).didResolve(
            .of(alert), response: closed, choseHere: true)
        #expect(terminal.screen.lines[13] == "✓ Done — closed")
    }

    @Test("Two alerts at once take turns, and a line about one leaves the other intact")
    func turns() async throws {
        let presenter = try presenter()
        async let first = presenter.present(.of(Self.question, appeared: appeared))
        try await keyboard.passUntilLive(appeared)
        let waiting = Task {
            try await presenter.present(.of(Alert("Never", buttons: ["A"])))
        }
        let second = Task {
            try await presenter.present(.of(Alert("Second", buttons: ["A", "B"])))
        }
        await presenter.didResolve(
            .of(Alert("Other")), response: response(.withdrawn, by: .asker), choseHere: false)
        let lines = terminal.screen.lines
        #expect(lines[0].hasPrefix("• Other — withdrawn") && lines[1] == "Delete?")
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try await press("y")
        #expect(try await first == .button(1))
        try await terminal.wait(for: "Second")
        try await terminal.wait("the second alert's keys") { !terminal.isCanonical }
        #expect(!terminal.text.contains("Never"))
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
    }

    // MARK: - Without a screen

    @Test(
        "A dumb terminal gets a numbered prompt without escapes, again after an invalid line",
        arguments: ["dumb", nil])
    func prompt(term: String?) async throws {
        let before = terminal.settings
        try terminal.type("2\n")
        let presenter = try presenter(term: term)
        async let choice = presenter.present(.of(Self.question, appeared: appeared))
        try await press("nonsense\n")
        let again =
            "“nonsense” is not one of them. 1 to 3, l for later, or + and a text for a note: "
        try await terminal.wait(for: again)
        try await keyboard.press("1\u{7F}3\n")
        #expect(try await choice == .button(2))
        #expect(terminal.screen.lines.suffix(3).joined(separator: " ") == again + "3 ")
        #expect(terminal.settings == before)
        #expect(!terminal.bytes.contains(0x1B))
    }

    @Test("A question mark at a prompt explains what may be typed")
    func promptHelp() async throws {
        let presenter = try presenter(term: "dumb")
        async let choice = presenter.present(.of(Self.question, appeared: appeared))
        try await press("?\n")
        try await terminal.wait(for: "then Enter, choose it. l2 and so on are the other times.")
        try await keyboard.press("m\n")
        #expect(try await choice == .button(2))
    }

    @Test("The end of input at a prompt is an error, and the next alert prompts again")
    func endOfInput() async throws {
        let presenter = try presenter(term: "dumb")
        for _ in 0..<2 {
            let appeared = Flag()
            let task = Task { try await presenter.present(.of(Self.question, appeared: appeared)) }
            try await keyboard.passUntilLive(appeared)
            try await keyboard.type("\u{04}")
            await #expect(throws: TerminalError.endOfInput(device: terminal.path)) {
                try await task.value
            }
        }
    }

    @Test("A prompt takes input after 750 ms without typing, and says what it waits for")
    func earlyPrompt() async throws {
        let presenter = try presenter(term: "dumb")
        async let choice = presenter.present(.of(Self.question, appeared: appeared))
        try await terminal.wait("the alert") { appeared.isSet }
        // Neither a line nor the beginning of one counts.
        let typed = keyboard.clock.now
        try await keyboard.type("2\n2")
        try await terminal.wait(for: "Stop typing to answer.")
        try await keyboard.pass(until: "the question") {
            terminal.text.contains("l for later, ")
        }
        #expect(keyboard.clock.now - typed >= .milliseconds(750))
        try await keyboard.press("l\n")
        #expect(try await choice == .later(nil))
    }

    @Test("A pasted line has to be confirmed with random digits")
    func pastedLine() async throws {
        let presenter = try presenter(term: "dumb")
        async let choice = presenter.present(.of(Self.question, appeared: appeared))
        try await keyboard.passUntilLive(appeared)
        try await keyboard.type("2\n2\n")
        try await terminal.wait(for: "If you mean “Yes”, type ")
        await keyboard.pass(.milliseconds(300))
        // A number other than the one that is asked for chooses nothing.
        try await keyboard.type("99\n")
        try await terminal.wait(for: "“99” is not one of them.")
        await keyboard.pass(.milliseconds(300))
        let before = terminal.text.utf8.count
        try await keyboard.type("3\n")
        try await terminal.wait("the digits") {
            String(terminal.text.utf8.dropFirst(before))?
                .contains(#/If you mean “Maybe”, type \d+: /#) == true
        }
        let digits = try #require(terminal.text.matches(of: #/type (\d+): /#).last?.output.1)
        await keyboard.pass(.milliseconds(300))
        try await keyboard.type(digits + "\n")
        await keyboard.pass(.milliseconds(300))
        #expect(try await choice == .button(2))
    }

    @Test("Holding Enter down does not close a notice", arguments: ["xterm", "dumb"])
    func heldEnter(term: String) async throws {
        let presenter = try presenter(term: term)
        let isClosed = Flag()
        let task = Task {
            defer { isClosed.set() }
            return try await presenter.present(.of(Alert("Done"), appeared: appeared))
        }
        try await keyboard.passUntilLive(appeared)
        try await keyboard.type(String(repeating: "\r", count: 20))
        await keyboard.pass(.milliseconds(300))
        #expect(!isClosed.isSet)
        try await keyboard.press("\r")
        #expect(try await task.value == .close)
    }
}

extension String {
    /// How many pieces there are between occurrences of a text.
    fileprivate func components(_ separator: String) -> Int {
        split(separator: separator, omittingEmptySubsequences: false).count
    }
}
