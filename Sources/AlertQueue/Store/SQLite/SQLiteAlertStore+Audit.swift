import FoundationEssentials
import SQLite
import Synchronization

extension SQLiteAlertStore {
    /// Events after a sequence number, oldest first.
    ///
    /// - Parameter isChecked: Whether an entry that was changed is an error.
    nonisolated(nonsending) func events(
        after sequence: Int64, limit: Int, isChecked: Bool
    ) async throws(AlertError) -> [AlertEvent] {
        try await read("read the audit log") { db in
            var last = try sequence == 0 ? .start : db.auditHead(at: sequence)
            return try db.rows(
                """
                SELECT \(AuditRow.columns), alerts.title, alerts.key FROM audit NOT INDEXED
                LEFT JOIN alerts NOT INDEXED ON alerts.id = audit.alert_id
                WHERE seq > ? ORDER BY seq LIMIT ?
                """,
                .integer(max(0, sequence)), .integer(limit)
            ) { row in
                let entry = try AuditRow.entryOfAlert(row)
                guard isChecked else { return entry.event }
                try entry.checkHash()
                if let last { try entry.checkPlace(after: last) }
                last = AuditHead(sequence: entry.event.sequence, hash: entry.hash)
                return entry.event
            }
        }
    }

    package nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try await read("read the audit log") { db in
            let id = query.alert
            let sequence =
                switch query.start {
                case .after(let sequence): sequence
                case .last(let count): try db.sequence(beforeLast: count, of: id)
                }
            return try db.rows(
                """
                SELECT \(AuditRow.columns), alerts.title, alerts.key,
                    CASE WHEN audit.button_index >= 0 THEN buttons END
                FROM audit \(id == nil ? "NOT INDEXED" : "INDEXED BY audit_alert")
                LEFT JOIN alerts NOT INDEXED ON alerts.id = audit.alert_id
                WHERE seq > ?1 \(id == nil ? "AND ?2 IS NULL" : "AND audit.alert_id = ?2")
                ORDER BY seq LIMIT ?3
                """, .integer(sequence), .optional(id), .integer(query.limit)
            ) { row in
                var entry = try AuditRow.entryOfAlert(row)
                guard id == nil || entry.event.alertID == id else {
                    throw AlertError.inconsistent(
                        id, "an index finds entry \(entry.event.sequence), which is not about it")
                }
                entry.button = row.optionalText(AuditRow.count + 2).flatMap {
                    StoredJSON.buttonID(at: entry.event.buttonIndex ?? -1, in: $0)
                }
                return entry
            }
        }
    }

    /// See <https://sqlite.org/pragma.html#pragma_integrity_check>.
    package nonisolated(nonsending) func structuralDamage() async throws(AlertError) -> [String] {
        try await read("check the database") { try $0.structuralDamage() }
    }

    /// Recomputes the chain, and compares alerts and responses with what it says of them.
    ///
    /// It reads in short transactions, so that a long log does not keep the write-ahead log from
    /// being reused meanwhile. Where the quick check finds that all is well, that is the report;
    /// else the careful one finds out what is not.
    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        // An error is the careful check's to tell, like any other trouble.
        if let report = try? await quickAuditReport(expecting: head, progress) { return report }
        let total = Int(try await read("read the audit log") { try $0.lastSequence() })
        let careful = CarefulCheck(expecting: head)
        var isDone = false
        while !isDone {
            guard !Task.isCancelled else { throw .busy("the verification was cancelled") }
            progress(Int(careful.report.entries), total)
            isDone = try await read("verify the audit log") { try careful.readPage($0) }
        }
        return try await read("verify the audit log") { [clock] db in
            try careful.finish(db, at: clock.now())
        }
    }
}

/// A careful check that several reads go on with, without a copy of what it keeps.
private final class CarefulCheck: Sendable {
    private let check: Mutex<AuditCheck>

    init(expecting head: AuditHead?) {
        check = Mutex(AuditCheck(expecting: head))
    }

    var report: AuditReport { check.withLock { $0.report } }

    func readPage(_ db: Database) throws -> Bool {
        try check.withLock { try $0.readPage(db) }
    }

    func finish(_ db: Database, at now: ClockReading) throws -> AuditReport {
        try check.withLock { check in
            try check.finish(db, at: now)
            return check.report
        }
    }
}

extension Database {
    /// The sequence number after which the last entries begin, of all or of one alert.
    fileprivate func sequence(beforeLast count: Int, of id: Alert.ID?) throws -> Int64 {
        try first(
            """
            SELECT seq FROM audit
            WHERE \(id == nil ? "?1 IS NULL" : "alert_id = ?1")
            ORDER BY seq DESC LIMIT 1 OFFSET ?2
            """, .optional(id), .integer(count)
        ) { $0.integer(0) } ?? 0
    }
}

/// Reads the rows of the audit log.
enum AuditRow {
    static let columns = """
        audit.seq, at_ms, event, audit.alert_id, audit.source, audit.outcome, audit.button_index, \
        button_role, audit.resolved_by, audit.uid, audit.user, login_uid, session, audit.via, \
        audit.tty, audit.ssh, audit.host, audit.pid, content, detail, previous, hash
        """
    /// How many columns these are.
    static let count: Int32 = 22

    /// Reads an entry whose row goes on with its alert's title and key.
    static func entryOfAlert(_ row: borrowing Row) throws -> AuditEntry {
        var entry = try entry(row)
        entry.event.title = row.optionalText(count)
        entry.event.key = row.optionalText(count + 1)
        return entry
    }

    /// Reads an entry as it was written.
    ///
    /// A word or a number that no entry can have is an error: read as if it were absent or
    /// smaller, a forged entry would have the hash of the one that it was made of.
    static func entry(_ row: borrowing Row) throws -> AuditEntry {
        guard let kind = AlertEvent.Kind(rawValue: row.text(2)) else {
            throw unknown("event", row, 2)
        }
        return AuditEntry(
            event: AlertEvent(
                sequence: row.integer(0), kind: kind,
                at: Timestamp.date(milliseconds: row.integer(1)),
                alertID: row.optionalInteger(3), source: row.optionalText(4),
                outcome: try word(Outcome.self, "outcome", row, 5),
                buttonIndex: row.optionalInteger(6).map { Int($0) },
                by: try word(ResolvedBy.self, "resolver", row, 8),
                responder: Responder(
                    uid: try number(UInt32.self, "uid", row, 9) ?? 0, user: row.optionalText(10),
                    via: row.text(13), tty: row.optionalText(14), ssh: row.optionalText(15),
                    host: row.text(16), pid: try number(Int32.self, "pid", row, 17) ?? 0)),
            buttonRole: try word(Alert.Button.Role.self, "role", row, 7),
            loginUID: try number(UInt32.self, "login uid", row, 11),
            session: try number(UInt32.self, "session", row, 12),
            content: row.blob(18), detail: row.optionalText(19), previous: row.blob(20) ?? [],
            hash: row.blob(21) ?? [])
    }

    private static func word<Word: RawRepresentable<String>>(
        _ type: Word.Type, _ what: String, _ row: borrowing Row, _ column: Int32
    ) throws -> Word? {
        guard let text = row.optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw unknown(what, row, column) }
        return word
    }

    private static func number<Number: FixedWidthInteger>(
        _ type: Number.Type, _ what: String, _ row: borrowing Row, _ column: Int32
    ) throws -> Number? {
        guard let integer = row.optionalInteger(column) else { return nil }
        guard let number = Number(exactly: integer) else { throw unknown(what, row, column) }
        return number
    }

    private static func unknown(
        _ what: String, _ row: borrowing Row, _ column: Int32
    ) -> AlertError {
        .inconsistent(
            row.optionalInteger(3),
            "the \(what) “\(SafeText.line(row.text(column)))” of entry \(row.integer(0)) is unknown"
        )
    }
}
