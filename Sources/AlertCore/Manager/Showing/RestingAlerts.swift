/// The alerts that no presenter here could show, each of which is passed over for a time.
struct RestingAlerts {
    /// How long to pass over an alert; more than the others wait, so that it is their turn first.
    private static let backoff = Backoff(first: .seconds(2), longest: .seconds(600))
    /// How many failures are remembered.
    private static let memory = 1000

    private struct Rest {
        var failures: Int
        var end: ClockReading
    }

    private var rests: [Alert.ID: Rest] = [:]

    /// Passes over an alert that can't be shown, each time for longer.
    mutating func add(_ id: Alert.ID, at now: ClockReading) {
        let failures = (rests[id]?.failures ?? 0) + 1
        let end = now.advanced(by: Self.backoff.pause(after: failures))
        if rests.count >= Self.memory {
            rests = rests.filter { !now.isAtOrAfter($0.value.end) }
            if rests.count >= Self.memory { rests.removeAll() }
        }
        rests[id] = Rest(failures: failures, end: end)
    }

    mutating func remove(_ id: Alert.ID) { rests[id] = nil }

    /// The alerts that are passed over at a moment, in ascending order.
    func ids(at now: ClockReading) -> [Alert.ID] {
        rests.filter { !now.isAtOrAfter($0.value.end) }.keys.sorted()
    }

    func isResting(_ id: Alert.ID, at now: ClockReading) -> Bool {
        rests[id].map { !now.isAtOrAfter($0.end) } ?? false
    }

    /// When the first of them may be tried again.
    func nextEnd(after now: ClockReading) -> ClockReading? {
        let ends = rests.values.map(\.end).filter { !now.isAtOrAfter($0) }
        return ends.min { now.time(until: $0) < now.time(until: $1) }
    }
}
