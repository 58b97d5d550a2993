extension [AlertRecord] {
    /// The records, with whether they are among those that are orphaned.
    package func marking(orphans: Set<Alert.ID>) -> [AlertRecord] {
        map { record in
            var record = record
            record.isOrphaned = orphans.contains(record.id)
            return record
        }
    }
}

extension AlertRecord {
    /// How long after its ask a call that waits for an alert may take to lease it: it can do so only
    /// once the ask has been stored, and a machine may be busy.
    private static let timeToLease = Duration.seconds(10)

    /// Whether it is orphaned if nobody has a waiting lease on it.
    package func mayBeOrphaned(at now: ClockReading) -> Bool {
        guard response == nil, alert.handler == nil, let awaitedSince else { return false }
        return now.isAtOrAfter(awaitedSince.advanced(by: Self.timeToLease))
    }
}
