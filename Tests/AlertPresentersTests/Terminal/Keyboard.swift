import AlertCore
import Synchronization
import TestSupport
import Testing

@testable import AlertPresenters

/// The keyboard of a terminal at which time passes only as a test says.
///
/// Each of its methods returns when the alert on the screen has dealt with all that came before.
final class Keyboard: Sendable {
    let terminal: PseudoTerminal
    let clock = ManualTerminalClock()
    private let presenters = Mutex<[TerminalPresenter]>([])

    init(_ terminal: PseudoTerminal) { self.terminal = terminal }

    /// A presenter on the terminal, by this time.
    func presenter(term: String? = "xterm", hasColours: Bool = true) throws -> TerminalPresenter {
        let presenter = try TerminalPresenter(
            device: terminal.path, term: term, hasColours: hasColours, clock: clock)
        presenters.withLock { $0.append(presenter) }
        return presenter
    }

    /// Shows an alert, does something once it takes keys, and returns the choice.
    func choice(
        of alert: Alert, by presenter: TerminalPresenter?, _ act: () async throws -> Void
    ) async throws -> PresenterChoice {
        let appeared = Flag()
        let presenter = try presenter ?? self.presenter()
        async let choice = presenter.present(.of(alert, appeared: appeared))
        try await passUntilLive(appeared)
        try await act()
        return try await choice
    }

    /// Types keys all at once, to an alert that reads them unless it has been answered.
    func type(
        _ keys: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let count = progress.bytesRead + keys.utf8.count
        try terminal.type(keys)
        try await terminal.wait("keys to be read", location) {
            progress.bytesRead >= count || !clock.isTicking
        }
        await settle()
    }

    /// Types keys one after the other, with more time after each than a paste has, or a key that is
    /// held down.
    func press(
        _ keys: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for key in keys.matches(of: /\u{1B}(\[[0-9;]*[A-Z~]|O.)?|[^\u{1B}]/) {
            try await type(String(key.output.0), location)
            await pass(KeyGate.repeatGap + .milliseconds(20))
        }
    }

    /// Lets time pass, in steps that each bring one tick at most.
    func pass(_ duration: Duration) async {
        var left = duration
        // A test whose time is up must not wait for an alert that takes nothing any longer.
        while left > .zero, !Task.isCancelled {
            clock.advance(by: min(left, .milliseconds(100)))
            left -= .milliseconds(100)
            await settle()
        }
    }

    /// Lets time pass until an alert takes keys: its last line then tells which.
    func passUntilLive(
        _ appeared: Flag, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await pass(until: "the alert", location) { appeared.isSet }
        try await pass(until: "the alert to take keys", location) {
            let lines = terminal.screen.lines
            let hint = lines.last ?? ""
            return !hint.isEmpty && !hint.hasPrefix("stop") && lines.first != "Too small: make it"
        }
    }

    /// Lets time pass, no faster than the screen follows, until something holds.
    func pass(
        until what: String, _ location: SourceLocation = #_sourceLocation, isTrue: () -> Bool
    ) async throws {
        let holds = try await eventually {
            try Task.checkCancellation()
            if isTrue() { return true }
            await pass(.milliseconds(100))
            return false
        }
        if !holds { try await terminal.wait(what, location, until: isTrue) }
    }

    /// Waits until the alert has dealt with all that has come, and with what came of that.
    private func settle() async {
        // An alert takes what comes in its order: when it takes up a tick, all before is done. The
        // first tick may have come before the last key, and a timer may be set for that.
        for _ in 0..<3 {
            let before = progress.ticksDone
            _ = await eventually(each: .microseconds(200)) {
                // Each time: an alert may end, and another one appear, that had no tick yet.
                let isTicking = clock.repeatNow()
                return progress.ticksDone > before || !isTicking || Task.isCancelled
            }
        }
    }

    private var progress: (bytesRead: Int, ticksDone: Int) {
        presenters.withLock { presenters in
            presenters.reduce(into: (0, 0)) { sum, presenter in
                let progress = presenter.terminal.progress.withLock { $0 }
                sum.0 += progress.bytesRead
                sum.1 += progress.ticksDone
            }
        }
    }
}
