import TestSupport

/// A queue in a temporary directory, which is removed after the test.
package final class TemporaryQueue: Sendable {
    private let folder: TemporaryDirectory
    package var directory: String { folder.path }
    package var path: String { directory + "/queue.db" }

    package init() throws {
        folder = try TemporaryDirectory()
    }
}
