import Dispatch
import Synchronization

/// The threads for the tasks of one test, so that a test that blocks while it waits for a process
/// or a terminal holds up no other test.
///
/// The threads that all other tasks of a process share are as many as the cores: on two cores, two
/// tests that wait for a child process would take all of them.
final class TestThreads: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
    }

    /// As many as a single test would have on a machine with two cores.
    private static let limit = 2

    private let state = Mutex(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.threads < Self.limit else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else { return }
        // A queue of its own gets a thread whenever it needs one, even if others are blocked.
        DispatchQueue(label: "alertq.test").async { self.work() }
    }

    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            if state.jobs.isEmpty {
                state.threads -= 1
                return nil
            }
            return state.jobs.removeFirst()
        }
    }
}
