import AlertCore
import AlertTables
import PostgreSQL
import TextFormats

extension PostgreSQLAlertStore {
    package nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try await read("read the audit log") { [hosts] db, queue in
            let start =
                switch query.start {
                case .after(let head): try db.check(head, queue).sequence
                case .from(let number): number.subtractingBounded(1)
                case .last(let count):
                    try db.first(
                        """
                        SELECT seq FROM audit
                        WHERE queue = $1 AND ($2::bigint IS NULL OR alert_id = $2)
                        ORDER BY seq DESC LIMIT 1 OFFSET $3
                        """, queue, .optional(query.alert), .integer(count)
                    ) { $0.integer() } ?? 0
                }
            return try db.rows(
                """
                SELECT \(AuditRow.columns), \(AuditRow.AlertColumn.list) FROM audit
                LEFT JOIN LATERAL (SELECT * FROM alerts
                    WHERE alerts.queue = audit.queue AND alerts.id = audit.alert_id LIMIT 1)
                    AS alerts ON true
                WHERE audit.queue = $1 AND seq > $2
                    AND ($3::bigint IS NULL OR audit.alert_id = $3)
                ORDER BY seq LIMIT $4
                """, queue, .integer(start), .optional(query.alert), .integer(query.limit)
            ) { hosts.shown(try AuditRow.entryOfAlert($0)) }
        }
    }

    /// Recomputes the chain, and compares alerts and responses with it, all as of one moment.
    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        try await withCancelCheck { isCancelled throws(AlertError) in
            try await readAside("verify the audit log") { [clock] db, queue in
                try db.reading {
                    var verification = Verification(
                        db, queue, clock.now(), isCancelled, progress)
                    return try verification.report(expecting: head)
                }
            }
        }
    }
}

extension Connection {
    /// Makes sure that the log has an entry; returns it.
    fileprivate func check(_ head: AuditHead, _ queue: Value) throws -> AuditHead {
        guard head != .start else { return head }
        let found = try run(Query.entryHash(queue, head.sequence)).first { $0.blob() ?? [] }
        guard found == head.hash else {
            throw AlertError.unknownCursor(head, end: try self.head(queue).head.sequence)
        }
        return head
    }
}

/// A verification of a queue, on a connection that sees one state of it.
struct Verification {
    let db: Connection
    let queue: Value
    let now: ClockReading
    let isCancelled: () -> Bool
    let progress: (_ done: Int, _ total: Int) -> Void
    /// The number of entries, and how many were read: each once for the chain and once for its alert.
    private var (total, entriesRead) = (0, 0)

    init(
        _ db: Connection, _ queue: Value, _ now: ClockReading,
        _ isCancelled: @escaping () -> Bool,
        _ progress: @escaping (_ done: Int, _ total: Int) -> Void
    ) {
        (self.db, self.queue, self.now) = (db, queue, now)
        (self.isCancelled, self.progress) = (isCancelled, progress)
    }

    mutating func report(expecting head: AuditHead?) throws -> AuditReport {
        var verifier = AuditVerifier(expecting: head)
        total = Int(try db.head(queue).head.sequence)
        try addEntries(to: &verifier)
        try addAlerts(to: &verifier)
        // Entries about no alert are read once.
        progress(total, total)
        for fault in try sourceFaults() { verifier.add(fault) }
        let named = try db.rows(NamedEntries.query(in: "$1"), queue) { NamedEntries.fault($0) }
        for fault in named { verifier.add(fault) }
        for fault in try headFaults(verifier.alerts) { verifier.add(fault) }
        verifier.end()
        return verifier.report
    }

    /// What the row of the head says that the log and the alerts don't.
    private func headFaults(_ ids: GivenNumbers) throws -> [String] {
        let found = try db.first(
            """
            SELECT heads.seq, heads.hash, heads.at_ms, first_id, last_id,
                (SELECT coalesce(max(id), 0) FROM alerts WHERE queue = $1),
                audit.seq, audit.hash, audit.at_ms, offset_ms,
                (SELECT detail FROM audit WHERE queue = $1 AND event = 'clock'
                    ORDER BY seq DESC LIMIT 1)
            FROM heads LEFT JOIN (SELECT seq, hash, at_ms FROM audit
                WHERE queue = $1 ORDER BY seq DESC LIMIT 1) AS audit ON true
            WHERE queue = $1
            """, queue
        ) { row in
            (
                known: AuditHead(row, at: 0), time: row.integer(at: 2),
                first: row.integer(at: 3),
                last: row.integer(at: 4), newest: row.integer(at: 5),
                head: AuditHead(row, at: 6), lastTime: row.integer(at: 8),
                offset: row.integer(at: 9), step: row.optionalText(at: 10)
            )
        }
        guard let found else { throw AlertError.inconsistent(nil, "the queue has no head") }
        var faults: [String] = []
        let logged = ids.start ?? 1
        if found.first != logged {
            faults.append(
                "the next alert would have at least the number \(found.first), but the log says "
                    + "\(logged)")
        }
        if found.last != found.newest {
            faults.append(
                "the queue says that its newest alert is \(found.last), but that is "
                    + "\(found.newest)")
        }
        if found.known != found.head {
            faults.append("the head of the queue is not the last entry of its log")
        }
        let step = found.step.flatMap { EntryDetail($0, of: .clock, nil) }
        let offset = if case .clock(_, let offset)? = step { offset } else { Int64(0) }
        if found.offset != offset {
            faults.append(
                "the queue's time is \(found.offset) ms ahead of the server's clock, but the log "
                    + "says \(offset)")
        }
        if found.time < found.lastTime {
            faults.append("the head of the queue is older than the last entry of its log")
        }
        // The next transaction can't be earlier, and deadlines would pass. That of the last
        // transaction may be ahead of a new server's clock, if only the end of a snooze was
        // stored in it.
        let latest = max(found.lastTime, now.wallMilliseconds.addingBounded(60_000))
        if found.time > latest {
            faults.append("the head of the queue is later than the server's clock and its log")
        }
        return faults
    }

    private mutating func addEntries(to verifier: inout AuditVerifier) throws {
        let input = HashInput()
        try db.visit(
            Statement(
                "SELECT \(AuditRow.columns) FROM audit WHERE queue = $1 ORDER BY seq", queue)
        ) { row in
            guard !isCancelled() else { throw AlertError.cancelled("the verification") }
            if let entry = try? AuditRow.entry(row) {
                var logged = LoggedEntry(entry, input)
                if entry.event.kind == .erased { logged.erasures = try erasures(entry) }
                verifier.add(logged)
            } else {
                verifier.add(LoggedEntry(unreadable: AuditRow.head(row)))
            }
            didRead(1)
            return true
        }
    }

    private mutating func didRead(_ count: Int) {
        let before = entriesRead / 2
        entriesRead += count
        if entriesRead / 2 > before { progress(entriesRead / 2, total) }
    }

    /// The alerts that an erasure names, each with the entry that it names itself.
    private func erasures(_ entry: AuditEntry) throws -> [LoggedEntry.Erasure] {
        try entry.erasedAlerts?.ranges.flatMap { range in
            try db.rows(
                """
                SELECT id, erased_seq FROM alerts
                WHERE queue = $1 AND id BETWEEN $2 AND $3 ORDER BY id
                """, queue, .integer(range.lowerBound), .integer(range.upperBound)
            ) { row in
                LoggedEntry.Erasure(
                    id: row.integer(at: 0),
                    sequence: row.isNull(at: 1) ? nil : row.integer(at: 1))
            }
        } ?? []
    }

    /// Adds what is found about each alert, and about those that only the log knows.
    private mutating func addAlerts(to verifier: inout AuditVerifier) throws {
        var trails: [AlertTrail] = []
        var start: Int64?
        repeat {
            guard !isCancelled() else { throw AlertError.cancelled("the verification") }
            (trails, start) = try self.trails(from: start)
            let found = Dictionary(
                try db.run(Query.alerts(queue, trails.map(\.id))).rows { row in
                    let alert = try? AlertRow(row)
                    return (
                        row.integer(AlertRow.Column.id),
                        alert.map { (alert: $0.alert, faults: $0.formFaults(row)) }
                    )
                }, uniquingKeysWith: { $1 })
            for trail in trails {
                let faults: [AlertFault]
                switch found[trail.id] {
                case .some(.some(let found)):
                    faults = trail.allFaults(of: found.alert, form: found.faults, at: now)
                case .some(.none), .none: faults = trail.faultsWithoutAlert
                }
                verifier.add(faults.map { $0.problem(of: trail.id) })
            }
            didRead(trails.reduce(0) { $0 + $1.count })
        } while start != nil
    }

    /// The trails of the next alerts, those that only the log or only the table has included.
    private func trails(from start: Int64?) throws -> ([AlertTrail], next: Int64?) {
        let length = 500
        let ids = try db.rows(
            """
            SELECT id FROM (
                (SELECT id FROM alerts WHERE queue = $1 AND id > $2 ORDER BY id LIMIT $3)
                UNION
                (SELECT DISTINCT alert_id FROM audit WHERE queue = $1 AND alert_id > $2
                    ORDER BY alert_id LIMIT $3)) AS ids ORDER BY id LIMIT $3
            """, queue, .integer(start ?? .min), .integer(length)
        ) { $0.integer() }
        var trails = Dictionary(
            ids.map { ($0, AlertTrail(of: $0)) }, uniquingKeysWith: { $1 })
        try db.visit(
            Statement(
                """
                SELECT \(AuditRow.columns) FROM audit
                WHERE queue = $1 AND alert_id = ANY ($2::bigint[]) ORDER BY seq
                """, queue, .integers(ids))
        ) { row in
            if let entry = try? AuditRow.entry(row), let id = entry.event.alertID {
                trails[id]?.add(entry)
            }
            return true
        }
        let erasures = try db.rows(
            """
            SELECT id, erased_seq, (SELECT detail FROM audit WHERE audit.queue = alerts.queue
                AND audit.seq = erased_seq AND event = 'erased')
            FROM alerts WHERE queue = $1 AND id = ANY ($2::bigint[]) AND erased_seq IS NOT NULL
            """, queue, .integers(ids)
        ) { ($0.integer(at: 0), $0.integer(at: 1), $0.optionalText(at: 2)) }
        for (id, sequence, detail) in erasures
        where ErasedAlerts(detail: detail)?.contains(id) == true {
            trails[id]?.addErasure(by: sequence)
        }
        return (ids.compactMap { trails[$0] }, ids.count == length ? ids.last : nil)
    }

    private func sourceFaults() throws -> [String] {
        var counts = SourceCounts()
        try db.visit(
            Statement(
                """
                SELECT \(SourceCounts.Column.list) FROM sources LEFT JOIN (
                    SELECT source_id, count(*) AS waiting FROM alerts
                    WHERE queue = $1 AND outcome IS NULL GROUP BY source_id) AS counts
                ON source_id = id WHERE queue = $1 ORDER BY id
                """, queue)
        ) { row in
            counts.add(row)
            return true
        }
        return counts.faults
    }
}
