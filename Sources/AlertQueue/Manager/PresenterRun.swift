import Synchronization

/// One presenter's show of an alert, from its first line until the alert is off its screen.
///
/// A presenter may hand over its choice before it clears its screen; then it waits here until it
/// is told to clear, or that the choice could not be stored.
final class PresenterRun: Sendable {
    private enum Phase {
        case open
        /// A choice has been handed over; those who did so wait.
        case chosen([CheckedContinuation<Void, Never>])
        case failed(AlertError)
        case leaving
    }

    private let phase = Mutex(Phase.open)
    private let signals: AsyncStream<ShowingSignal>.Continuation
    private let name: String

    init(of name: String, _ signals: AsyncStream<ShowingSignal>.Continuation) {
        self.name = name
        self.signals = signals
    }

    /// Whether a choice was handed over, so that what the presenter returns says nothing new.
    var hasChosen: Bool {
        phase.withLock { if case .open = $0 { false } else { true } }
    }

    /// Why the choice could not be stored, if it could not; the run is open again then.
    func takeFailure() -> AlertError? {
        phase.withLock { phase in
            guard case .failed(let error) = phase else { return nil }
            phase = .open
            return error
        }
    }

    /// Hands a choice over, and returns when the alert is to leave the screen.
    ///
    /// A cancelled task does not end this: whoever cancels it calls ``leave()``, too.
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
            if isFirst { signals.yield(.chose(presenter: name, choice, isOnScreen: true)) }
            if isOver { continuation.resume() }
        }
    }

    /// Tells the presenter to clear its screen.
    func leave() { end(.leaving) }

    /// Tells the presenter that its choice could not be stored; `false` if it does not wait for
    /// that, and has to be started anew.
    func fail(_ error: AlertError) -> Bool {
        guard hasChosen else { return false }
        end(.failed(error))
        return true
    }

    private func end(_ end: Phase) {
        let waiting = phase.withLock { phase -> [CheckedContinuation<Void, Never>] in
            defer { phase = end }
            return if case .chosen(let waiting) = phase { waiting } else { [] }
        }
        for continuation in waiting { continuation.resume() }
    }
}
