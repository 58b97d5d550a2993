import Synchronization

/// The reason why presenting has ended by itself, if it has.
final class PresentationFailure: Sendable {
    private let state = Mutex<AlertError?>(nil)
    private let hasFailed = ChangeSignal()

    var error: AlertError? {
        get { state.withLock { $0 } }
        set {
            state.withLock { $0 = newValue }
            hasFailed.change()
        }
    }

    /// Waits until presenting ends by itself, and throws the reason; returns if the task is
    /// cancelled.
    func wait() async throws(AlertError) {
        while !Task.isCancelled {
            let seen = hasFailed.count
            if let error { throw error }
            await hasFailed.wait(after: seen)
        }
    }
}
