import Synchronization

/// Lets tasks wait until something has changed, without missing a change or holding a thread.
package final class ChangeSignal: Sendable {
    private struct State {
        var count: UInt64 = 0
        var nextWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// How many changes there have been.
    package var count: UInt64 { state.withLock { $0.count } }

    /// Counts a change, and resumes all waiting tasks.
    package func change() {
        wake { $0.count += 1 }
    }

    /// Lets all waiting tasks look again, without counting a change.
    package func nudge() {
        wake { _ in }
    }

    /// Waits until the count is no longer `seen`, ``nudge()`` is called, or the task is cancelled.
    package nonisolated(nonsending) func wait(after seen: UInt64) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.count == seen, !Task.isCancelled else { return true }
                    state.waiters[waiter] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }

    private func wake(_ update: (inout State) -> Void) {
        let waiters = state.withLock { state in
            update(&state)
            defer { state.waiters.removeAll() }
            return state.waiters.values.map { $0 }
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension ChangeSignal {
    /// Waits until the count is no longer `seen`, a length of time has passed, or the task is
    /// cancelled.
    package nonisolated(nonsending) func wait(after seen: UInt64, atMost time: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(after: seen) }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }
}
