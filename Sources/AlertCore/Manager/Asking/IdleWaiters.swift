import Synchronization

/// The calls that wait until there is nothing left to show.
final class IdleWaiters: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    var isEmpty: Bool { waiting.withLock { $0.isEmpty } }

    /// Waits until the next ``wake()``, or until the task is cancelled.
    ///
    /// - Parameter begun: Runs once the wait has begun.
    nonisolated(nonsending) func wait(_ begun: () -> Void) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = waiting.withLock { waiting in
                    guard !Task.isCancelled else { return true }
                    waiting.append(waiter)
                    return false
                }
                if isOver { waiter.resume() } else { begun() }
            }
        } onCancel: {
            // The others look again, which does them no harm.
            wake()
        }
    }

    func wake() {
        let waiters = waiting.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
        }
        for waiter in waiters { waiter.resume() }
    }
}
