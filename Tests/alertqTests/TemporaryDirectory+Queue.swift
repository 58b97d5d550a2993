import TestSupport

extension TemporaryDirectory {
    /// Where a queue can be.
    var database: String { path + "/queue.db" }
}
