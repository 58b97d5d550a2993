import AlertQueue
import Synchronization

/// A presenter without a screen, for tests of code that asks.
///
/// It answers as its script says, or, without one, when the test calls ``choose(_:)``.
///
/// ```swift
/// let presenter = ScriptedPresenter { alert in .button(alert.buttonIndex(id: "Yes")) }
/// let manager = try await AlertManager(path: path, presenters: [presenter])
/// ```
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

    private struct State {
        var shown: [AlertRecord] = []
        var resolutions: [Resolution] = []
        var errors: [AlertError] = []
        var current: (id: Alert.ID, reply: CheckedContinuation<PresenterChoice, any Error>)?
        var waiters: [CheckedContinuation<AlertRecord, Never>] = []
    }

    /// What alerts and records call it.
    public let name: String
    private let script: Script?
    private let state = Mutex(State())

    /// Creates a presenter; without a script it waits for ``choose(_:)``.
    public init(name: String = "scripted", script: Script? = nil) {
        self.name = name
        self.script = script
    }

    /// Every appearance, in order.
    public var shown: [AlertRecord] { state.withLock { $0.shown } }

    /// What became of what was shown, in order.
    public var resolutions: [Resolution] { state.withLock { $0.resolutions } }

    /// The errors that the manager told of, in order.
    public var errors: [AlertError] { state.withLock { $0.errors } }

    /// Whether an alert is on the pretended screen, waiting for ``choose(_:)``.
    public var isShowing: Bool { state.withLock { $0.current != nil } }

    /// Waits until an alert is on the pretended screen, and returns it.
    public func waitUntilShown() async -> AlertRecord {
        await withCheckedContinuation { continuation in
            let record = state.withLock { state -> AlertRecord? in
                if state.current != nil, let last = state.shown.last { return last }
                state.waiters.append(continuation)
                return nil
            }
            if let record { continuation.resume(returning: record) }
        }
    }

    /// Does what a person would do; returns whether there was an alert on the screen to do it with.
    @discardableResult
    public func choose(_ choice: PresenterChoice) -> Bool {
        end { $0.resume(returning: choice) }
    }

    /// Makes the presenter fail, as when its terminal hangs up; returns whether there was an alert
    /// on the screen.
    @discardableResult
    public func fail(_ error: any Error) -> Bool {
        end { $0.resume(throwing: error) }
    }

    /// Notes the alert, and does what the script says, or waits for ``choose(_:)``.
    ///
    /// - Throws: what the script throws, or what ``fail(_:)`` was given; `CancellationError` when
    ///   the alert is to leave the screen.
    public func present(_ presentation: Presentation) async throws -> PresenterChoice {
        await presentation.didAppear()
        guard let script else { return try await waitForChoice(presentation) }
        appear(presentation.record, reply: nil)
        return try await script(presentation.alert)
    }

    /// Notes how the alert ended, in ``resolutions``.
    public func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {
        let resolution = Resolution(
            alertID: presentation.record.id, response: response, choseHere: choseHere)
        state.withLock { $0.resolutions.append(resolution) }
    }

    /// Notes the error, in ``errors``.
    public func didFail(_ presentation: Presentation, error: AlertError) async {
        state.withLock { $0.errors.append(error) }
    }

    private func waitForChoice(_ presentation: Presentation) async throws -> PresenterChoice {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    appear(presentation.record, reply: continuation)
                    if Task.isCancelled { fail(CancellationError()) }
                }
            }
        } onCancel: {
            fail(CancellationError())
        }
    }

    private func appear(
        _ record: AlertRecord, reply: CheckedContinuation<PresenterChoice, any Error>?
    ) {
        let waiters = state.withLock { state in
            state.shown.append(record)
            if let reply { state.current = (record.id, reply) }
            defer { state.waiters.removeAll() }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: record) }
    }

    private func end(
        _ resume: (CheckedContinuation<PresenterChoice, any Error>) -> Void
    ) -> Bool {
        let current = state.withLock { state in
            defer { state.current = nil }
            return state.current
        }
        if let current { resume(current.reply) }
        return current != nil
    }
}
