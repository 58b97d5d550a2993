import AlertQueue
import AlertQueueTesting
import Foundation

/// A queue in a directory of its own, which goes with the test.
final class TemporaryQueue: Sendable {
    let directory: String
    var path: String { directory + "/queue.db" }

    init() throws {
        directory =
            FileManager.default.temporaryDirectory
            .appending(path: "alertq-test-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }
}

/// Waits until a condition holds, for 20 seconds at most; returns whether it does.
func eventually(_ condition: @Sendable () async throws -> Bool) async rethrows -> Bool {
    let limit = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < limit {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return false
}
