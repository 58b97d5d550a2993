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
            try db.checkedCursor(head)
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

    /// See <https://sqlite.org/pragma.html#pragma_integrity_check>.
    package nonisolated(nonsending) func structuralDamage() async throws(AlertError) -> [String] {
        try await read("check the database") { try $0.structuralDamage() }
    }
}
