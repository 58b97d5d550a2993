import AlertCore
import AlertTables
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// A foreign index that still contains the earlier contents of its table.
@Suite("Verifying with a foreign index", .inParallel)
struct FrozenIndexTests {
    static let forgeries: [(table: String, columns: String, script: String)] = [
        ("audit", AuditRow.columns, "UPDATE audit SET user = 'eve' WHERE event = 'resolved'"),
        (
            "alerts", "id, title, buttons, salt, style, default_button, priority, key",
            "UPDATE alerts SET title = 'Another?' WHERE id = 6"
        ),
        (
            "alerts", "id, outcome, button_index, resolved_by, resolved_ms, resolved_seq",
            "UPDATE alerts SET button_index = 1 WHERE id = 1"
        ),
    ]

    @Test("The table is verified, and not the stale contents of an index", arguments: forgeries)
    func frozen(table: String, columns: String, script: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let db = try log.queue.connection()
        db.setDefensive(false)
        db.setTriggers(areOn: false)
        let names = columns.replacing("audit.", with: "")
        try db.execute("CREATE INDEX frozen ON \(table) (\(names)); ANALYZE frozen")
        // The statistics claim that the index is tiny and finds one row for any condition.
        let count = names.split(separator: ",").count
        try db.run(
            "UPDATE sqlite_stat1 SET stat = ? WHERE idx = 'frozen'",
            .text("9999" + String(repeating: " 1", count: count) + " sz=1"))
        try #require(try await log.store.verify(expecting: nil).problems.isEmpty)
        // For a moment the index contains no rows.
        let thaw = "replace(sql, ' WHERE 0', '')"
        for (change, script) in [("sql || ' WHERE 0'", script), (thaw, "")] {
            try db.execute(
                """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = \(change) WHERE name = 'frozen';
                PRAGMA writable_schema = RESET;
                \(script)
                """)
        }
        #expect(try await !log.store.verify(expecting: nil).problems.isEmpty)
        await log.store.close()
    }
}
