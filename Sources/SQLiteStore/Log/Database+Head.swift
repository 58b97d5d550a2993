import AlertCore
import SQLite

// Ends of the audit log.
extension Database {
    func lastSequence() throws -> Int64 {
        try lastHead().sequence
    }

    /// The end of the audit log, ``AuditHead/start`` for an empty one.
    func lastHead() throws -> AuditHead {
        try first("SELECT seq, hash FROM audit NOT INDEXED ORDER BY seq DESC LIMIT 1") { row in
            AuditHead(sequence: row.integer(0), hash: row.blob(1) ?? [])
        } ?? AuditHead.start
    }

    func auditHead(at sequence: Int64) throws -> AuditHead? {
        try first("SELECT hash FROM audit NOT INDEXED WHERE seq = ?", .integer(sequence)) { row in
            AuditHead(sequence: sequence, hash: row.blob(0) ?? [])
        }
    }
}
