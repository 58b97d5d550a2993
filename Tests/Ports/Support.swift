import AlertQueue
import Foundation
import Synchronization

/// A queue in a directory of its own, which goes with the test.
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

/// What a program has done, in order.
final class Diary: Sendable {
    private let entries = Mutex<[String]>([])

    var lines: [String] { entries.withLock { $0 } }

    func note(_ line: String) { entries.withLock { $0.append(line) } }

    /// Waits until there are as many lines, for 20 seconds at most; returns them all.
    func lines(_ count: Int) async -> [String] {
        let limit = ContinuousClock.now + .seconds(20)
        while lines.count < count, ContinuousClock.now < limit {
            try? await Task.sleep(for: .milliseconds(2))
        }
        return lines
    }
}
