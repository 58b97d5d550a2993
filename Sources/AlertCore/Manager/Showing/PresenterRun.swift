import Synchronization

/// One presenter's run with an alert, from its first line until the alert is off its screen.
///
/// A presenter may submit its choice before it clears its screen; then it waits here until it
/// should clear, or until the choice could not be stored.
final class PresenterRun: Sendable {
    private enum Phase {
        case open
        /// A choice has been submitted; its callers wait.
        case chosen([CheckedContinuation<Void, Never>])
        case failed(AlertError)
        case leaving
    }

    /// The state of the presenter's task.
    private enum Progress {
        /// It waits for the end of a rest.
        case resting
        case running
        /// It did not end in time.
        case late
        case ended
    }

    private let phase = Mutex(Phase.open)
    private let progress = Mutex(Progress.running)
    private let task: Mutex<Task<Void, Never>?> = Mutex(nil)
    private let signals: ShowSignals
    let name: String

    init(of name: String, _ signals: ShowSignals) {
        self.name = name
        self.signals = signals
    }

    /// Lets the presenter show an alert; if its choice can't be stored, the presenter is notified
    /// and shows the alert again a second later.
    ///
    /// - Parameters:
    ///   - rest: How long to wait first.
    ///   - lateEnd: Called when the presenter is done, if that is late.
    func present(
        _ presentation: Presentation, on presenter: any AlertPresenter,
        after failure: AlertError?, rest: Duration, _ clock: any AlertClock,
        lateEnd: @escaping @Sendable () async -> Void
    ) {
        let presentation = presentation.handingOver(to: self)
        if rest > .zero { progress.withLock { $0 = .resting } }
        start(lateEnd) { [self] in
            var failure = failure
            repeat {
                do {
                    if isResting {
                        try await clock.sleep(for: rest)
                        endRest()
                    }
                    if let failure {
                        let end = clock.now().advanced(by: .seconds(1))
                        await presenter.didFail(presentation, error: failure)
                        try await clock.sleep(until: end)
                    }
                    let choice = try await presenter.present(presentation)
                    failure = takeFailure()
                    if !hasChosen, failure == nil {
                        signals.send(.chose(self, choice, isOnScreen: false))
                    } else if failure == nil {
                        signals.send(.ended(self, because: CancellationError()))
                    }
                } catch {
                    failure = takeFailure()
                    if failure == nil { signals.send(.ended(self, because: error)) }
                }
            } while failure != nil
        }
    }

    /// Notifies the presenter about the alert that it has shown.
    func tell(
        _ body: @escaping @Sendable () async -> Void,
        lateEnd: @escaping @Sendable () async -> Void
    ) {
        start(lateEnd) { [self] in
            await body()
            signals.send(.told(self))
        }
    }

    private func start(
        _ lateEnd: @escaping @Sendable () async -> Void,
        _ body: @escaping @Sendable () async -> Void
    ) {
        let started = Task.detached { [self] in
            await body()
            let isLate = progress.withLock { progress in
                defer { progress = .ended }
                return if case .late = progress { true } else { false }
            }
            if isLate { await lateEnd() }
        }
        task.withLock { $0 = started }
    }

    /// Whether the presenter is only waiting until it may try again.
    var isResting: Bool {
        progress.withLock { if case .resting = $0 { true } else { false } }
    }

    private func endRest() {
        progress.withLock { if case .resting = $0 { $0 = .running } }
    }

    /// Records that the presenter's time is over; `false` if it has ended, even if its signals have
    /// not been read yet.
    func noteLate() -> Bool {
        progress.withLock { progress in
            if case .ended = progress { return false }
            progress = .late
            return true
        }
    }

    /// Submits a choice, and returns when the alert should leave the screen.
    ///
    /// A cancelled task does not end this wait: its canceller also calls ``leave()``.
    func choose(_ choice: PresenterChoice) async {
        await withCheckedContinuation { continuation in
            let (isFirst, isOver) = phase.withLock { phase in
                switch phase {
                case .open:
                    phase = .chosen([continuation])
                    return (true, false)
                case .chosen(let others):
                    phase = .chosen(others + [continuation])
                    return (false, false)
                case .failed, .leaving:
                    return (false, true)
                }
            }
            if isFirst { signals.send(.chose(self, choice, isOnScreen: true)) }
            if isOver { continuation.resume() }
        }
    }

    /// Makes the presenter clear its screen.
    func leave() {
        end(.leaving)
        task.withLock { $0 }?.cancel()
    }

    /// Notifies the presenter that its choice could not be stored; `false` if it does not wait for
    /// that and must be started again.
    func fail(_ error: AlertError) -> Bool {
        guard hasChosen else { return false }
        end(.failed(error))
        return true
    }

    /// Whether a choice was submitted, so that the presenter's return value is ignored.
    private var hasChosen: Bool {
        phase.withLock { if case .open = $0 { false } else { true } }
    }

    /// Takes the error if the choice could not be stored; the run is open again then.
    private func takeFailure() -> AlertError? {
        phase.withLock { phase in
            guard case .failed(let error) = phase else { return nil }
            phase = .open
            return error
        }
    }

    private func end(_ end: Phase) {
        let waiting = phase.withLock { phase -> [CheckedContinuation<Void, Never>] in
            defer { phase = end }
            return if case .chosen(let waiting) = phase { waiting } else { [] }
        }
        for continuation in waiting { continuation.resume() }
    }
}
