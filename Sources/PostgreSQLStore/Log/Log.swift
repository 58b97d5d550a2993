#if PostgreSQL
    import AlertCore
    import AlertTables
    import PostgreSQL
    import TextFormats

    extension PostgreSQLAlertStore {
        package nonisolated(nonsending) func entries(
            _ query: LogQuery
        ) async throws(AlertError) -> [AuditEntry] {
            try await read("read the audit log") { db, queue in
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
                    LEFT JOIN alerts ON alerts.queue = audit.queue AND alerts.id = audit.alert_id
                    WHERE audit.queue = $1 AND seq > $2
                        AND ($3::bigint IS NULL OR audit.alert_id = $3)
                    ORDER BY seq LIMIT $4
                    """, queue, .integer(start), .optional(query.alert), .integer(query.limit)
                ) { try AuditRow.entryOfAlert($0) }
            }
        }

        /// Recomputes the chain, and compares alerts and responses with it, all as of one moment.
        package nonisolated(nonsending) func verify(
            expecting head: AuditHead?,
            _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
        ) async throws(AlertError) -> AuditReport {
            try await withCancelCheck { isCancelled throws(AlertError) in
                try await read("verify the audit log", aside: true) { [clock] db, queue in
                    try db.reading {
                        try Verification(db, queue, clock.now(), isCancelled, progress)
                            .report(expecting: head)
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

        init(
            _ db: Connection, _ queue: Value, _ now: ClockReading,
            _ isCancelled: @escaping () -> Bool,
            _ progress: @escaping (_ done: Int, _ total: Int) -> Void
        ) {
            (self.db, self.queue, self.now) = (db, queue, now)
            (self.isCancelled, self.progress) = (isCancelled, progress)
        }

        func report(expecting head: AuditHead?) throws -> AuditReport {
            var verifier = AuditVerifier(expecting: head)
            let end = try db.head(queue).head
            try addEntries(to: &verifier, upTo: Int(end.sequence))
            try addAlerts(to: &verifier)
            for fault in try sourceFaults() { verifier.add(fault) }
            let ids = try db.first(
                """
                SELECT first_id, last_id, seq, hash, at_ms,
                    (SELECT coalesce(max(id), 0) FROM alerts WHERE queue = $1)
                FROM heads WHERE queue = $1
                """, queue
            ) { row in
                (
                    first: row.integer(at: 0), last: row.integer(at: 1),
                    head: AuditHead(sequence: row.integer(at: 2), hash: row.blob(at: 3) ?? []),
                    time: row.integer(at: 4), newest: row.integer(at: 5)
                )
            }
            if let ids {
                let logged = verifier.alerts.start ?? 1
                if ids.first != logged {
                    verifier.add(
                        "the next alert would have at least the number \(ids.first), but the log "
                            + "says \(logged)")
                }
                if ids.last != ids.newest {
                    verifier.add(
                        "the queue says that its newest alert is \(ids.last), but that is "
                            + "\(ids.newest)")
                }
                let newest = try db.first(
                    "SELECT seq, hash, at_ms FROM audit WHERE queue = $1 ORDER BY seq DESC LIMIT 1",
                    queue
                ) { row in
                    (
                        head: AuditHead(sequence: row.integer(at: 0), hash: row.blob(at: 1) ?? []),
                        time: row.integer(at: 2)
                    )
                }
                if ids.head != newest?.head ?? .start {
                    verifier.add("the head of the queue is not the last entry of its log")
                }
                if let newest, ids.time < newest.time {
                    verifier.add("the head of the queue is older than the last entry of its log")
                }
            }
            verifier.end()
            return verifier.report
        }

        private func addEntries(to verifier: inout AuditVerifier, upTo total: Int) throws {
            let input = HashInput()
            try db.visit(
                Statement(
                    "SELECT \(AuditRow.columns) FROM audit WHERE queue = $1 ORDER BY seq", queue)
            ) { row in
                guard !isCancelled() else { throw AlertError.cancelled("the verification") }
                if let entry = try? AuditRow.entry(row) {
                    verifier.add(LoggedEntry(entry, input))
                } else {
                    verifier.add(LoggedEntry(unreadable: AuditRow.head(row)))
                }
                progress(Int(verifier.report.entries) / 2, total)
                return true
            }
        }

        /// Adds what is found about each alert, and about those that only the log knows.
        private func addAlerts(to verifier: inout AuditVerifier) throws {
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
                            alert.map { (row: $0, faults: $0.formFaults(row)) }
                        )
                    }, uniquingKeysWith: { $1 })
                for trail in trails {
                    let faults: [AlertFault]
                    switch found[trail.id] {
                    case .some(.some(let found)):
                        let alert = found.row.alert.withContent
                        faults =
                            found.faults.map { AlertFault($0) } + trail.faults(of: alert)
                            + trail.laterFaults(of: alert, at: now)
                    case .some(.none): faults = [AlertFault("can't be understood")]
                    case .none: faults = trail.faultsWithoutAlert
                    }
                    verifier.add(faults.map { $0.problem(of: trail.id) })
                }
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

        /// The sources and accounts that count other numbers of waiting alerts than their rows have.
        private func sourceFaults() throws -> [String] {
            try db.rows(
                """
                WITH counts AS (SELECT source_id, count(*) AS waiting FROM alerts
                    WHERE queue = $1 AND outcome IS NULL GROUP BY source_id),
                own AS (SELECT sources.*, coalesce(counts.waiting, 0) AS waiting FROM sources
                    LEFT JOIN counts ON source_id = id WHERE queue = $1)
                SELECT name, uid, host, pending, waiting FROM (
                    SELECT id, name, uid, host, pending, CASE WHEN name = ''
                        THEN sum(waiting) OVER (PARTITION BY uid, host) ELSE waiting END AS waiting
                    FROM own) AS counted
                WHERE pending <> waiting ORDER BY id LIMIT 100
                """, queue
            ) { row in
                let host = row.optionalText(at: 2) ?? ""
                return "the source “\(row.optionalText(at: 0) ?? "")” of uid \(row.integer(at: 1))"
                    + (host.isEmpty ? "" : " of \(host)")
                    + " counts \(row.integer(at: 3)) waiting alerts, but has \(row.integer(at: 4))"
            }
        }
    }
#endif
