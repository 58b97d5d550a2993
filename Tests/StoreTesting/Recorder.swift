import Synchronization

/// Records events in order.
package final class Recorder: Sendable {
    private let entries = Mutex<[String]>([])

    package init() {}

    package var lines: [String] { entries.withLock { $0 } }

    package func note(_ line: String) {
        entries.withLock { $0.append(line) }
    }
}
