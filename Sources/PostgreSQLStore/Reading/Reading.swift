import AlertCore
import AlertTables
import FoundationEssentials
import PostgreSQL
import TextFormats

extension PostgreSQLAlertStore: TableStore {
    package nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        let hosts = hosts
        let stored =
            if case .key(let key, let source, let principal) = reference {
                AlertReference.key(key, source: source, of: hosts.stored(principal))
            } else {
                reference
            }
        let found = try await read("look for an alert") {
            [clock, leases] tables -> Receipt? in
            // Before the rows: what ends in between is shown, and not what ended before.
            let ended = leases.ended
            guard let found = try tables.find(stored) else { return nil }
            let now = clock.now()
            var record = found.row.visible(at: now)
            if record.state == .queued {
                let screens = leases.roster(of: found.screens, besides: ended)
                record = screens.states(of: [record])[0]
            }
            return Receipt(
                record: record, isCancelRequested: found.isCancelRequested,
                timeLeft: found.row.expiry.map(now.time), head: found.head)
        }
        guard var found else { throw reference.notFound }
        found.record = hosts.shown(try await withOrphans([found.record])[0])
        if found.isOverdue { timekeeper?.lookNow() }
        return found
    }

    // MARK: What comes next

    package nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming {
        try await sweep()
        var upcoming = try await read("look for the next alert") { [clock] tables in
            try tables.db.reading { try tables.upcoming(query, at: clock.now()) }
        }
        if let record = upcoming.record {
            upcoming.record = hosts.shown(try await withOrphans([record])[0])
        }
        return upcoming
    }

    package func states(of records: [AlertRecord], in tables: ServerTables) throws -> [AlertRecord]
    {
        try leases.roster(tables).states(of: records)
    }

    package nonisolated(nonsending) func unawaited(
        _ ids: [Alert.ID]
    ) async throws(AlertError) -> Set<Alert.ID> {
        let leased = try await read("look for who waits") { tables in
            try tables.rows(tables.query.waitingLeases(ids), as: Alert.ID.self)
        }
        return Set(ids).subtracting(leased)
    }

    package var time: ClockReading { clock.now() }

    package func stored(_ filter: HistoryFilter) -> HistoryFilter { hosts.stored(filter) }

    package func stored(_ caller: Caller) -> Caller { hosts.stored(caller) }

    package func shown(_ record: AlertRecord) -> AlertRecord { hosts.shown(record) }

    package func shown(_ entry: AuditEntry) -> AuditEntry { hosts.shown(entry) }
}
