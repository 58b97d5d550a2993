/// The responses whose processing has failed, each with the moment at which it is tried again; as
/// many as fit.
///
/// When the list is full, the response that is due last is forgotten. It is still in the store, which
/// is read again from the beginning for it.
package struct RetryList: Sendable {
    package struct Retry: Sendable {
        package let id: Alert.ID
        package let failures: Int
        package let due: ClockReading

        package init(id: Alert.ID, failures: Int, due: ClockReading) {
            (self.id, self.failures, self.due) = (id, failures, due)
        }
    }

    /// What has been forgotten since the store was last read for it.
    package struct Forgotten: Sendable {
        /// The most failures that one of them had.
        package let failures: Int
        /// When the store is to be read again.
        let due: ClockReading
    }

    private static let backoff = Backoff(longest: .seconds(600))

    private let limit: Int
    private let pause: Duration
    private(set) var forgotten: Forgotten?
    private var retries: [Alert.ID: Retry] = [:]

    /// - Parameters:
    ///   - limit: How many it keeps at most.
    ///   - pause: How long the store is left alone, however soon a forgotten one is due.
    package init(limit: Int, pause: Duration) { (self.limit, self.pause) = (limit, pause) }

    /// How long a response waits after a number of failures: 1 s, 2 s, 4 s and so on, up to ten
    /// minutes.
    package static func delay(after failures: Int) -> Duration { backoff.pause(after: failures) }

    package subscript(id: Alert.ID) -> Retry? { retries[id] }

    /// Those that are due, in no order.
    package func due(at now: ClockReading) -> [Retry] {
        retries.values.filter { now.isAtOrAfter($0.due) }
    }

    /// The next moment at which something is to be tried, or the store to be read, again; what is due
    /// already does not count.
    package func nextMoment(after now: ClockReading) -> ClockReading? {
        let moments = retries.values.map(\.due) + [forgotten?.due].compactMap(\.self)
        return now.earliest(of: moments.filter { !now.isAtOrAfter($0) })
    }

    package mutating func add(_ retry: Retry, at now: ClockReading) {
        retries[retry.id] = retry
        guard retries.count > limit,
            let last = retries.values.max(by: { Self.isEarlier($0, $1, at: now) })
        else { return }
        retries[last.id] = nil
        let due = now.advanced(by: max(now.time(until: last.due), pause))
        forgotten = Forgotten(
            failures: max(forgotten?.failures ?? 0, last.failures), due: forgotten?.due ?? due)
    }

    package static func isEarlier(_ one: Retry, _ other: Retry, at now: ClockReading) -> Bool {
        (now.time(until: one.due), one.id) < (now.time(until: other.due), other.id)
    }

    @discardableResult
    package mutating func remove(_ id: Alert.ID) -> Retry? { retries.removeValue(forKey: id) }

    /// What was forgotten, if the store is to be read for it now; from then on it counts as known.
    package mutating func recall(at now: ClockReading) -> Forgotten? {
        guard let forgotten, now.isAtOrAfter(forgotten.due) else { return nil }
        self.forgotten = nil
        return forgotten
    }
}
