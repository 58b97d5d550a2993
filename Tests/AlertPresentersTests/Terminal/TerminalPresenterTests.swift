import AlertCore
import Glibc
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Terminal presenter", .timeLimit(.minutes(2)))
struct TerminalPresenterTests {
    static let question = Alert("Delete?", buttons: [.cancel("No"), "Yes", "Maybe"])
    static let deletion = Alert("Delete?", buttons: [.destructive("Delete"), .cancel("Keep")])

    let terminal: PseudoTerminal

    init() throws { terminal = try PseudoTerminal() }

    func presenter(term: String? = "xterm") throws -> TerminalPresenter {
        try TerminalPresenter(device: terminal.path, term: term, hasColours: true)
    }

    /// Shows an alert, does something once it takes keys, and returns the choice.
    func choice(
        _ alert: Alert, by presenter: TerminalPresenter? = nil,
        _ act: () async throws -> Void
    ) async throws -> PresenterChoice {
        let appeared = Flag()
        let presentation = Presentation.of(alert, appeared: appeared)
        let presenter = try presenter ?? self.presenter()
        async let choice = presenter.present(presentation)
        try await terminal.waitUntilLive(appeared)
        try await act()
        return try await choice
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
        let result = try await choice(Self.question) { try await terminal.type(slowly: keys) }
        #expect(result == expected)
    }

    @Test("An alert without buttons is closed by Enter")
    func closes() async throws {
        #expect(try await choice(Alert("Done")) { try terminal.type("\r") } == .close)
    }

    @Test(
        "Pasted text and truncated or unknown sequences choose nothing",
        arguments: [
            "\u{1B}[200~y\r\u{1B}[201~", "yes please\r", "\u{1B}[99~", "\u{1B}y", "\u{1B}[?1;2c",
            "\u{1B}[", "\u{1B}]0;y\r\u{07}",
        ])
    func choosesNothing(garbage: String) async throws {
        let result = try await choice(Self.question) {
            try terminal.type(garbage)
            // Longer than a sequence may take to complete.
            try await Task.sleep(for: .milliseconds(1200))
            try await terminal.type(slowly: "\u{1B}[B\u{1B}[B\r")
        }
        #expect(result == .button(2))
    }

    @Test("A key that comes in pieces is one key")
    func pieces() async throws {
        let result = try await choice(Self.question) {
            for piece in ["\u{1B}[", "1;5", "C"] {
                try terminal.type(piece)
                try await Task.sleep(for: .milliseconds(200))
            }
            try await terminal.type(slowly: "\r")
        }
        #expect(result == .button(1))
    }

    // MARK: - Safety

    @Test("Input typed before an alert appeared is discarded")
    func typedAhead() async throws {
        try terminal.type("y\ry\ny")
        let result = try await choice(Self.question) { try terminal.type("m") }
        #expect(result == .button(2))
    }

    @Test("An alert takes no key before 750 ms of silence, and says so")
    func silence() async throws {
        let appeared = Flag()
        async let choice = presenter().present(.of(Self.question, appeared: appeared))
        try await terminal.wait("the alert") { appeared.isSet }
        #expect(terminal.screen.lines.last == "stop typing to answer")
        var lastKey = ContinuousClock.now
        // The keys are about 200 ms apart, which is never a silence of 750 ms.
        for key in "yyyynmy\rym" {
            lastKey = .now
            try terminal.type(String(key))
            try await Task.sleep(for: .milliseconds(200))
        }
        try await terminal.waitUntilLive(appeared)
        #expect(ContinuousClock.now - lastKey >= .milliseconds(750))
        try terminal.type("m")
        #expect(try await choice == .button(2))
    }

    @Test("A key that is held down chooses nothing")
    func heldKey() async throws {
        let result = try await choice(Self.question) {
            try terminal.type(String(repeating: "y", count: 30))
            try await Task.sleep(for: .milliseconds(400))
            try await terminal.type(slowly: "m")
        }
        #expect(result == .button(2))
    }

    @Test("A key that begins a burst chooses nothing and selects nothing")
    func burstAfterKey() async throws {
        let result = try await choice(Self.question) {
            try terminal.type("y")
            try await Task.sleep(for: .milliseconds(5))
            try terminal.type("yes")
            try await Task.sleep(for: .milliseconds(400))
            // Still “No”, which was selected before.
            try await terminal.type(slowly: "\r")
        }
        #expect(result == .button(0))
    }

    @Test("An arrow key that is held down moves the selection, and the next key chooses")
    func heldArrow() async throws {
        let result = try await choice(Self.question) {
            try terminal.type("\u{1B}[C\u{1B}[C")
            try await Task.sleep(for: .milliseconds(300))
            try await terminal.type(slowly: "\r")
        }
        #expect(result == .button(2))
    }

    @Test(
        "In a window that is too small nothing can be chosen, and a note says so",
        arguments: ["xterm", "dumb"])
    func tooSmall(term: String) async throws {
        terminal.resize(columns: 20, rows: 3)
        let appeared = Flag()
        async let choice = presenter(term: term).present(.of(Self.question, appeared: appeared))
        try await terminal.wait(for: term == "dumb" ? "too small" : "Too small")
        try await Task.sleep(for: .milliseconds(1000))
        // The timer of a notice would run without anybody seeing it.
        #expect(!appeared.isSet || term == "dumb")
        try await terminal.type(slowly: "y1q\r")
        terminal.resize(columns: 80, rows: 24)
        try await terminal.type("3\r", after: appeared)
        #expect(try await choice == .button(2))
    }

    @Test(
        "No text of an alert can write escape sequences or controls to the terminal",
        arguments: hostileTexts)
    func hostile(text: String) async throws {
        let alert = Alert(
            text, message: text,
            buttons: [Alert.Button(text, id: "x"), .destructive(text, id: "y")])
        let presenter = try presenter()
        _ = try await choice(alert, by: presenter) {
            try await terminal.type(slowly: "\u{1B}[B\u{1B}")
        }
        let responder = Responder(uid: 0, user: text, via: text, tty: text, host: text, pid: 1)
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
            try terminal.type("y")
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
        let presenter = try presenter()
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
        let presenter = try presenter(term: term)
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
            try await terminal.wait(for: "word")
            let start = terminal.bytes.count
            terminal.resize(columns: columns, rows: rows)
            try await terminal.wait("the alert in its new size") {
                terminal.bytes.count > start && terminal.text.hasSuffix("\u{1B}[?7h")
            }
            let drawn = terminal.bytes[start...]
            let screen = ScreenModel(Array(drawn), columns: columns)
            #expect(screen.lines.count <= rows)
            #expect(screen.lines.allSatisfy { DisplayWidth.of($0) <= columns })
            try terminal.type("\r")
        }
    }

    @Test("An alert shown while output is stopped appears and takes keys once it resumes")
    func stopped() async throws {
        let appeared = Flag()
        let presenter = try presenter()
        #expect(tcflow(terminal.descriptor, TCOOFF) == 0)
        async let choice = presenter.present(.of(Self.question, appeared: appeared))
        try await terminal.wait("key mode") { !terminal.isCanonical }
        try terminal.type("y")
        try await Task.sleep(for: .milliseconds(100))
        #expect(!appeared.isSet)
        #expect(tcflow(terminal.descriptor, TCOON) == 0)
        try await terminal.type("m", after: appeared)
        #expect(try await choice == .button(2))
    }

    @Test("Restoring all terminals at once restores mode and cursor")
    func restoreAll() async throws {
        // In a process of its own: it would also restore the terminals of other tests.
        let path = terminal.path
        let before = terminal.settings
        await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
            let presenter = try TerminalPresenter(
                device: path, term: "xterm", hasColours: true)
            let appeared = Flag()
            let task = Task { try await presenter.present(.of(Alert("Hi"), appeared: appeared)) }
            while !appeared.isSet { try await Task.sleep(for: .milliseconds(1)) }
            TerminalPresenter.restore()
            withExtendedLifetime(task) { _exit(3) }
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
            let presenter = try TerminalPresenter(
                device: path, term: "xterm", hasColours: true)
            let appeared = Flag()
            let task = Task { try await presenter.present(.of(Alert("Hi"), appeared: appeared)) }
            while !appeared.isSet { try await Task.sleep(for: .milliseconds(1)) }
            withExtendedLifetime(task) {
                if crashes { fatalError("on purpose") }
                exit(1)
            }
        }
        #expect(terminal.text.contains("Hi"))
        #expect(terminal.settings == before)
        #expect(terminal.screen.isCursorVisible)
    }
}
