import TestSupport

/// A queue in a directory of its own, which goes with the test.
package final class TemporaryQueue: Sendable {
    private let folder: TemporaryDirectory
    package var directory: String { folder.path }
    package var path: String { directory + "/queue.db" }

    package init() throws {
        folder = try TemporaryDirectory()
    }
}
