import AlertCore
import FoundationEssentials
import Synchronization

/// A presenter without a screen, for tests of code that asks.
///
/// It answers as its script says, or, without one, when the test calls
/// ``choose(_:fileID:filePath:line:column:)``.
///
/// ```swift
/// let presenter = ScriptedPresenter { alert in .button(alert.buttonIndex(id: "Yes")) }
/// let manager = try await AlertManager(path: path, presenters: [presenter])
/// ```
///
/// A choice that no person could make fails the test: a button that the alert does not have, a
/// snooze of no length, or any choice while nothing is on the screen. Swift Testing records an
/// issue for it, at the line of the choice, or, for a script, at the line that created the
/// presenter. XCTest hears nothing of it: there, assert what `choose` returns.
public final class ScriptedPresenter: AlertPresenter {
    /// Decides what the pretended person does with an alert; when it throws, the presenter fails.
    public typealias Script = @Sendable (Alert) async throws -> PresenterChoice

    /// What became of an alert that was shown.
    public struct Resolution: Sendable {
        /// The alert that was shown.
        public let alertID: Alert.ID
        /// How it ended.
        public let response: Response
        /// Whether this presenter's choice became the response.
        public let choseHere: Bool
    }

    /// A snooze of an alert that was shown, here or elsewhere.
    public struct Snooze: Sendable, Hashable {
        /// The alert that was shown.
        public let alertID: Alert.ID
        /// When it comes again.
        public let end: Date

        /// Creates one, to be compared.
        public init(alertID: Alert.ID, end: Date) {
            self.alertID = alertID
            self.end = end
        }
    }

    /// An alert on the pretended screen.
    private struct Appearance {
        let id: UInt64
        let record: AlertRecord
        /// Takes what the test chooses; `nil` where a script does.
        let reply: CheckedContinuation<PresenterChoice, any Error>?
    }

    private struct State {
        var nextID: UInt64 = 0
        var shown: [AlertRecord] = []
        var resolutions: [Resolution] = []
        var snoozes: [Snooze] = []
        var errors: [AlertError] = []
        /// More than one only where several managers share this presenter.
        var screen: [Appearance] = []
        var waiters: [UInt64: CheckedContinuation<AlertRecord, any Error>] = [:]

        mutating func newID() -> UInt64 {
            nextID += 1
            return nextID
        }
    }

    /// What alerts and records call it.
    public let name: String
    private let script: Script?
    private let creation: CallSite
    private let state = Mutex(State())

    /// Creates a presenter; without a script it waits for the test to choose.
    ///
    /// The last four parameters say which line an impossible choice of the script is reported at:
    /// this one, unless given.
    public init(
        name: String = "scripted", fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column, script: Script? = nil
    ) {
        self.name = name
        self.script = script
        creation = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// Every appearance, in order.
    public var shown: [AlertRecord] { state.withLock { $0.shown } }

    /// What became of what was shown, in order.
    public var resolutions: [Resolution] { state.withLock { $0.resolutions } }

    /// The snoozes of what was shown, in order.
    public var snoozes: [Snooze] { state.withLock { $0.snoozes } }

    /// The errors that the manager told of, in order.
    public var errors: [AlertError] { state.withLock { $0.errors } }

    /// Whether an alert is on the pretended screen.
    public var isShowing: Bool { state.withLock { !$0.screen.isEmpty } }

    /// Waits until an alert is on the pretended screen, and returns it.
    ///
    /// The alert's timers have begun by then: a ``ManualClock`` that is moved now moves them. When
    /// the task is cancelled, the wait ends with an empty record, whose id is 0;
    /// ``waitUntilShown(within:)`` throws instead, and has a limit.
    public func waitUntilShown() async -> AlertRecord {
        // Only a cancelled task makes the wait throw.
        (try? await appearance()) ?? .empty
    }

    /// Waits until an alert is on the pretended screen, but not longer than a time by the machine's
    /// clock, and returns it.
    ///
    /// - Throws: ``NotShown`` when the time is up, `CancellationError` when the task is cancelled.
    public func waitUntilShown(within limit: Duration) async throws -> AlertRecord {
        try await withThrowingTaskGroup(of: AlertRecord.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.appearance() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw NotShown(presenter: self.name, limit: limit)
            }
            for try await record in group { return record }
            throw CancellationError()
        }
    }

    /// Does what a person would do; returns whether a person could have done that.
    ///
    /// Where nothing is on the screen, or the alert there allows no such choice, the test fails, at
    /// the line of the call unless the last four parameters name another, and the screen stays as
    /// it is.
    @discardableResult
    public func choose(
        _ choice: PresenterChoice, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) -> Bool {
        let call = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        guard let isDone = choose(choice, call) else {
            call.fail("Nothing is on the screen of “\(name)” that \(choice) could be chosen for")
            return false
        }
        return isDone
    }

    /// Does what a person would do, unless the alert has left the screen already; returns whether
    /// that was done.
    ///
    /// It is meant for tests in which somebody else may be faster. A choice that the alert does not
    /// allow fails the test.
    @discardableResult
    public func chooseIfShown(
        _ choice: PresenterChoice, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) -> Bool {
        let call = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return choose(choice, call) ?? false
    }

    /// Makes the presenter fail, as when its terminal hangs up; returns whether there was an alert
    /// on the screen.
    @discardableResult
    public func fail(_ error: any Error) -> Bool {
        guard let shown = state.withLock({ $0.screen.popLast { $0.reply != nil } }) else {
            return false
        }
        shown.reply?.resume(throwing: error)
        return true
    }

    /// Notes the alert, and does what the script says, or waits for the test to choose.
    ///
    /// - Throws: what the script throws, or what ``fail(_:)`` was given; ``ImpossibleChoice`` where
    ///   the script chose what nobody can; `CancellationError` when the alert is to leave the
    ///   screen.
    public func present(_ presentation: Presentation) async throws -> PresenterChoice {
        await presentation.didAppear()
        let id = state.withLock { $0.newID() }
        guard let script else { return try await waitForChoice(presentation, id) }
        appear(Appearance(id: id, record: presentation.record, reply: nil))
        defer { state.withLock { _ = $0.screen.popLast { $0.id == id } } }
        let choice = try await script(presentation.alert)
        if let impossible = ImpossibleChoice(choice, on: presentation.alert) {
            creation.fail(impossible.description)
            throw impossible
        }
        return choice
    }

    /// Notes how the alert ended, in ``resolutions``.
    public func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {
        let resolution = Resolution(
            alertID: presentation.record.id, response: response, choseHere: choseHere)
        state.withLock { $0.resolutions.append(resolution) }
    }

    /// Notes the snooze, in ``snoozes``.
    public func didSnooze(_ presentation: Presentation, until date: Date) async {
        state.withLock {
            $0.snoozes.append(Snooze(alertID: presentation.record.id, end: date))
        }
    }

    /// Notes the error, in ``errors``.
    public func didFail(_ presentation: Presentation, error: AlertError) async {
        state.withLock { $0.errors.append(error) }
    }
}

// MARK: - Appearances

extension ScriptedPresenter {
    /// Waits for an alert on the screen; throws when the task is cancelled.
    private func appearance() async throws -> AlertRecord {
        let id = state.withLock { $0.newID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<AlertRecord, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let shown = state.screen.last { return .success(shown.record) }
                    state.waiters[id] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            // A cancel before the wait begins finds nobody; the task sees it then.
            state.withLock { $0.waiters.removeValue(forKey: id) }?
                .resume(throwing: CancellationError())
        }
    }

    private func waitForChoice(
        _ presentation: Presentation, _ id: UInt64
    ) async throws -> PresenterChoice {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    appear(
                        Appearance(id: id, record: presentation.record, reply: continuation))
                    if Task.isCancelled { leave(id) }
                }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func appear(_ appearance: Appearance) {
        let waiters = state.withLock { state in
            state.shown.append(appearance.record)
            state.screen.append(appearance)
            defer { state.waiters.removeAll() }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: appearance.record) }
    }

    private func leave(_ id: UInt64) {
        state.withLock { $0.screen.popLast { $0.id == id } }?
            .reply?.resume(throwing: CancellationError())
    }

    /// Whether the choice was made, or `nil` where there is nothing on the screen to choose for.
    private func choose(_ choice: PresenterChoice, _ call: CallSite) -> Bool? {
        let (shown, impossible) = state.withLock { state -> (Appearance?, ImpossibleChoice?) in
            guard let shown = state.screen.last(where: { $0.reply != nil }) else {
                return (nil, nil)
            }
            if let impossible = ImpossibleChoice(choice, on: shown.record.alert) {
                return (shown, impossible)
            }
            return (state.screen.popLast { $0.id == shown.id }, nil)
        }
        if let impossible {
            call.fail(impossible.description)
            return false
        }
        guard let shown else { return nil }
        shown.reply?.resume(returning: choice)
        return true
    }
}

extension Array {
    /// Removes and returns the last element that meets a condition.
    fileprivate mutating func popLast(where meets: (Element) -> Bool) -> Element? {
        lastIndex(where: meets).map { remove(at: $0) }
    }
}

extension AlertRecord {
    /// What a wait returns that found no alert; no stored alert has its id.
    fileprivate static let empty = AlertRecord(
        id: 0, alert: Alert(""), source: Source(name: "", uid: 0, pid: 0, host: ""),
        state: .queued, askedAt: .distantPast, presentedAt: nil, expiresAt: nil,
        snoozedUntil: nil, snoozes: 0, response: nil)
}
