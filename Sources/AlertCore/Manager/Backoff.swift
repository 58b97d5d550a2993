/// The pauses before a failed operation is tried again: each is twice as long as the previous one.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration

    package init(first: Duration = .seconds(1), longest: Duration) {
        self.first = first
        self.longest = longest
    }

    /// The pause after a number of consecutive failures, at least one.
    package func pause(after failures: Int) -> Duration {
        min(longest, first * (1 << min(max(failures, 1) - 1, 20)))
    }
}

/// Failed items, each of which is skipped for a time: longer after each consecutive failure.
struct Backoffs<Key: Hashable & Comparable & Sendable>: Sendable {
    /// How many failures are remembered.
    private static var memory: Int { 1000 }

    private struct Rest {
        var failures: Int
        var end: ClockReading
    }

    private let backoff: Backoff
    private var rests: [Key: Rest] = [:]

    init(_ backoff: Backoff) { self.backoff = backoff }

    /// Skips a failed item, longer each time, and returns for how long.
    @discardableResult
    mutating func add(_ key: Key, at now: ClockReading, atMost bound: Duration? = nil) -> Duration {
        let failures = (rests[key]?.failures ?? 0) + 1
        let longer = backoff.pause(after: failures)
        let pause = bound.map { min($0, longer) } ?? longer
        if rests.count >= Self.memory {
            rests = rests.filter { !now.isAtOrAfter($0.value.end) }
            if rests.count >= Self.memory { rests.removeAll() }
        }
        rests[key] = Rest(failures: failures, end: now.advanced(by: pause))
        return pause
    }

    mutating func remove(_ key: Key) { rests[key] = nil }

    mutating func removeAll() { rests.removeAll() }

    /// The items skipped at a moment, in ascending order.
    func keys(at now: ClockReading) -> [Key] {
        guard !rests.isEmpty else { return [] }
        return rests.filter { !now.isAtOrAfter($0.value.end) }.keys.sorted()
    }

    func isResting(_ key: Key, at now: ClockReading) -> Bool { timeLeft(of: key, at: now) > .zero }

    /// How long an item will still be skipped.
    func timeLeft(of key: Key, at now: ClockReading) -> Duration {
        max(.zero, rests[key].map { now.time(until: $0.end) } ?? .zero)
    }

    /// When the first of them may be tried again.
    func nextEnd(after now: ClockReading) -> ClockReading? {
        guard !rests.isEmpty else { return nil }
        return now.earliest(of: rests.values.map(\.end).filter { !now.isAtOrAfter($0) })
    }
}
