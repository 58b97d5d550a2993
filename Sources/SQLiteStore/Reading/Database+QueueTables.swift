import AlertCore
import AlertTables
import SQLite

extension Database: QueueTables {
    package var query: Query { .ofFile }

    package func rows<Found: TableRow>(
        _ statement: Statement, as type: Found.Type
    ) throws -> [Found] {
        try rows(statement.sql, statement.values) { try Found($0) }
    }

    package func first<Found: TableRow>(
        _ statement: Statement, as type: Found.Type
    ) throws -> Found? {
        try first(statement.sql, statement.values) { try Found($0) }
    }

    package func collect<Collector: RowCollector>(
        _ statement: Statement, into collector: inout Collector
    ) throws {
        try forEach(statement.sql, statement.values) { try collector.add($0) }
    }

    package func with(_ needed: [Statement]) -> Self { self }
}

extension Database {
    func lastSequence() throws -> Int64 { try lastHead().sequence }

    /// The end of the audit log; ``AuditHead/start`` if it is empty.
    func lastHead() throws -> AuditHead { try logEnd().head }

    /// Whether the last entry of the log is what its hash says; an empty log is intact.
    func isLastEntryIntact() throws -> Bool {
        do {
            return try first(
                "SELECT \(AuditRow.columns) FROM audit NOT INDEXED ORDER BY seq DESC LIMIT 1"
            ) { try AuditRow.entry($0) }.map { $0.computedHash == $0.hash } ?? true
        } catch AlertError.inconsistent {
            return false
        }
    }

    /// The highest id that was assigned, or that a restore has skipped.
    func lastID() throws -> Alert.ID {
        let found = try first("SELECT max(id) FROM alerts") { $0.integer() }
        return max(found ?? 0, try upkeep().firstID.subtractingBounded(1))
    }

    /// The last id that was assigned, and the lowest after it that an entry is about.
    func lastIDs() throws -> (last: Alert.ID, recorded: Alert.ID?) {
        let last = try lastID()
        let recorded = try first(
            "SELECT min(alert_id) FROM audit INDEXED BY audit_alert WHERE alert_id > ?",
            .integer(last)
        ) { $0.optionalInteger() }
        return (last, recorded ?? nil)
    }
}
