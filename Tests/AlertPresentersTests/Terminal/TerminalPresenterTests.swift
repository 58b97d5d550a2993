import AlertCore
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Terminal presenter", .inParallel, .within(.seconds(120)))
struct TerminalPresenterTests {
    static let question = Alert("Delete?", buttons: [.cancel("No"), "Yes", "Maybe"])
    static let deletion = Alert("Delete?", buttons: [.destructive("Delete"), .cancel("Keep")])

    let terminal: PseudoTerminal
    let keyboard: Keyboard

    init() throws {
        terminal = try PseudoTerminal()
        keyboard = Keyboard(terminal)
    }

    /// Shows an alert, does something once it takes keys, and returns the choice.
    func choice(
        _ alert: Alert, by presenter: TerminalPresenter? = nil,
        _ act: () async throws -> Void
    ) async throws -> PresenterChoice {
        try await keyboard.choice(of: alert, by: presenter, act)
    }

    // MARK: - Choosing

    @Test(
        "Each key makes the documented choice",
        arguments: [
            ("\r", .button(0)), ("y", .button(1)), ("\u{1B}[C\r", .button(1)),
            ("\u{1B}OD\r", .button(2)), ("3", .button(2)), ("q", .later(nil)),
            ("\u{1B}", .later(nil)), ("l1", .later(.seconds(3600))),
        ] as [(String, PresenterChoice)])
    func chooses(keys: String, expected: PresenterChoice) async throws {
        let result = try await choice(Self.question) { try await keyboard.press(keys) }
        #expect(result == expected)
    }

    @Test("An alert without buttons is closed by Enter")
    func closes() async throws {
        #expect(try await choice(Alert("Done")) { try await keyboard.press("\r") } == .close)
    }

    @Test(
        "Pasted text and truncated or unknown sequences choose nothing",
        arguments: [
            "\u{1B}[200~y\r\u{1B}[201~", "yes please\r", "\u{1B}[99~", "\u{1B}y", "\u{1B}[?1;2c",
            "\u{1B}[", "\u{1B}]0;y\r\u{07}",
        ])
    func choosesNothing(garbage: String) async throws {
        let result = try await choice(Self.question) {
            try await keyboard.type(garbage)
            // Longer than a sequence may take to complete.
            await keyboard.pass(.milliseconds(1200))
            try await keyboard.press("\u{1B}[B\u{1B}[B\r")
        }
        #expect(result == .button(2))
    }

    @Test("A key that comes in pieces is one key")
    func pieces() async throws {
        let result = try await choice(Self.question) {
            for piece in ["\u{1B}[", "1;5", "C"] {
                try await keyboard.type(piece)
                await keyboard.pass(.milliseconds(200))
            }
            try await keyboard.press("\r")
        }
        #expect(result == .button(1))
    }

    // MARK: - Safety

    @Test("Input typed before an alert appeared is discarded")
    func typedAhead() async throws {
        try terminal.type("y\ry\ny")
        let result = try await choice(Self.question) { try await keyboard.press("m") }
        #expect(result == .button(2))
    }

    @Test("An alert takes no key before 750 ms of silence, and says so")
    func silence() async throws {
        let appeared = Flag()
        async let choice = keyboard.presenter().present(.of(Self.question, appeared: appeared))
        try await terminal.wait("the alert") { appeared.isSet }
        #expect(terminal.screen.lines.last == "stop typing to answer")
        for key in "yyyynmy\rym" {
            try await keyboard.type(String(key))
            await keyboard.pass(.milliseconds(200))
        }
        // 740 ms after the last of them.
        await keyboard.pass(.milliseconds(540))
        try await keyboard.type("y")
        let lastKey = keyboard.clock.now
        try await keyboard.passUntilLive(appeared)
        #expect(keyboard.clock.now - lastKey >= .milliseconds(750))
        try await keyboard.press("m")
        #expect(try await choice == .button(2))
    }

    @Test("A key that is held down chooses nothing")
    func heldKey() async throws {
        let result = try await choice(Self.question) {
            try await keyboard.type(String(repeating: "y", count: 30))
            await keyboard.pass(.milliseconds(400))
            try await keyboard.press("m")
        }
        #expect(result == .button(2))
    }

    @Test("A key that begins a burst chooses nothing and selects nothing")
    func burstAfterKey() async throws {
        let result = try await choice(Self.question) {
            try await keyboard.type("y")
            await keyboard.pass(.milliseconds(5))
            try await keyboard.type("yes")
            await keyboard.pass(.milliseconds(400))
            // Still “No”, which was selected before.
            try await keyboard.press("\r")
        }
        #expect(result == .button(0))
    }

    @Test("An arrow key that is held down moves the selection, and the next key chooses")
    func heldArrow() async throws {
        let result = try await choice(Self.question) {
            try await keyboard.type("\u{1B}[C\u{1B}[C")
            await keyboard.pass(.milliseconds(300))
            try await keyboard.press("\r")
        }
        #expect(result == .button(2))
    }

    @Test(
        "In a window that is too small nothing can be chosen, and a note says so",
        arguments: ["xterm", "dumb"])
    func tooSmall(term: String) async throws {
        terminal.resize(columns: 20, rows: 3)
        let appeared = Flag()
        async let choice = keyboard.presenter(term: term)
            .present(.of(Self.question, appeared: appeared))
        try await keyboard.pass(until: "the words") { terminal.text.contains(/(?i)too small/) }
        await keyboard.pass(.milliseconds(1000))
        // A notice would run out without having been seen.
        #expect(!appeared.isSet || term == "dumb")
        try await keyboard.press("y1q\r")
        terminal.resize(columns: 80, rows: 24)
        try await keyboard.passUntilLive(appeared)
        // A prompt has written only what fitted.
        try await keyboard.press(term == "dumb" ? "\r3\r" : "3\r")
        #expect(try await choice == .button(2))
    }

    @Test(
        "No text of an alert can write escape sequences or controls to the terminal",
        arguments: hostileTexts)
    func hostile(text: String) async throws {
        let alert = Alert(
            text, message: text,
            buttons: [Alert.Button(text, id: "x"), .destructive(text, id: "y")])
        let presenter = try keyboard.presenter()
        _ = try await choice(alert, by: presenter) {
            try await keyboard.press("\u{1B}[B\u{1B}")
        }
        let responder = Caller(
            Account(uid: 0, name: text), via: text, tty: text,
            process: ProcessIdentity(host: text, pid: 1))
        for choseHere in [false, true] {
            await presenter.didResolve(
                .of(alert), response: response(.answered, alert.buttons[0], responder: responder),
                choseHere: choseHere)
        }
        await presenter.didFail(.of(alert), error: .notPermitted(path: text, text))
        #expect(terminal.screen.additions == [])
        let hidden = terminal.text.unicodeScalars.filter {
            [.format, .control].contains($0.properties.generalCategory)
                && !"\r\n\u{1B}".unicodeScalars.contains($0)
        }
        #expect(hidden.isEmpty)
    }

    // MARK: - The terminal

    @Test("The terminal's mode and cursor are restored after an alert")
    func restored() async throws {
        let before = terminal.settings
        _ = try await choice(Self.question) {
            #expect(!terminal.isCanonical)
            #expect(!terminal.screen.isCursorVisible && terminal.screen.marksPastes)
            try await keyboard.press("y")
        }
        #expect(terminal.settings == before)
        let screen = terminal.screen
        #expect(screen.isCursorVisible && !screen.marksPastes && screen.wraps)
        #expect(screen.lines == [""])
    }

    @Test("A cancelled alert leaves the screen, and the terminal is restored")
    func cancelled() async throws {
        let before = terminal.settings
        let appeared = Flag()
        let presenter = try keyboard.presenter()
        let task = Task {
            try await presenter.present(.of(Self.question, appeared: appeared))
        }
        try await terminal.wait("the alert") { appeared.isSet }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(terminal.settings == before)
        #expect(terminal.screen.lines == [""] && terminal.screen.isCursorVisible)
    }

    @Test("Closing the window makes the presenter throw", arguments: ["xterm", "dumb"])
    func hangUp(term: String) async throws {
        let presenter = try keyboard.presenter(term: term)
        let error = await #expect(throws: TerminalError.self) {
            try await choice(Self.question, by: presenter) { terminal.hangUp() }
        }
        // Without a controlling terminal, a hangup reads as the end of input.
        let ends: [TerminalError] = [
            .hungUp(device: terminal.path), .endOfInput(device: terminal.path),
        ]
        #expect(error.map(ends.contains) == true)
        await #expect(throws: TerminalError.self) {
            try await presenter.present(.of(Self.question))
        }
    }

    @Test("A device that is missing or not a terminal is refused with its name")
    func refused() {
        #expect(throws: TerminalError.notATerminal(device: "/dev/null")) {
            try TerminalPresenter(device: "/dev/null")
        }
        let error = #expect(throws: TerminalError.self) {
            try TerminalPresenter(device: "/dev/nothing")
        }
        #expect(error?.description.contains("/dev/nothing") == true)
    }

    @Test("A new window size takes effect at once", arguments: [(20, 10), (40, 24), (200, 50)])
    func resized(columns: Int, rows: Int) async throws {
        let alert = Alert(
            "Prune?", message: String(repeating: "word ", count: 60),
            buttons: ["Prune old snapshots", .cancel("Keep them all")])
        _ = try await choice(alert) {
            let start = terminal.bytes.count
            terminal.resize(columns: columns, rows: rows)
            try await keyboard.pass(until: "the alert in its new size") {
                terminal.bytes.count > start && terminal.text.hasSuffix("\u{1B}[?7h")
            }
            let drawn = terminal.bytes[start...]
            let screen = ScreenModel(Array(drawn), columns: columns)
            #expect(screen.lines.count <= rows)
            #expect(screen.lines.allSatisfy { DisplayWidth.of($0) <= columns })
            try await keyboard.press("\r")
        }
    }

    @Test(
        "Nothing above an alert changes when its window gets narrower or wider",
        arguments: ScreenModel.Habit.allCases, ["", "a", "a line without an end"])
    func nothingAbove(habit: ScreenModel.Habit, cursorLine: String) async throws {
        let alert = Alert(
            "Prune the old snapshots of the file server in the cellar?",
            message: String(repeating: "word ", count: 40), buttons: ["Prune", .cancel("Keep")])
        let before = ["one " + String(repeating: "wide ", count: 14) + "line", "two", cursorLine]
        let shown = Mutex(ScreenModel(columns: 80, habit: habit))
        shown.withLock { $0.write(Array(before.joined(separator: "\r\n").utf8)) }
        let widths = [30, 80, 45, 33, 80, 100, 44, 80]
        _ = try await choice(alert) {
            var start = 0
            for columns in widths {
                shown.withLock {
                    $0.write(Array(terminal.bytes[start...]))
                    $0.resize(columns: columns)
                }
                start = terminal.bytes.count
                terminal.resize(columns: columns)
                try await keyboard.pass(until: "the alert in its new size") {
                    terminal.bytes.count > start && terminal.text.hasSuffix("\u{1B}[?7h")
                }
            }
            shown.withLock { $0.write(Array(terminal.bytes[start...])) }
            try await keyboard.press("\r")
        }
        let lines = shown.withLock(\.lines)
        let first = try #require(lines.firstIndex { $0.hasPrefix("Prune the old snapshots") })
        #expect(lines.last?.hasPrefix("Enter chooses") == true, "\(lines)")
        #expect(lines.count { $0.hasPrefix("Prune the old snapshots") } == 1, "\(lines)")
        // A line that the terminal has cut off stays so, without the program's doing.
        let kept = before.map { habit == .cuts ? String($0.prefix(30)) : $0 }
        let above = lines[..<first].filter { !$0.isEmpty }
        #expect(above == kept.filter { !$0.isEmpty }, "\(lines)")
    }

    @Test("An alert shown while output is stopped appears and takes keys once it resumes")
    func stopped() async throws {
        let appeared = Flag()
        let presenter = try keyboard.presenter()
        #expect(tcflow(terminal.descriptor, TCOOFF) == 0)
        async let choice = presenter.present(.of(Self.question, appeared: appeared))
        try await terminal.wait("key mode") { !terminal.isCanonical }
        try terminal.type("y")
        await keyboard.pass(.milliseconds(1000))
        #expect(!appeared.isSet)
        #expect(tcflow(terminal.descriptor, TCOON) == 0)
        try await keyboard.passUntilLive(appeared)
        try await keyboard.press("m")
        #expect(try await choice == .button(2))
    }

    @Test("Restoring all terminals at once restores mode and cursor")
    func restoreAll() async throws {
        // In a process of its own: it would also restore the terminals of other tests.
        let path = terminal.path
        let before = terminal.settings
        await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
            let shown = try await ShownAlert(on: path)
            TerminalPresenter.restore()
            withExtendedLifetime(shown) { _exit(3) }
        }
        #expect(terminal.settings == before)
        #expect(terminal.screen.isCursorVisible && !terminal.screen.marksPastes)
    }

    @Test("A process that crashes or exits restores its terminal", arguments: [true, false])
    func crash(crashes: Bool) async throws {
        let path = terminal.path
        let before = terminal.settings
        await #expect(processExitsWith: .failure) {
            [path = path as String, crashes = crashes as Bool] in
            let shown = try await ShownAlert(on: path)
            withExtendedLifetime(shown) {
                if crashes { fatalError("on purpose") }
                exit(1)
            }
        }
        #expect(terminal.text.contains("Hi") && !terminal.screen.lines.contains("Hi"))
        #expect(terminal.settings == before)
        #expect(terminal.screen.isCursorVisible)
    }
}
