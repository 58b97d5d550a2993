import Dispatch

/// Runs an actor on one serial Dispatch queue.
///
/// Linux has no `DispatchSerialQueue`, which would itself be an executor (SE-0392, SE-0424).
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates a queue that runs on the threads of Swift's tasks, so that a thread that submits
    /// work to the queue can continue with it.
    init(label: String) {
        queue = DispatchQueue(label: label, target: .global())
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
