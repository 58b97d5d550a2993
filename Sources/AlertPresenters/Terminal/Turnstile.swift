import Synchronization

/// Lets one task through at a time, in the order in which they came.
final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var lastID = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state = Mutex(State())

    /// Waits for its turn; ``leave()`` must follow.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before its turn.
    func enter() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                state.withLock { state in
                    // A cancellation before this found nobody waiting; one after it will.
                    if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else if state.isTaken {
                        state.waiting.append((id, continuation))
                    } else {
                        state.isTaken = true
                        continuation.resume()
                    }
                }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Lets the next one through.
    func leave() {
        let next: CheckedContinuation<Void, any Error>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
