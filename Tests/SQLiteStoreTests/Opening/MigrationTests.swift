import AlertCore
import Foundation
import Glibc
import Linux
import Migrations
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Migration", .inParallel)
struct MigrationTests {
    /// A second step, which only these tests know: a table with what was asked, and the guard.
    private static let second = Migration(
        2, "count_more",
        sql: """
            CREATE TABLE more (id INTEGER PRIMARY KEY, title TEXT) STRICT;
            INSERT INTO more SELECT id, title FROM alerts;
            DROP TRIGGER audit_needs_this_version;
            CREATE TRIGGER audit_needs_this_version BEFORE INSERT ON audit
                WHEN NOT \(Migration.versionGuard) (2)
            BEGIN SELECT RAISE (ABORT, 'this queue needs a newer alertq'); END
            """)

    private static func migrate(_ path: String, by step: Migration = second) throws {
        let db = try Database(path: path)
        try SchemaMigration(db: db, path: path, steps: Migration.all + [step]).run()
    }

    /// A queue in which one alert was answered.
    private func answered() async throws -> (queue: TemporaryQueue, head: AuditHead?) {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        try await store.answer(try await store.ask(.yesNo("Old?")).id, 0)
        let head = try await store.auditHead()
        await store.close()
        return (queue, head)
    }

    @Test("A queue gets the step that it lacks, once, and keeps its rows, its log and its mark")
    func second() async throws {
        let (queue, head) = try await answered()
        let id = try queue.integer("PRAGMA application_id")
        #expect(try queue.integer("PRAGMA user_version") == 1)
        for _ in 1...2 {
            try Self.migrate(queue.path)
            #expect(try queue.integer("PRAGMA user_version") == 2)
            #expect(try queue.integer("SELECT count(*) FROM more WHERE title = 'Old?'") == 1)
            #expect(try queue.integer("SELECT button_index FROM alerts") == 0)
            #expect(try queue.integer("PRAGMA application_id") == id)
            #expect(try queue.connection().lastHead() == head)
        }
    }

    @Test("A queue that a newer version has migrated is refused, and not touched")
    func newer() async throws {
        let (queue, head) = try await answered()
        try Self.migrate(queue.path)
        let error = await thrown { try await queue.store() }
        #expect(error?.kind == "incompatible")
        #expect(error?.description.contains("newer version of alertq (schema 2") == true)
        #expect(try queue.integer("PRAGMA user_version") == 2)
        #expect(try queue.connection().lastHead() == head)
    }

    @Test("A program that has the file open while it is migrated can no longer write")
    func openMeanwhile() async throws {
        let (queue, head) = try await answered()
        let store = try await queue.store()
        let older = try queue.connection()
        try older.defineVersionGuard(Migration.versionGuard, upTo: 1)
        let entries = try older.lastSequence()
        let entry = """
            INSERT INTO audit (seq, at_ms, event, principal, via, host, boot, pid, previous, hash)
            VALUES (\(entries + 1), 0, 'seen', 0, 'test', 'host', 'boot', 1, zeroblob(32), zeroblob(32))
            """
        try Self.migrate(queue.path)
        let error = #expect(throws: SQLiteError.self) { try older.run(entry) }
        #expect(error?.description.contains("needs a newer alertq") == true)
        #expect(await thrown { try await store.ask(.yesNo()) }?.kind == "incompatible")
        #expect(try older.lastHead() == head)
        // The entry is refused for no other reason.
        try older.defineVersionGuard(Migration.versionGuard, upTo: 2)
        try older.run(entry)
        await store.close()
    }

    @Test("A program without the guard's function can't write either")
    func withoutGuard() async throws {
        let (queue, _) = try await answered()
        let stranger = try queue.connection()
        let error = #expect(throws: SQLiteError.self) {
            try stranger.run(
                """
                INSERT INTO audit (seq, at_ms, event, principal, via, host, boot, pid, previous, hash)
                VALUES (3, 0, 'seen', 0, 'test', 'host', 'boot', 1, zeroblob(32), zeroblob(32))
                """)
        }
        #expect(error?.description.contains("needs_a_newer_alertq") == true)
    }

    @Test("A queue is migrated only if its schema is that of its version")
    func beforeMigrating() async throws {
        for (script, name) in [
            ("SELECT 1", nil), ("CREATE TABLE notes (id)", nil),
            ("CREATE TRIGGER t AFTER UPDATE ON alerts BEGIN SELECT 1; END", "“t”"),
            ("DROP TRIGGER alerts_stay", "“alerts_stay”"),
        ] {
            let (queue, _) = try await answered()
            try queue.connection().execute(script)
            if let name {
                let error = #expect(throws: AlertError.self) { try Self.migrate(queue.path) }
                #expect(error?.kind == "inconsistent", "\(script)")
                #expect(error?.description.contains(name) == true, "\(script)")
            } else {
                try Self.migrate(queue.path)
            }
            let version = try queue.integer("PRAGMA user_version")
            #expect(version == (name == nil ? 2 : 1), "\(script)")
        }
    }

    @Test("Setting an earlier version number does not start a migration")
    func numberSetBack() async throws {
        let (queue, _) = try await answered()
        try Self.migrate(queue.path)
        try queue.connection().execute("PRAGMA user_version = 1")
        let error = #expect(throws: AlertError.self) { try Self.migrate(queue.path) }
        #expect(error?.kind == "inconsistent")
        #expect(try queue.integer("PRAGMA user_version") == 1)
        #expect(await thrown { try await queue.store() }?.kind == "inconsistent")
    }

    @Test("A known queue whose schema is another one's is no longer that queue")
    func replacedByAnotherSchema() async throws {
        let (queue, last) = try await answered()
        let head = try #require(last)
        try queue.connection().execute("PRAGMA user_version = 0")
        let file = DatabaseFile(files: try QueueFiles(database: queue.path))
        let known = #expect(throws: AlertError.self) {
            try file.openExisting(continuing: head)
        }
        #expect(known?.description.contains("is no longer the queue that was opened") == true)
        let unknown = #expect(throws: AlertError.self) {
            try file.openExisting(continuing: .start)
        }
        #expect(unknown?.description.contains("older version of alertq (schema 0") == true)
    }

    @Test("A step that fails changes nothing")
    func failing() async throws {
        let (queue, head) = try await answered()
        let step = Migration(2, "fail", sql: Self.second.sql + "; INSERT INTO nowhere VALUES (1)")
        #expect(throws: SQLiteError.self) { try Self.migrate(queue.path, by: step) }
        try await isAsBefore(queue, head)
    }

    @Test("A process that is killed in the middle of a step has changed nothing")
    func killed() async throws {
        let (queue, head) = try await answered()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = queue.path as String] in
            // It ends only by the signal, when pages of it are already in the log.
            let step = Migration(
                2, "endless",
                sql: Self.second.sql + """
                    ; PRAGMA cache_size = 10;
                    INSERT INTO more (title)
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                        SELECT hex(randomblob(1000)) FROM n
                    """)
            Thread.detachNewThread {
                while FileIdentity.size(of: path + "-wal") < 1 << 20 { usleep(1000) }
                kill(getpid(), SIGKILL)
            }
            try Self.migrate(path, by: step)
        }
        let log = try #require(FileIdentity(path: queue.path + "-wal")?.size)
        #expect(log >= 1 << 20)
        try await isAsBefore(queue, head)
        try Self.migrate(queue.path)
        #expect(try queue.integer("SELECT count(*) FROM more") == 1)
    }

    /// A queue of the first schema, in which everything works.
    private func isAsBefore(_ queue: TemporaryQueue, _ head: AuditHead?) async throws {
        #expect(try queue.integer("PRAGMA user_version") == 1)
        let store = try await queue.store()
        let report = try await store.verify(expecting: head)
        #expect(report.problems.isEmpty && report.head == head)
        #expect(try await store.structuralDamage() == [])
        #expect(try await store.record(1).response?.buttonIndex == 0)
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
        try db.execute(
            """
            DROP TRIGGER alerts_come_once;
            CREATE TEMP TABLE copy AS SELECT * FROM alerts; UPDATE copy SET id = 9
            """)
        let error = try #require(throws: SQLiteError.self) {
            try db.execute("INSERT INTO alerts SELECT * FROM copy")
        }
        #expect(error.isConstraint)
        await store.close()
    }

    @Test("The schema's checks are in force, without a temporary table for each row")
    func checks() async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let id = try await store.ask(.yesNo("Check?")).id
        let db = try queue.connection()
        try db.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
        // Words are checked where they are read: a later version may have others.
        func entry(_ event: String, hash length: Int = 32) -> String {
            """
            INSERT INTO audit (seq, at_ms, event, principal, via, host, boot, pid, previous, hash) VALUES (
                2, 0, '\(event)', 0, 'test', 'host', 'boot', 1, zeroblob(32), zeroblob(\(length)))
            """
        }
        func response(_ outcome: String, by: String) -> String {
            """
            UPDATE alerts SET outcome = '\(outcome)', button_index = -1, resolved_by = '\(by)',
                handled = 0, resolved_ms = 2, resolved_seq = 2 WHERE id = \(id)
            """
        }
        for refused in [
            entry("erased", hash: 31), response("answered", by: "person"),
            "UPDATE alerts SET outcome = 'expired'",
            "UPDATE alerts SET resolved_ms = 1",
        ] {
            let error = #expect(throws: SQLiteError.self) { try db.run(refused) }
            #expect(error?.description.contains("CHECK constraint failed") == true)
        }
        for stored in [entry("voted"), response("lost", by: "nobody")] {
            let steps = try db.rows("EXPLAIN " + stored) { $0.text(Step.opcode) }
            #expect(!steps.contains("OpenEphemeral"), "\(stored)")
            try db.run(stored)
        }
        #expect(try db.rows("PRAGMA integrity_check") { $0.text() } == ["ok"])
        #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        await store.close()
    }

    @Test("Every index that the history reads from exists, and finds its rows without sorting")
    func indexes() async throws {
        let queue = try TemporaryQueue()
        await (try queue.store()).close()
        let plans = try queue.connection().rows(
            """
            EXPLAIN QUERY PLAN SELECT resolved_ms, resolved_seq FROM alerts
            INDEXED BY alerts_source_outcome WHERE source_id = ? AND outcome = ?
            ORDER BY resolved_ms DESC, resolved_seq DESC LIMIT ?
            """, 1, .text("answered"), 1
        ) { $0.text(Plan.detail) }
        #expect(plans.count == 1)
        #expect(plans.first?.contains("USING COVERING INDEX alerts_source_outcome") == true)
    }
}

/// The columns of `EXPLAIN` up to the operation; see <https://sqlite.org/opcode.html>.
private enum Step: Int, ColumnList { case addr, opcode }

/// The columns of `EXPLAIN QUERY PLAN`; see <https://sqlite.org/eqp.html>.
private enum Plan: Int, ColumnList { case id, parent, notUsed, detail }
