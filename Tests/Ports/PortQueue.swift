import Foundation

/// A queue in a directory of its own, which is deleted after the test.
final class PortQueue: Sendable {
    let directory: String
    var path: String { directory + "/queue.db" }

    init() throws {
        directory =
            FileManager.default.temporaryDirectory.appending(path: "alertq-port-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }
}
