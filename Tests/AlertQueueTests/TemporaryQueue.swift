import TestSupport

/// A queue in a directory of its own, which goes with the test.
final class TemporaryQueue: Sendable {
    private let folder: TemporaryDirectory
    var directory: String { folder.path }
    var path: String { directory + "/queue.db" }

    init() throws {
        folder = try TemporaryDirectory()
    }
}
