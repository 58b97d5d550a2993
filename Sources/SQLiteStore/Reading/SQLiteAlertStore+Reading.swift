import AlertCore
import AlertTables
import FoundationEssentials
import Linux
import SQLite

extension SQLiteAlertStore: TableStore {
    package nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming {
        var upcoming = try await nextToShow(query)
        if let record = upcoming.record {
            upcoming.record = try await withOrphans([record])[0]
        }
        return upcoming
    }

    private nonisolated(nonsending) func nextToShow(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming {
        if let known = lookAhead.upcoming(
            for: query, at: clock.now(), isOwn: { known.isOwn(since: $0) })
        {
            return known
        }
        var generation = lookAhead.forget()
        var (upcoming, isDue, sequence) = try await look(query)
        if isDue {
            try await sweep(atMost: .max)
            generation = lookAhead.forget()
            (upcoming, _, sequence) = try await look(query)
        }
        // Alerts that only others may show count as waiting, too.
        if upcoming.record == nil, upcoming.refused.isEmpty, upcoming.waiting.count == 0 {
            lookAhead.foundNothing(for: query, at: sequence, since: generation)
        }
        return upcoming
    }

    /// Looks for the next alert, for due changes, and for the end of the log.
    private nonisolated(nonsending) func look(
        _ query: ScreenQuery
    ) async throws(AlertError) -> (Upcoming, isDue: Bool, sequence: Int64) {
        try await read("look for the next alert") { [clock, overdueStart] db in
            let now = clock.now()
            let isDue = try !db.due(at: now, from: overdueStart, atMost: 1).isEmpty
            return (try db.upcoming(query, at: now), isDue, try db.lastSequence())
        }
    }

    package nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        let found = try await read("look for an alert") { [clock] db -> Receipt? in
            guard let (row, isCancelRequested) = try db.currentAlert(reference) else { return nil }
            let now = clock.now()
            return Receipt(
                record: self.states(of: [row.visible(at: now)], in: db)[0],
                isCancelRequested: isCancelRequested, timeLeft: row.expiry.map(now.time),
                head: try db.lastHead())
        }
        guard var found else { throw reference.notFound }
        found.record = try await withOrphans([found.record])[0]
        if found.isOverdue { timekeeper?.lookNow() }
        return found
    }

    package func states(of records: [AlertRecord], in tables: Database) -> [AlertRecord] {
        guard records.contains(where: { $0.state == .queued }) else { return records }
        return slot.roster().states(of: records)
    }

    package func unawaited(_ ids: [Alert.ID]) -> Set<Alert.ID> {
        // Nobody waits for an alert in a backup, and for that of the queue perhaps somebody does.
        if case .backup? = refusal { return [] }
        return Set(WaitingLeases.unawaited(among: ids, in: files))
    }

    package var time: ClockReading { clock.now() }

    package func stored(_ filter: HistoryFilter) -> HistoryFilter { filter }

    package func stored(_ caller: Caller) -> Caller { caller }

    package func shown(_ record: AlertRecord) -> AlertRecord { record }

    package func shown(_ entry: AuditEntry) -> AuditEntry { entry }
}

extension SQLiteAlertStore {
    /// Counts the waiting alerts on the calling thread, without a store and its threads, for use in
    /// a shell prompt.
    ///
    /// It never waits: if it returns `nil`, open a store, which counts or reports the problem.
    package static func pendingCountAtOnce(
        path: String, clock: any AlertClock = .system
    ) -> Int? {
        guard let files = try? QueueFiles(database: path),
            FileIdentity(path: files.database) != nil,
            let database = try? DatabaseFile(files: files).openForReading(continuing: .start),
            let count = try? database.handle.pendingCount(at: clock.now()), database.isUnchanged
        else { return nil }
        return count
    }
}
