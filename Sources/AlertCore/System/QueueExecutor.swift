import Dispatch

/// Runs an actor on one serial Dispatch queue.
///
/// Linux has no `DispatchSerialQueue`, which would itself be an executor (SE-0392, SE-0424).
package final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// - Parameter target: The threads on which it runs: those of Swift's tasks, so that a thread
    ///   that submits work to the queue can continue with it, or, if `nil`, one that may block.
    package init(label: String, target: DispatchQueue? = .global()) {
        queue = DispatchQueue(label: label, target: target)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs a closure on the queue, which an actor with this executor may assume to be its own.
    package func run(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
