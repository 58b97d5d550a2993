import AlertQueue
import Synchronization

/// A presenter that notes when an alert reaches it, and answers at once.
final class Stopwatch: AlertPresenter {
    let name = "stopwatch"
    private let time = Mutex(ContinuousClock.now)

    var lastAppearance: ContinuousClock.Instant { time.withLock { $0 } }

    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        time.withLock { $0 = .now }
        await presentation.didAppear()
        return .button(0)
    }
}
