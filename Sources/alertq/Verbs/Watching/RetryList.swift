import AlertQueue

/// The responses that have to be tried again, as many as fit.
///
/// When it is full, the one that is due last is forgotten. It is still in the store, which is
/// read again from the beginning for it.
struct RetryList: Sendable {
    struct Retry: Sendable {
        let id: Alert.ID
        let failures: Int
        let due: ContinuousClock.Instant
    }

    /// What has been forgotten since the store was last read for it.
    struct Forgotten: Sendable {
        /// The most failures that one of them had.
        var failures: Int
        /// When the store is to be read again.
        let due: ContinuousClock.Instant
    }

    /// How many it keeps at most.
    let limit: Int
    /// How long the store is left alone, however soon a forgotten one is due.
    let pause: Duration
    private(set) var forgotten: Forgotten?
    private var retries: [Alert.ID: Retry] = [:]

    init(limit: Int, pause: Duration) {
        self.limit = limit
        self.pause = pause
    }

    var count: Int { retries.count }

    /// When the first one is due; `nil` if there is none.
    var firstDue: ContinuousClock.Instant? { retries.values.map(\.due).min() }

    func contains(_ id: Alert.ID) -> Bool { retries[id] != nil }

    /// Those that are due, the longest first.
    func due(at now: ContinuousClock.Instant) -> [Retry] {
        retries.values.filter { $0.due <= now }.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }

    mutating func add(_ retry: Retry, now: ContinuousClock.Instant) {
        retries[retry.id] = retry
        guard retries.count > limit,
            let last = retries.values.max(by: { ($0.due, $0.id) < ($1.due, $1.id) })
        else { return }
        retries[last.id] = nil
        let failures = max(forgotten?.failures ?? 0, last.failures)
        forgotten = Forgotten(
            failures: failures, due: forgotten?.due ?? max(last.due, now + pause))
    }

    mutating func remove(_ id: Alert.ID) { retries[id] = nil }

    /// What was forgotten, if the store is to be read for it now; from then on it counts as known.
    mutating func recall(at now: ContinuousClock.Instant) -> Forgotten? {
        guard let due = forgotten?.due, due <= now else { return nil }
        defer { forgotten = nil }
        return forgotten
    }
}
