import AlertCore
import Migrations
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Migration", .inParallel)
struct MigrationTests {
    @Test("A queue of the first schema is migrated when it is opened, and keeps its history")
    func first() async throws {
        let queue = try TemporaryQueue()
        let db = try Database(path: queue.path, access: .create)
        try db.execute(try #require(Migration.all.first).sql)
        try db.execute(
            """
            INSERT INTO sources (uid, name) VALUES (0, 'old');
            INSERT INTO alerts (source_id, pid, host, style, priority, title, buttons, info, salt,
                boot, asked_ms, asked_boot_ms, state)
            VALUES (1, 1, 'host', 'alert', 1, 'Old?', '[{"id":"y","title":"Y"}]', '{}',
                zeroblob(16), 'boot', 1, 1, 'resolved');
            INSERT INTO responses (alert_id, source, outcome, button, button_index, resolved_by,
                resolved_ms)
            VALUES (1, 'old', 'answered', 'y', 0, 'person', 2);
            PRAGMA application_id = \(DatabaseFile.applicationID); PRAGMA user_version = 1;
            PRAGMA journal_mode = WAL
            """)
        let store = try await queue.store()
        #expect(try queue.integer("PRAGMA user_version") == Int64(Migration.all.count))
        for filter in [
            HistoryFilter(), HistoryFilter(source: "old"), HistoryFilter(button: "y"),
            HistoryFilter(outcome: .answered, by: .person), HistoryFilter(uncollected: true),
            HistoryFilter(source: "old", button: "y", uncollected: true),
            HistoryFilter(button: "y", uncollected: true),
        ] {
            let found = try await store.history(filter, limit: 9, after: nil)
            #expect(found.map(\.alert.title) == ["Old?"], "\(filter)")
        }
        await store.close()
    }

    @Test("A source can use a key only once, and a snoozed alert is in the view")
    func keysAndView() async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let id = try await store.ask(.yesNo("Well?", key: "one")).id
        _ = try await store.snooze(id, for: nil, by: .ana)
        #expect(try queue.integer("SELECT id FROM pending WHERE snoozed_until IS NOT NULL") == id)
        let db = try queue.connection()
        try db.execute("CREATE TEMP TABLE copy AS SELECT * FROM alerts; UPDATE copy SET id = 9")
        let error = try #require(throws: SQLiteError.self) {
            try db.execute("INSERT INTO alerts SELECT * FROM copy")
        }
        #expect(error.isConstraint)
        await store.close()
    }

    @Test("The first schema's checks are still in force, without a temporary table for each row")
    func checks() async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let id = try await store.ask(.yesNo("Check?")).id
        let db = try queue.connection()
        try db.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
        func entry(_ event: String) -> String {
            """
            INSERT INTO audit (seq, at_ms, event, uid, via, host, pid, previous, hash)
            VALUES (2, 0, '\(event)', 0, 'test', 'host', 1, zeroblob(32), zeroblob(32))
            """
        }
        func response(_ outcome: String, by: String) -> String {
            """
            INSERT INTO responses (alert_id, source, outcome, button_index, resolved_by,
                resolved_ms) VALUES (\(id), 'test', '\(outcome)', -1, '\(by)', 2)
            """
        }
        for refused in [
            entry("forgotten"), response("expired", by: "nobody"), response("lost", by: "system"),
        ] {
            let error = #expect(throws: SQLiteError.self) { try db.run(refused) }
            #expect(error?.description.contains("CHECK constraint failed") == true)
        }
        for stored in [entry("erased"), response("expired", by: "system")] {
            let steps = try db.rows("EXPLAIN " + stored) { $0.text(Step.opcode) }
            #expect(!steps.contains("OpenEphemeral"), "\(stored)")
            try db.run(stored)
        }
        #expect(try db.rows("PRAGMA integrity_check") { $0.text() } == ["ok"])
        await store.close()
    }

    @Test("Every index that the history reads from exists, and finds its rows without sorting")
    func indexes() async throws {
        let queue = try TemporaryQueue()
        await (try queue.store()).close()
        let plans = try queue.connection().rows(
            """
            EXPLAIN QUERY PLAN SELECT resolved_ms, seq FROM responses
            INDEXED BY responses_source_button_kind
            WHERE outcome = ? AND resolved_by = ? AND source = ? AND button = ?
            ORDER BY resolved_ms DESC, seq DESC LIMIT ?
            """, .text("answered"), .text("person"), .text("a"), .text("b"), 1
        ) { $0.text(Plan.detail) }
        #expect(plans.count == 1)
        #expect(plans.first?.contains("USING COVERING INDEX responses_source_button_kind") == true)
    }
}

/// The columns of `EXPLAIN` up to the operation; see <https://sqlite.org/opcode.html>.
private enum Step: Int, ColumnList { case addr, opcode }

/// The columns of `EXPLAIN QUERY PLAN`; see <https://sqlite.org/eqp.html>.
private enum Plan: Int, ColumnList { case id, parent, notUsed, detail }
