import CBaselines

/// A job queue as other projects build it on SQLite, in C.
final class JobQueue {
    private let queue: OpaquePointer?

    /// Creates a file with an empty queue.
    init(path: String) throws {
        var queue: OpaquePointer?
        let code = job_queue_create(path, &queue)
        self.queue = queue
        try check(code)
    }

    deinit { job_queue_close(queue) }

    /// Enqueues `count` jobs, each as one synced transaction.
    func enqueue(count: Int) throws {
        try check(job_queue_enqueue(queue, Int32(count)))
    }

    /// Enqueues, claims and acknowledges `count` jobs, each as three synced transactions.
    func cycle(count: Int) throws {
        try check(job_queue_cycle(queue, Int32(count)))
    }

    private func check(_ code: Int32) throws {
        guard code != 0 else { return }
        let message = job_queue_message(queue).map { String(cString: $0) } ?? ""
        throw BenchmarkError("the job queue failed: \(message) (\(code))")
    }
}
