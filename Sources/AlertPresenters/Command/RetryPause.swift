import AlertCore
import Synchronization

/// How long a presenter that failed waits before it tries again: longer and longer.
final class RetryPause: Sendable {
    private struct State {
        var failures = 0
        var notBefore: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let backoff: Backoff

    init(first: Duration = .seconds(1), longest: Duration = .seconds(60)) {
        backoff = Backoff(first: first, longest: longest)
    }

    /// Counts a failure, and returns the pause that follows it.
    @discardableResult
    func fail() -> Duration {
        state.withLock { state in
            state.failures += 1
            let pause = backoff.pause(after: state.failures)
            state.notBefore = .now + pause
            return pause
        }
    }

    /// Forgets all failures.
    func succeed() {
        state.withLock { $0 = State() }
    }

    /// The time that is left of the pause.
    var left: Duration {
        state.withLock { state in
            max(.zero, state.notBefore.map { ContinuousClock.now.duration(to: $0) } ?? .zero)
        }
    }

    /// Waits until the pause is over.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait() async throws {
        let left = left
        if left > .zero { try await Task.sleep(for: left) }
    }
}
