// Alerts that no presenter here could show are passed over for a time.
extension AlertManager {
    /// How long to pass over an alert that no presenter could show; more than the others wait, so
    /// that it is their turn first.
    private static let rest = Backoff(first: .seconds(2), longest: .seconds(600))
    /// How many failures are remembered.
    private static let restLimit = 1000

    /// An alert that no presenter could show, and is not tried before a moment.
    struct Rest {
        var failures: Int
        var end: ClockReading
    }

    /// Passes over an alert that can't be shown, each time for longer.
    func rest(_ id: Alert.ID) {
        let failures = (resting[id]?.failures ?? 0) + 1
        let end = clock.now().advanced(by: Self.rest.pause(after: failures))
        if resting.count >= Self.restLimit {
            let now = clock.now()
            resting = resting.filter { !now.isAtOrAfter($0.value.end) }
            if resting.count >= Self.restLimit { resting.removeAll() }
        }
        resting[id] = Rest(failures: failures, end: end)
    }

    /// The alerts that are passed over now.
    var restingIDs: [Alert.ID] {
        let now = clock.now()
        return resting.filter { !now.isAtOrAfter($0.value.end) }.keys.sorted()
    }

    var nextRestEnd: ClockReading? {
        let now = clock.now()
        let ends = resting.values.map(\.end).filter { !now.isAtOrAfter($0) }
        return ends.min { now.time(until: $0) < now.time(until: $1) }
    }
}
