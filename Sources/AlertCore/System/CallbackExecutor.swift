import Dispatch
import Synchronization

/// Runs code of the program that uses a manager, which may block its thread, on threads that
/// nothing else needs.
///
/// Dispatch has one pool of threads for its serial queues, which grows at once, and one for
/// concurrent queues and for tasks, which hardly grows while its threads are blocked.
final class CallbackExecutor: TaskExecutor {
    static let shared = CallbackExecutor()

    /// How many jobs run at a time. Dispatch has some 250 threads for all serial queues of a
    /// process.
    static let maximumCount = 64

    private struct State {
        var running = 0
        var waiting: [UnownedJob] = []
    }

    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let begins = state.withLock { state in
            guard state.running < Self.maximumCount else {
                state.waiting.append(job)
                return false
            }
            state.running += 1
            return true
        }
        guard begins else { return }
        DispatchQueue(label: "alertq.callback").async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            while let next = nextJob() { next.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    private func nextJob() -> UnownedJob? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
    }
}
