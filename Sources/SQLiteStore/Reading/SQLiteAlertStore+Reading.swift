import AlertCore
import AlertTables
import FoundationEssentials
import Linux
import SQLite

extension SQLiteAlertStore {
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
            let isDue = try db.isDue(at: now, from: overdueStart)
            var upcoming = try Upcoming(for: query, at: now) { query in
                try db.next(query, at: now).map(db.checked).map { row in
                    (row.alert, isCancelRequested: try db.isCancelRequested(row))
                }
            }
            upcoming.waiting = try db.ready(besides: upcoming.record?.id ?? 0)
            return (upcoming, isDue, try db.lastSequence())
        }
    }

    package nonisolated(nonsending) func waiting(besides id: Alert.ID) async throws(AlertError)
        -> WaitingAlerts
    {
        try await read("count what waits") { try $0.ready(besides: id) }
    }

    package nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        let found = try await read("look for an alert") { [clock] db -> Receipt? in
            let row =
                switch reference {
                case .id(let id): try db.checkedAlert(id)
                case .key(let key, let source, let principal):
                    try db.checkedAlert(key: key, source: source, of: principal)
                }
            return try row.map { try db.receipt(of: $0, at: clock.now()) }
        }
        guard var found else { throw reference.notFound }
        found.record = try await withOrphans(withStates([found.record]))[0]
        if found.isOverdue { timekeeper?.lookNow() }
        return found
    }

    package nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        var page = try await stored(query)
        let now = clock.now()
        page.records = page.records.map { $0.current(at: now) }
        return page
    }

    private nonisolated(nonsending) func stored(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        let records: [AlertRecord]
        switch query.kind {
        case .waiting(let source, let orOverdue):
            records = try await waiting(
                source: source, orOverdue: orOverdue, after: query.after, limit: query.limit)
        case .history(let filter):
            records = try await readHistory(filter, limit: query.limit, after: query.after)
        case .awaitingHandler(let name):
            return try await awaiting(handler: name, after: query.after, limit: query.limit)
        case .unclaimed(let filter):
            return try await unclaimed(filter, after: query.after ?? 0, limit: query.limit)
        }
        return RecordPage(
            records: records, next: records.last?.id ?? query.after,
            isEnd: records.count < query.limit)
    }

    private nonisolated(nonsending) func waiting(
        source: String?, orOverdue: Bool, after: Alert.ID?, limit: Int
    ) async throws(AlertError) -> [AlertRecord] {
        let records = try await read("list what waits") { [clock] db in
            let now = clock.now()
            return try db.waiting(
                source: source, orOverdue: orOverdue, after: after, limit: limit, at: now
            ).compactMap { try db.alert($0)?.visible(at: now) }
        }
        return try await withOrphans(withStates(records))
    }

    package nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await read("count what waits") { [clock] in try $0.pendingCount(at: clock.now()) }
    }

    private nonisolated(nonsending) func awaiting(
        handler: String, after: Alert.ID?, limit: Int
    ) async throws(AlertError) -> RecordPage {
        try await read("look for uncollected responses") { db in
            let ids = try db.rows(
                """
                SELECT id FROM alerts INDEXED BY alerts_uncollected
                WHERE outcome IS NOT NULL AND collected_ms IS NULL AND handler = ?
                    AND resolved_seq > coalesce(
                        (SELECT resolved_seq FROM alerts WHERE id = ?), 0)
                ORDER BY resolved_seq LIMIT ?
                """, [.text(handler), .optional(after), .integer(limit)]
            ) { $0.integer() }
            // A row that can't be read does not block the others.
            let records = ids.compactMap { id in (try? db.alert(id))?.record }
            var page = RecordPage(
                records: records, next: ids.last ?? after, isEnd: ids.count < limit)
            page.ids = ids
            return page
        }
    }

    private nonisolated(nonsending) func unclaimed(
        _ filter: HistoryFilter, after position: Int64, limit: Int
    ) async throws(AlertError) -> RecordPage {
        let text = try filter.text.map { text throws(AlertError) in try SearchText(text) }
        typealias Column = HistoryWalk.Column
        return try await read("look for uncollected responses") { db in
            var values = NumberedValues("?")
            let isAdmitted = filter.condition(&values)
            let last = try db.lastSequence()
            var records: [AlertRecord] = []
            let look = try db.look(
                limit,
                """
                SELECT resolved_ms, resolved_seq, id, \(isAdmitted)
                FROM alerts INDEXED BY alerts_uncollected
                WHERE outcome IS NOT NULL AND collected_ms IS NULL AND handler IS NULL
                    AND resolved_seq > \(values.add(.integer(position)))
                    AND resolved_seq <= \(values.add(.integer(last))) ORDER BY resolved_seq
                """, values
            ) { row in
                let found = HistoryWalk.Found(row)
                // A row that can't be read does not block the others.
                guard row.integer(Column.isAdmitted) == 1,
                    let record = (try? db.alert(found.id))?.record, filter.admits(record),
                    text?.matches(record) ?? true
                else { return (found, false) }
                records.append(record)
                return (found, true)
            }
            return RecordPage(
                records: records, next: look.next?.sequence ?? max(position, last),
                isEnd: look.next == nil)
        }
    }

    /// The records, with their states as the screens report them.
    private func withStates(_ records: [AlertRecord]) -> [AlertRecord] {
        guard records.contains(where: { $0.state == .queued }) else { return records }
        return slot.roster().states(of: records)
    }

    /// The records, with whether they are orphaned.
    nonisolated(nonsending) func withOrphans(
        _ records: [AlertRecord]
    ) async throws(AlertError) -> [AlertRecord] {
        let now = clock.now()
        // Nobody waits for an alert in a backup, and for that of the queue perhaps somebody does.
        if case .backup? = refusal { return records }
        let left = WaitingClaims.unclaimed(
            among: records.filter { $0.mayBeOrphaned(at: now) }.map(\.id), in: files)
        guard !left.isEmpty else { return records }
        // In this order: whoever waited for one that has been answered has left for that reason.
        let orphans = try await read("look for who waits") { db in
            try Set(left.filter(db.isWaiting))
        }
        return records.marking(orphans: orphans)
    }
}

extension Database {
    /// How many alerts, not counting one, could be shown now, counted up to 1,000.
    fileprivate func ready(besides id: Alert.ID) throws -> WaitingAlerts {
        let count = { [self] (condition: String) in
            try first(
                """
                SELECT count(*) FROM (SELECT 1 FROM alerts
                    WHERE outcome IS NULL AND snoozed_ms IS NULL AND id <> ?1\(condition)
                    LIMIT 1000)
                """, .integer(id)
            ) { Int($0.integer()) } ?? 0
        }
        return try WaitingAlerts(count: count(""), critical: count(" AND priority = 3"))
    }

    /// Whether an alert has no response.
    fileprivate func isWaiting(_ id: Alert.ID) throws -> Bool {
        try first("SELECT 1 FROM alerts WHERE id = ? AND outcome IS NULL", .integer(id)) { _ in
            true
        } ?? false
    }

    /// An alert as it was found at a moment.
    fileprivate func receipt(of row: AlertRow, at now: ClockReading) throws -> Receipt {
        Receipt(
            record: row.visible(at: now), isCancelRequested: try isCancelRequested(row),
            timeLeft: row.expiry.map(now.time), head: try lastHead())
    }

    /// Whether a cancel was requested from the screen that shows an alert.
    fileprivate func isCancelRequested(_ row: AlertRow) throws -> Bool {
        try row.record.response == nil && cancelRequest(of: row.record.id) != nil
    }

    /// The first alert of the queue that a screen may show.
    fileprivate func next(_ query: ScreenQuery, at now: ClockReading) throws -> AlertRow? {
        // Only a few can be shown: don't search for them among all waiting alerts.
        guard !query.presenters.isEmpty else {
            let own = try query.own.compactMap { try alert($0) }
            let first = query.firstOwn(of: own.map(\.record))
            return own.first { $0.record.id == first }
        }
        let question =
            query.prefersQuestions
            ? try first(of: Candidates(query: query, hasButtons: true), at: now) : nil
        return try question ?? first(of: Candidates(query: query, hasButtons: false), at: now)
    }
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
