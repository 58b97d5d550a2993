import AlertCore
import AlertTables
import SQLite

// Heads of the audit log.
extension Database {
    func lastSequence() throws -> Int64 {
        try lastHead().sequence
    }

    /// The end of the audit log; ``AuditHead/start`` if it is empty.
    func lastHead() throws -> AuditHead { try logEnd().head }

    /// The end of the audit log, and the move of the queue if that entry tells of one.
    func logEnd() throws -> (head: AuditHead, move: QueueMove?) {
        try first(
            """
            SELECT seq, hash, CASE WHEN event = 'moved' AND alert_id IS NULL THEN detail END
            FROM audit NOT INDEXED ORDER BY seq DESC LIMIT 1
            """
        ) { row in
            (
                AuditHead(sequence: row.integer(at: 0), hash: row.blob(at: 1) ?? []),
                row.optionalText(at: 2).map { QueueMove(detail: $0) }
            )
        } ?? (AuditHead.start, nil)
    }

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

    func auditHead(at sequence: Int64) throws -> AuditHead? {
        try first("SELECT hash FROM audit NOT INDEXED WHERE seq = ?", .integer(sequence)) { row in
            AuditHead(sequence: sequence, hash: row.blob() ?? [])
        }
    }
}
