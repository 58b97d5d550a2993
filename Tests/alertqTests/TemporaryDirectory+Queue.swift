import TestSupport

extension TemporaryDirectory {
    /// The path for a queue.
    var database: String { path + "/queue.db" }
}
