import Synchronization

/// One presenter's task with an alert: showing it, or being told how it ended.
///
/// A presenter may submit its choice before it clears its screen; then it waits here until it
/// should clear, or until the choice could not be stored.
final class PresenterRun: Sendable {
    private enum State {
        case running
        /// A choice has been submitted; its callers wait.
        case chosen([CheckedContinuation<Void, Never>])
        case released
    }

    private let number: Int
    private let state = Mutex(State.running)
    private let task: Mutex<Task<Void, Never>?> = Mutex(nil)
    private let send: @Sendable (Screen.Event) -> Void

    init(_ number: Int, _ send: @escaping @Sendable (Screen.Event) -> Void) {
        self.number = number
        self.send = send
    }

    /// Starts the task, whose end is sent.
    func start(_ body: @escaping @Sendable (PresenterRun) async -> Screen.RunEnd) {
        let started = Task.detached { [self] in send(.ended(run: number, await body(self))) }
        task.withLock { $0 = started }
    }

    /// Submits a choice, and returns when the presenter should go on.
    ///
    /// A cancelled task does not end this wait: its canceller also calls ``end()``.
    func choose(_ choice: PresenterChoice) async {
        await withCheckedContinuation { continuation in
            let (isFirst, isOver) = state.withLock { state in
                switch state {
                case .running:
                    state = .chosen([continuation])
                    return (true, false)
                case .chosen(let others):
                    state = .chosen(others + [continuation])
                    return (false, false)
                case .released:
                    return (false, true)
                }
            }
            if isFirst { send(.chose(run: number, choice)) }
            if isOver { continuation.resume() }
        }
    }

    /// Lets a presenter that has made a choice go on.
    func release() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            defer { state = .released }
            return if case .chosen(let waiting) = state { waiting } else { [] }
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Makes the presenter clear its screen.
    func end() {
        release()
        task.withLock { $0 }?.cancel()
    }
}

extension AlertPresenter {
    /// Shows an alert; a presenter whose last choice could not be stored is told so first, and
    /// shows the alert again a second later.
    func run(
        _ presentation: Presentation, after failure: AlertError?, _ clock: any AlertClock
    ) async -> Screen.RunEnd {
        do {
            if let failure {
                let end = clock.now().advanced(by: .seconds(1))
                await didFail(presentation, error: failure)
                try await clock.sleep(until: end)
            }
            return .returned(try await present(presentation))
        } catch {
            return .failed(error)
        }
    }
}
