import Synchronization

/// A record of what a program has done, in order.
final class Diary: Sendable {
    private let entries = Mutex<[String]>([])

    var lines: [String] { entries.withLock { $0 } }

    func note(_ line: String) { entries.withLock { $0.append(line) } }

    /// Waits until there are `count` lines, for at most 20 seconds; returns all lines.
    func lines(_ count: Int) async -> [String] {
        let limit = ContinuousClock.now + .seconds(20)
        while lines.count < count, ContinuousClock.now < limit {
            try? await Task.sleep(for: .milliseconds(2))
        }
        return lines
    }
}
