import AlertCore
import AlertTables
import PostgreSQL
import TextFormats

extension PostgreSQLAlertStore {
    /// Recomputes the chain, and compares alerts and responses with it, all as of one moment.
    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        try await withCancelCheck { isCancelled throws(AlertError) in
            try await readAside("verify the audit log") { [clock] tables in
                try tables.db.reading {
                    let total = Int(try tables.head().head.sequence)
                    let report = try tables.verify(expecting: head, at: clock.now()) { read in
                        guard !isCancelled() else {
                            throw AlertError.cancelled("the verification")
                        }
                        progress(read / 2, total)
                    }
                    // Entries about no alert are read once.
                    progress(total, total)
                    return report
                }
            }
        }
    }
}

extension ServerTables {
    /// Verifies the queue, of which the connection sees one state.
    ///
    /// - Parameter isRead: Called again and again, with the number of entries that were read, each
    ///   once for the chain and once for its alert; its error ends this.
    func verify(
        expecting head: AuditHead?, at now: ClockReading,
        _ isRead: (Int) throws -> Void
    ) throws -> AuditReport {
        var verification = QueueVerification(expecting: head)
        try verification.readRest(self, at: now, isRead)
        verification.add(try headFaults(verification.verifier.alerts, at: now))
        return verification.report()
    }

    /// What the row of the head says that the log and the alerts don't.
    private func headFaults(
        _ ids: GivenNumbers, at now: ClockReading
    ) throws -> [String] {
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
        guard let found else { throw Connection.noHead }
        var faults: [String] = []
        if let fault = ids.fault(ifFirst: found.first) { faults.append(fault) }
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
}
