import Synchronization

/// A lock by which, for example, several managers take turns on one screen; they share one object.
///
/// First come, first served.
package final class PresentationTurn: Sendable {
    private struct State {
        var isTaken = false
        var nextWaiter: UInt64 = 0
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits for the turn, which ``end()`` returns; `false` if the task was cancelled first.
    package nonisolated(nonsending) func take() async -> Bool {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMine: Bool? = state.withLock { state in
                    // A cancellation before this found no waiter; a later one finds it.
                    if Task.isCancelled { return false }
                    if state.isTaken {
                        state.waiting.append((waiter, continuation))
                        return nil
                    }
                    state.isTaken = true
                    return true
                }
                if let isMine { continuation.resume(returning: isMine) }
            }
        } onCancel: {
            let cancelled = state.withLock { state in
                let index = state.waiting.firstIndex { $0.id == waiter }
                return index.map { state.waiting.remove(at: $0).continuation }
            }
            cancelled?.resume(returning: false)
        }
    }

    /// Takes the turn if nobody has it.
    package func takeAtOnce() -> Bool {
        state.withLock { state in
            guard !state.isTaken else { return false }
            state.isTaken = true
            return true
        }
    }

    /// Gives the turn to the caller that has waited longest.
    package func end() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
