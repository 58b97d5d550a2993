import AlertCore
import FoundationEssentials
import Synchronization

/// A presenter without a real screen, for tests of code that asks questions.
///
/// It answers as its script says or, without one, when the test calls
/// ``choose(_:fileID:filePath:line:column:)``.
///
/// ```swift
/// let presenter = ScriptedPresenter { alert in .button(alert.buttonIndex(id: "Yes")) }
/// let manager = try await AlertManager(path: path, presenters: [presenter])
/// ```
///
/// A choice that no person could make fails the test: a button that the alert does not have, a
/// value that does not fit its field, a snooze of no length, or any choice while nothing is on the
/// screen. Swift Testing records an issue at the line of the choice or, for a script, at the line
/// that created the presenter. The alert, whose answer can't come any more, is withdrawn, so that
/// no call waits for it. XCTest records nothing: assert what `choose` returns instead.
public final class ScriptedPresenter: AlertPresenter {
    /// A closure that chooses for the simulated person; if it throws, the presenter fails.
    public typealias Script = @Sendable (Alert) async throws -> PresenterChoice

    /// The end of an alert that was shown.
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
        /// When the alert comes again.
        public let end: Date

        /// Creates a snooze, for comparison.
        public init(alertID: Alert.ID, end: Date) {
            self.alertID = alertID
            self.end = end
        }
    }

    /// An alert on the simulated screen.
    private struct Appearance {
        let id: UInt64
        let record: AlertRecord
        /// Takes the test's choice; `nil` if a script chooses.
        let reply: CheckedContinuation<PresenterChoice, any Error>?
    }

    private struct State {
        var nextID: UInt64 = 0
        var shown: [AlertRecord] = []
        var resolutions: [Resolution] = []
        var snoozes: [Snooze] = []
        var errors: [AlertError] = []
        /// Has more than one element only if several managers share this presenter.
        var screen: [Appearance] = []
        var waiters: [UInt64: CheckedContinuation<AlertRecord, any Error>] = [:]

        mutating func newID() -> UInt64 {
            nextID += 1
            return nextID
        }
    }

    /// The presenter's name in alerts and records.
    public let name: String
    private let script: Script?
    private let creation: CallSite
    private let state = Mutex(State())

    /// Creates a presenter; without a script, it waits for the test to choose.
    ///
    /// `fileID`, `filePath`, `line` and `column` set where an impossible choice of the script is
    /// reported; by default, at the call of this initializer.
    public init(
        name: String = "scripted", fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column, script: Script? = nil
    ) {
        self.name = name
        self.script = script
        creation = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
    }

    /// The alerts that have appeared, in order.
    public var shown: [AlertRecord] { state.withLock { $0.shown } }

    /// How the alerts that were shown ended, in order.
    public var resolutions: [Resolution] { state.withLock { $0.resolutions } }

    /// The snoozes of the alerts that were shown, in order.
    public var snoozes: [Snooze] { state.withLock { $0.snoozes } }

    /// The errors that the manager reported, in order.
    public var errors: [AlertError] { state.withLock { $0.errors } }

    /// Whether an alert is on the simulated screen.
    public var isShowing: Bool { state.withLock { !$0.screen.isEmpty } }

    /// Waits until an alert is on the simulated screen, and returns it.
    ///
    /// The alert's timers are running by then, so that a test can move its ``ManualClock``. If the
    /// task is cancelled, an empty record is returned, whose id is 0; ``waitUntilShown(within:)``
    /// throws instead, and has a limit.
    public func waitUntilShown() async -> AlertRecord {
        // Only a cancelled task makes the wait throw.
        (try? await appearance()) ?? .empty
    }

    /// Waits until an alert is on the simulated screen, for a limited time by the machine's clock,
    /// and returns it.
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

    /// Makes a choice for the simulated person; returns whether a person could have made it.
    ///
    /// If nothing is on the screen, or the alert there does not allow the choice, the test fails: at
    /// the line of the call, unless the last four parameters name another. The alert is withdrawn
    /// then.
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

    /// Makes a choice unless the alert has already left the screen; returns whether it was made.
    ///
    /// It is meant for tests in which another presenter or process may be faster. A choice that the
    /// alert does not allow fails the test.
    @discardableResult
    public func chooseIfShown(
        _ choice: PresenterChoice, fileID: String = #fileID, filePath: String = #filePath,
        line: Int = #line, column: Int = #column
    ) -> Bool {
        let call = CallSite(fileID: fileID, filePath: filePath, line: line, column: column)
        return choose(choice, call) ?? false
    }

    /// Makes the presenter fail, as when a terminal hangs up; returns whether it showed an alert.
    @discardableResult
    public func fail(_ error: any Error) -> Bool {
        guard let shown = state.withLock({ $0.screen.popLast { $0.reply != nil } }) else {
            return false
        }
        shown.reply?.resume(throwing: error)
        return true
    }

    /// Records the alert, then runs the script or waits for the test to choose.
    ///
    /// - Throws: What the script throws, or the error passed to ``fail(_:)``; ``ImpossibleChoice``
    ///   if no person could make the choice, after the alert was withdrawn; `CancellationError` when
    ///   the alert has to leave the screen.
    public func present(_ presentation: Presentation) async throws -> PresenterChoice {
        await presentation.didAppear()
        do {
            return try await choice(for: presentation)
        } catch let impossible as ImpossibleChoice {
            await presentation.withdraw(because: impossible.description)
            throw impossible
        }
    }

    private func choice(for presentation: Presentation) async throws -> PresenterChoice {
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

    /// Records how the alert ended, in ``resolutions``.
    public func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {
        let resolution = Resolution(
            alertID: presentation.record.id, response: response, choseHere: choseHere)
        state.withLock { $0.resolutions.append(resolution) }
    }

    /// Records the snooze, in ``snoozes``.
    public func didSnooze(_ presentation: Presentation, until date: Date) async {
        state.withLock {
            $0.snoozes.append(Snooze(alertID: presentation.record.id, end: date))
        }
    }

    /// Records the error, in ``errors``.
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
            // A cancel before the wait begins finds no waiter; the task itself sees it then.
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

    /// Makes a choice; returns whether a person could make it, or `nil` if no alert is shown.
    private func choose(_ choice: PresenterChoice, _ call: CallSite) -> Bool? {
        let (shown, impossible) = state.withLock { state -> (Appearance?, ImpossibleChoice?) in
            guard let shown = state.screen.last(where: { $0.reply != nil }) else {
                return (nil, nil)
            }
            let impossible = ImpossibleChoice(choice, on: shown.record.alert)
            return (state.screen.popLast { $0.id == shown.id }, impossible)
        }
        if let impossible {
            call.fail(impossible.description)
            shown?.reply?.resume(throwing: impossible)
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
    /// The result of a cancelled wait; no stored alert has its id.
    fileprivate static let empty = AlertRecord(
        id: 0, alert: Alert(""),
        source: Source(
            name: "", .account(Account(uid: 0)), .process(ProcessIdentity(host: "", pid: 0))),
        state: .queued, askedAt: .distantPast, presentedAt: nil, expiresAt: nil,
        snoozedUntil: nil, snoozes: 0, response: nil)
}
