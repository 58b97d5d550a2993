import AlertQueue

/// The responses that have to be tried again, as many as fit.
///
/// When it is full, the one that is due last is forgotten. It still stands in the store, which is
/// read again from the beginning for it.
package struct RetryList: Sendable {
    package struct Retry: Sendable {
        package let id: Alert.ID
        package let failures: Int
        package let due: ContinuousClock.Instant

        package init(id: Alert.ID, failures: Int, due: ContinuousClock.Instant) {
            self.id = id
            self.failures = failures
            self.due = due
        }
    }

    /// What has been forgotten since the store was last read for it.
    package struct Forgotten: Sendable {
        /// The most failures that one of them had.
        package var failures: Int
        /// When the store is to be read again.
        package let due: ContinuousClock.Instant
    }

    /// How many it keeps at most.
    package let limit: Int
    /// How long the store is left alone, however soon a forgotten one is due.
    package let pause: Duration
    package private(set) var forgotten: Forgotten?
    private var retries: [Alert.ID: Retry] = [:]

    package init(limit: Int, pause: Duration) {
        self.limit = limit
        self.pause = pause
    }

    package var count: Int { retries.count }

    /// When the first one is due; `nil` if there is none.
    package var firstDue: ContinuousClock.Instant? { retries.values.map(\.due).min() }

    package func contains(_ id: Alert.ID) -> Bool { retries[id] != nil }

    /// Those that are due, the longest first.
    package func due(at now: ContinuousClock.Instant) -> [Retry] {
        retries.values.filter { $0.due <= now }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }

    package mutating func add(_ retry: Retry, now: ContinuousClock.Instant) {
        retries[retry.id] = retry
        guard retries.count > limit,
            let last = retries.values.max(by: { ($0.due, $0.id) < ($1.due, $1.id) })
        else { return }
        retries[last.id] = nil
        let failures = max(forgotten?.failures ?? 0, last.failures)
        forgotten = Forgotten(
            failures: failures, due: forgotten?.due ?? max(last.due, now + pause))
    }

    package mutating func remove(_ id: Alert.ID) { retries[id] = nil }

    /// What was forgotten, if the store is to be read for it now; from then on it counts as known.
    package mutating func recall(at now: ContinuousClock.Instant) -> Forgotten? {
        guard let due = forgotten?.due, due <= now else { return nil }
        defer { forgotten = nil }
        return forgotten
    }
}
