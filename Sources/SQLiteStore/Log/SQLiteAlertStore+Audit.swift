import AlertCore
import AlertTables
import SQLite

extension SQLiteAlertStore {
    /// Returns events after an entry, oldest first.
    ///
    /// - Parameters:
    ///   - end: The last of the entries after it that are not needed, if there are any.
    ///   - isChecked: Whether an entry that was changed is an error.
    nonisolated(nonsending) func events(
        after head: AuditHead, skippingTo end: AuditHead? = nil, limit: Int, isChecked: Bool
    ) async throws(AlertError) -> [AlertEvent] {
        try await read("read the audit log") { db in
            try db.check(head)
            var last = end ?? head
            let entries = try db.entries(after: last.sequence, of: nil, limit: limit)
            for entry in isChecked ? entries : [] {
                try entry.checkHash()
                try entry.checkLink(after: last)
                last = entry.event.cursor
            }
            return entries.map(\.event)
        }
    }

    package nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try await read("read the audit log") { db in
            let start =
                switch query.start {
                case .after(let head): try db.check(head).sequence
                case .from(let number): number.subtractingBounded(1)
                case .last(let count): try db.sequence(beforeLast: count, of: query.alert)
                }
            return try db.entries(after: start, of: query.alert, limit: query.limit)
        }
    }

    /// See <https://sqlite.org/pragma.html#pragma_integrity_check>.
    package nonisolated(nonsending) func structuralDamage() async throws(AlertError) -> [String] {
        try await read("check the database") { try $0.structuralDamage() }
    }
}

extension Database {
    /// Makes sure that the log has an entry; returns it.
    @discardableResult
    fileprivate func check(_ head: AuditHead) throws -> AuditHead {
        guard try head == .start || auditHead(at: head.sequence) == head else {
            throw AlertError.unknownCursor(head, end: try lastSequence())
        }
        return head
    }

    /// Entries with what their alerts' rows add to them, oldest first.
    fileprivate func entries(
        after sequence: Int64, of id: Alert.ID?, limit: Int
    ) throws -> [AuditEntry] {
        try rows(
            """
            SELECT \(AuditRow.columns), \(AuditRow.AlertColumn.list)
            FROM audit \(id == nil ? "NOT INDEXED" : "INDEXED BY audit_alert")
            LEFT JOIN alerts NOT INDEXED ON alerts.id = audit.alert_id
            WHERE seq > ?1 \(id == nil ? "AND ?2 IS NULL" : "AND audit.alert_id = ?2")
            ORDER BY seq LIMIT ?3
            """, .integer(sequence), .optional(id), .integer(limit)
        ) { row in
            let entry = try AuditRow.entryOfAlert(row)
            guard id == nil || entry.event.alertID == id else {
                throw AlertError.inconsistent(
                    id, "an index finds entry \(entry.event.sequence), which is not about it")
            }
            return entry
        }
    }

    /// The sequence number after which the last entries, of all alerts or of one, begin.
    fileprivate func sequence(beforeLast count: Int, of id: Alert.ID?) throws -> Int64 {
        try first(
            """
            SELECT seq FROM audit
            WHERE \(id == nil ? "?1 IS NULL" : "alert_id = ?1")
            ORDER BY seq DESC LIMIT 1 OFFSET ?2
            """, .optional(id), .integer(count)
        ) { $0.integer() } ?? 0
    }
}
