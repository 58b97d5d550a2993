import AlertCore
import AlertTables
import FoundationEssentials
import PostgreSQL
import TextFormats

extension PostgreSQLAlertStore {
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
            [clock, leases] db, queue -> Receipt? in
            // Before the rows: what ends in between is shown, and not what ended before.
            let ended = leases.ended
            guard let found = try db.find(queue, stored) else { return nil }
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
        if found.isOverdue { lookNow() }
        return found
    }

    package nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await read("count what waits") { [clock] db, queue in
            let count = try db.run(Query.pendingCount(queue, clock.now())).first {
                Int($0.integer())
            }
            return max(0, count ?? 0)
        }
    }

    package nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts {
        try await read("count what waits") { try $0.ready($1, besides: id) }
    }

    // MARK: What comes next

    package nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming {
        try await sweep()
        var upcoming = try await read("look for the next alert") { [clock] db, queue in
            try db.reading { try db.upcoming(query, queue, at: clock.now()) }
        }
        if let record = upcoming.record {
            upcoming.record = hosts.shown(try await withOrphans([record])[0])
        }
        return upcoming
    }

    // MARK: Pages

    package nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        var page = try await stored(query)
        let now = clock.now()
        page.records = page.records.map { hosts.shown($0.current(at: now)) }
        return page
    }

    private nonisolated(nonsending) func stored(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        let records: [AlertRecord]
        switch query.kind {
        case .waiting(let source, let orOverdue):
            let found = try await read("list what waits") { [clock, leases] db, queue in
                let now = clock.now()
                // What is found to wait must not end before its row is read.
                return try db.reading {
                    let ids = try db.waiting(
                        queue, source: source, orOverdue: orOverdue, after: query.after,
                        limit: query.limit, at: now)
                    let found = try db.alerts(queue, ids).map { $0.visible(at: now) }
                    return try leases.roster(db, queue).states(of: found)
                }
            }
            records = try await withOrphans(found)
        case .history(let filter):
            records = try await history(
                hosts.stored(filter), limit: query.limit, after: query.after)
        case .awaitingHandler(let name):
            return try await awaiting(handler: name, after: query.after, limit: query.limit)
        case .unclaimed(let filter):
            return try await unclaimed(
                hosts.stored(filter), after: query.after ?? 0, limit: query.limit)
        }
        return RecordPage(
            records: records, next: records.last?.id ?? query.after,
            isEnd: records.count < query.limit)
    }

    private nonisolated(nonsending) func awaiting(
        handler: String, after: Alert.ID?, limit: Int
    ) async throws(AlertError) -> RecordPage {
        try await read("look for uncollected responses") { db, queue in
            let ids = try db.rows(
                """
                SELECT id FROM alerts
                WHERE queue = $1 AND outcome IS NOT NULL AND collected_ms IS NULL
                    AND handler = $2 AND resolved_seq > coalesce((SELECT resolved_seq
                        FROM alerts WHERE queue = $1 AND id = $3), 0)
                ORDER BY resolved_seq LIMIT $4
                """, queue, .text(handler), .optional(after), .integer(limit)
            ) { $0.integer() }
            var page = RecordPage(
                records: try db.readableAlerts(queue, ids).map(\.record),
                next: ids.last ?? after, isEnd: ids.count < limit)
            page.ids = ids
            return page
        }
    }

    private nonisolated(nonsending) func unclaimed(
        _ filter: HistoryFilter, after position: Int64, limit: Int
    ) async throws(AlertError) -> RecordPage {
        let text = try filter.text.map { text throws(AlertError) in try SearchText(text) }
        return try await read("look for uncollected responses") { db, queue in
            let last = try db.head(queue).head.sequence
            var values = NumberedValues("$", [queue])
            let condition = filter.condition(&values)
            let rows = try db.run(
                Statement(
                    """
                    SELECT id, resolved_seq FROM alerts
                    WHERE queue = $1 AND outcome IS NOT NULL AND collected_ms IS NULL
                        AND handler IS NULL AND resolved_seq > \(values.add(.integer(position)))
                        AND resolved_seq <= \(values.add(.integer(last))) AND \(condition)
                    ORDER BY resolved_seq LIMIT \(History.examined)
                    """, values.all)
            ).rows { (id: $0.integer(at: 0), sequence: $0.integer(at: 1)) }
            var records: [AlertRecord] = []
            var next: Int64?
            for slice in rows.slices(of: limit) {
                let found = Dictionary(
                    try db.readableAlerts(queue, slice.map(\.id)).map { ($0.record.id, $0) },
                    uniquingKeysWith: { $1 })
                for row in slice {
                    guard let record = found[row.id]?.record, filter.admits(record),
                        text?.matches(record) ?? true
                    else { continue }
                    records.append(record)
                    if records.count == limit {
                        next = row.sequence
                        break
                    }
                }
                if next != nil { break }
            }
            if next == nil, rows.count == History.examined { next = rows.last?.sequence }
            return RecordPage(
                records: records, next: next ?? max(position, last), isEnd: next == nil)
        }
    }

    // MARK: States

    /// The records, with what only the processes tell: which are orphaned.
    nonisolated(nonsending) func withOrphans(
        _ records: [AlertRecord]
    ) async throws(AlertError) -> [AlertRecord] {
        let now = clock.now()
        let candidates = records.filter { $0.mayBeOrphaned(at: now) }.map(\.id)
        guard !candidates.isEmpty else { return records }
        // In this order: whoever waited for one that has been answered has left for that reason.
        let orphans = try await read("look for who waits") { db, queue -> Set<Alert.ID> in
            let claimed = try db.run(Query.waitingClaims(queue, candidates)).rows {
                $0.integer()
            }
            let left = Set(candidates).subtracting(claimed)
            return Set(
                try db.rows(
                    """
                    SELECT id FROM alerts
                    WHERE queue = $1 AND id = ANY ($2::bigint[]) AND outcome IS NULL
                    """, queue, .integers(left)
                ) { $0.integer() })
        }
        return records.marking(orphans: orphans)
    }
}

extension Array {
    /// The elements in order, so many at a time.
    func slices(of length: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: Swift.max(1, length)).map {
            self[$0..<Swift.min(count, $0 + Swift.max(1, length))]
        }
    }
}

extension Connection {
    /// The alerts with these ids, in their order.
    func alerts(_ queue: Value, _ ids: [Alert.ID]) throws -> [AlertRow] {
        try alerts(queue, ids) { try AlertRow($0) }
    }

    /// Those of them that can be read: one that can't does not block the others.
    func readableAlerts(_ queue: Value, _ ids: [Alert.ID]) throws -> [AlertRow] {
        try alerts(queue, ids) { try? AlertRow($0) }
    }

    /// The alerts with these ids, in their order, each with whether the log contradicts it.
    func comparedAlerts(_ queue: Value, _ ids: [Alert.ID]) throws -> [AlertRecord] {
        let rows = try alerts(queue, ids)
        guard !rows.isEmpty else { return [] }
        var trails = Dictionary(
            rows.map { ($0.record.id, AlertTrail(of: $0.record.id)) }, uniquingKeysWith: { $1 })
        for row in try run(Query.trails(queue, ids)).rows(LinkedEntry.init) {
            switch row.entry {
            case .success(let entry): trails[row.alert]?.add(entry)
            // Without a trail it is contradicted.
            case .failure: trails[row.alert] = nil
            }
        }
        let erasures = Set(rows.compactMap(\.alert.remains?.sequence))
        if !erasures.isEmpty {
            let erased = try run(Query.erasures(queue, erasures)).rows(LinkedEntry.init)
            for entry in erased.compactMap({ try? $0.entry.get() }) {
                guard entry.event.kind == .erased,
                    let alerts = entry.erasedAlerts
                else { continue }
                for row in rows where row.alert.remains?.sequence == entry.event.sequence {
                    guard alerts.contains(row.record.id) else { continue }
                    trails[row.record.id]?.addErasure(by: entry.event.sequence)
                }
            }
        }
        return try rows.map { row in
            try row.compared { row in
                guard let trail = trails[row.record.id] else {
                    throw AlertError.inconsistent(row.record.id, "an entry about it was changed")
                }
                return try row.checked(by: trail)
            }
        }
    }

    private func alerts(
        _ queue: Value, _ ids: [Alert.ID], read: (borrowing Row) throws -> AlertRow?
    ) throws -> [AlertRow] {
        guard !ids.isEmpty else { return [] }
        let rows = try run(Query.alerts(queue, ids)).rows(read).compactMap(\.self)
        let found = Dictionary(rows.map { ($0.record.id, $0) }, uniquingKeysWith: { $1 })
        return ids.compactMap { found[$0] }
    }

    /// How many alerts, not counting one, could be shown now, counted up to 1,000.
    func ready(_ queue: Value, besides id: Alert.ID) throws -> WaitingAlerts {
        let count = { (condition: String) in
            """
            (SELECT count(*) FROM (SELECT 1 FROM alerts WHERE queue = $1
                AND outcome IS NULL AND snoozed_ms IS NULL AND id <> $2\(condition)
                LIMIT 1000) AS ready)
            """
        }
        return try first(
            "SELECT \(count("")), \(count(" AND priority = 3"))", queue, .integer(id)
        ) { row in
            WaitingAlerts(
                count: Int(row.integer(at: 0)), critical: Int(row.integer(at: 1)))
        } ?? WaitingAlerts()
    }

    // MARK: What comes next

    func upcoming(
        _ query: ScreenQuery, _ queue: Value, at now: ClockReading
    ) throws -> Upcoming {
        var upcoming = try Upcoming(for: query, at: now) { query in
            try next(query, queue, at: now).flatMap { try find(queue, .id($0)) }.map { found in
                (found.row.alert, isCancelRequested: found.isCancelRequested)
            }
        }
        upcoming.waiting = try ready(queue, besides: upcoming.record?.id ?? 0)
        return upcoming
    }

    private func next(
        _ query: ScreenQuery, _ queue: Value, at now: ClockReading
    ) throws -> Alert.ID? {
        // Only a few can be shown: don't search for them among all waiting alerts.
        guard !query.presenters.isEmpty else {
            return query.firstOwn(of: try readableAlerts(queue, query.own).map(\.record))
        }
        let question =
            query.prefersQuestions
            ? try first(of: query, queue, hasButtons: true, at: now) : nil
        return try question ?? first(of: query, queue, hasButtons: false, at: now)
    }

    private func first(
        of query: ScreenQuery, _ queue: Value, hasButtons: Bool, at now: ClockReading
    ) throws -> Alert.ID? {
        // The first of each source, which one look into the index finds.
        let lines = try rows(
            """
            SELECT p.priority, head.id, head.queued_seq, principal.id,
                coalesce(of_principal.seq, 0), coalesce(of_source.seq, 0)
            FROM generate_series(0, 3) AS p (priority)
            CROSS JOIN sources
            CROSS JOIN LATERAL (SELECT id, queued_seq FROM alerts
                WHERE queue = $1 AND outcome IS NULL AND snoozed_ms IS NULL
                    AND priority = p.priority AND source_id = sources.id
                    AND (presenters IS NULL OR presenters::jsonb ?| $2::text[]
                        OR id = ANY ($3::bigint[]))
                    AND id <> ALL ($4::bigint[]) AND ($5 = 0 OR buttons <> '[]')
                ORDER BY queued_seq LIMIT 1) AS head
            LEFT JOIN sources AS principal ON principal.queue = $1
                AND principal.principal = sources.principal AND principal.name = ''
            LEFT JOIN turns AS of_principal ON of_principal.queue = $1
                AND of_principal.priority = p.priority
                AND of_principal.principal_id = principal.id AND of_principal.source_id = 0
            LEFT JOIN turns AS of_source ON of_source.queue = $1
                AND of_source.priority = p.priority AND of_source.principal_id = principal.id
                AND of_source.source_id = sources.id
            WHERE sources.queue = $1 AND sources.name <> '' AND sources.pending > 0
            """, queue, .texts(query.presenters), .integers(query.own),
            .integers(query.except), .integer(hasButtons ? 1 : 0)
        ) { row in
            (
                priority: Int(row.integer(at: 0)),
                line: SourceLine(
                    head: row.integer(at: 1), queued: row.integer(at: 2),
                    principal: row.integer(at: 3), principalShown: row.integer(at: 4),
                    sourceShown: row.integer(at: 5))
            )
        }
        guard !lines.isEmpty else { return nil }
        let shown = Dictionary(
            try rows(
                """
                SELECT priority, seq FROM turns
                WHERE queue = $1 AND principal_id = 0 AND source_id = 0
                """, queue
            ) { (Int($0.integer(at: 0)), $0.integer(at: 1)) }, uniquingKeysWith: { $1 })
        let all = Alert.Priority.allCases.map { priority in
            PriorityLines(
                priority, lines.filter { $0.priority == priority.rawValue }.map(\.line),
                lastShown: shown[priority.rawValue] ?? 0)
        }
        return try PriorityLines.next(of: all, at: now) { try position(queue, $0) }
    }

    /// The position of an alert in the queue; `nil` if there is no such alert.
    func position(_ queue: Value, _ id: Alert.ID) throws -> QueuePosition? {
        try first(
            "SELECT \(QueuePosition.columns) FROM alerts WHERE queue = $1 AND id = $2", queue,
            .integer(id)
        ) { QueuePosition($0) }
    }

    // MARK: Lists

    /// The ids of waiting alerts, in list order: by urgency, then by age; snoozed ones last.
    func waiting(
        _ queue: Value, source: String?, orOverdue: Bool, after last: Alert.ID?, limit: Int,
        at now: ClockReading
    ) throws -> [Alert.ID] {
        let columns = """
            \(QueuePosition.columns), CASE WHEN snoozed_boot = $2
                THEN CASE WHEN snoozed_boot_ms > $3 THEN snoozed_ms END
                ELSE CASE WHEN snoozed_ms > $4 THEN snoozed_ms END END
            """
        // Those that wait are bounded. The one where a page begins may have ended meanwhile.
        let found = try run(
            Statement(
                """
                SELECT \(columns), ($5 = 1 OR expires_ms IS NULL OR CASE
                        WHEN boot = $2 AND expires_boot_ms IS NOT NULL
                        THEN expires_boot_ms > $3 ELSE expires_ms > $4 END)
                    AND ($6::text IS NULL OR source_id IN (SELECT sources.id FROM sources
                        WHERE queue = $1 AND name = $6))
                FROM alerts WHERE queue = $1 AND outcome IS NULL
                UNION ALL SELECT \(columns), false
                FROM alerts WHERE queue = $1 AND id = $7 AND outcome IS NOT NULL
                """,
                Query.moment(queue, now) + [
                    .integer(orOverdue ? 1 : 0), .optional(source), .optional(last),
                ])
        ).rows { row in
            WaitingAlert(
                position: QueuePosition(row),
                snoozedUntil: row.isNull(at: QueuePosition.Column.end)
                    ? nil : row.integer(at: QueuePosition.Column.end),
                isListed: row.optionalText(at: QueuePosition.Column.end + 1) == "t")
        }
        let start = try last.map { id throws(AlertError) in
            guard let start = found.first(where: { $0.position.id == id }) else {
                throw AlertError.notFound(id)
            }
            return start
        }
        let rest = found.filter { alert in
            alert.isListed && start.map { $0.comes(before: alert, at: now) } != false
        }
        return rest.sorted { $0.comes(before: $1, at: now) }.prefix(limit).map(\.position.id)
    }
}

/// An entry of one of several alerts, or why it is not as it was written.
private struct LinkedEntry {
    let alert: Alert.ID
    let entry: Result<AuditEntry, AlertError>

    init(_ row: borrowing Row) {
        alert = row.integer(AuditRow.Column.alertId)
        do throws(AlertError) {
            entry = .success(try AuditRow.linkedEntry(row, of: alert))
        } catch {
            entry = .failure(error)
        }
    }
}

private struct WaitingAlert {
    let position: QueuePosition
    /// When it returns; `nil` if it is not snoozed.
    let snoozedUntil: Int64?
    /// Whether it is one of those that are listed.
    let isListed: Bool

    func comes(before other: WaitingAlert, at now: ClockReading) -> Bool {
        switch (snoozedUntil, other.snoozedUntil) {
        case (nil, nil): position.comes(before: other.position, at: now)
        case (nil, _?): true
        case (_?, nil): false
        case (let end?, let otherEnd?):
            (end, position.id) < (otherEnd, other.position.id)
        }
    }
}
