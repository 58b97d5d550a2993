import AlertCore
import Migrations
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Schema repair", .inParallel)
struct SchemaRepairTests {
    private let queue: TemporaryQueue

    /// Alert 1 is answered, alert 2 waits.
    init() async throws {
        queue = try TemporaryQueue()
        let store = try await queue.store()
        try await store.ask(.yesNo("One"))
        try await store.ask(.yesNo("Two"))
        try await store.answer(1, 0)
        try await store.indexTexts { _, _ in }
        await store.close()
    }

    private func plant(_ script: String) throws {
        let db = try queue.connection()
        db.setDefensive(false)
        try db.execute(script)
    }

    private func rewrite(_ name: String, _ sql: String) throws {
        try plant(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = \(sql) WHERE name = '\(name)';
            PRAGMA writable_schema = RESET; PRAGMA schema_version = 900
            """)
    }

    /// What the file holds, but for the schema and the index of words.
    private func rows() throws -> [String] {
        try ["sources", "alerts", "responses", "audit"].flatMap { table in
            let sql = "SELECT json_array(\(try columns(table))) FROM \(table)"
            return try queue.connection().rows(sql) { $0.text() }
        }
    }

    private func columns(_ table: String) throws -> String {
        try queue.connection().rows(
            "SELECT 'quote(' || name || ')' FROM pragma_table_info(?)", .text(table)
        ) { $0.text() }.joined(separator: ", ")
    }

    private func works() async throws {
        let store = try await queue.store()
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        #expect(try await store.structuralDamage() == [])
        try await store.answer(2, 1)
        var filter = HistoryFilter()
        filter.text = "one"
        #expect(try await store.history(filter, limit: 9, after: nil).map(\.id) == [1])
        await store.close()
    }

    @Test(
        "What is missing or changed of ours is put back, and no row changes",
        arguments: [
            "DROP TRIGGER responses_stay",
            """
            DROP TRIGGER responses_are_final;
            CREATE TRIGGER RESPONSES_are_final BEFORE UPDATE ON responses BEGIN SELECT 1; END
            """,
            "DROP INDEX alerts_key", "DROP INDEX responses_kind; DROP INDEX alerts_next",
            "DROP INDEX alerts_next; CREATE INDEX alerts_next ON alerts (title)",
            "DROP VIEW pending; DROP VIEW history; CREATE VIEW history AS SELECT 1 AS id",
            "DROP TABLE text_index",
            """
            PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'text_index';
            PRAGMA writable_schema = RESET; PRAGMA schema_version = 900
            """,
        ])
    func putBack(script: String) async throws {
        let before = try rows()
        try plant(script)
        #expect(await thrown { try await queue.store() }?.kind == "inconsistent")
        let mended = try await QueueSchema(database: queue.path).repair()
        #expect(!mended.isEmpty)
        #expect(try rows() == before)
        try await works()
        #expect(try await QueueSchema(database: queue.path).repair() == [])
    }

    @Test(
        "A statement that was rewritten in the schema gets its text back",
        arguments: [
            ("responses", "replace(sql, ' CHECK (button_index >= -1)', '')"),
            ("alerts", "replace(sql, ' NOT NULL', '')"), ("audit", "replace(sql, 'STRICT', '')"),
            ("responses_stay", "'CREATE TRIGGER responses_stay nonsense'"),
            ("pending", "'CREATE VIEW pending AS SELECT * FROM nowhere'"),
        ])
    func rewritten(name: String, sql: String) async throws {
        let before = try rows()
        try rewrite(name, sql)
        #expect(await thrown { try await queue.store() } != nil)
        #expect(try await QueueSchema(database: queue.path).repair().map(\.object.name) == [name])
        #expect(try rows() == before)
        try await works()
    }

    @Test(
        "Where the rows don't fit any more, nothing is repaired",
        arguments: [
            ("ALTER TABLE alerts ADD COLUMN more TEXT", "other columns"),
            ("ALTER TABLE alerts RENAME COLUMN host TO place", "other columns"),
            ("DROP TABLE upkeep", "missing"),
            ("DROP VIEW pending; CREATE TABLE pending (id)", "is a table now"),
            (
                """
                DROP INDEX alerts_key; UPDATE alerts SET key = 'same', source_id = 1
                """, "UNIQUE"
            ),
        ])
    func impossible(script: String, reason: String) async throws {
        try plant("DROP TRIGGER audit_has_no_gaps")
        try plant(script)
        let before = try queue.connection().rows(SchemaObject.query) { SchemaObject($0) }
        let error = await thrown { try await QueueSchema(database: queue.path).repair() }
        #expect(error?.description.contains(reason) == true)
        #expect(try queue.connection().rows(SchemaObject.query) { SchemaObject($0) } == before)
    }

    @Test("A check that the rows break can't be put back unheard")
    func brokenCheck() async throws {
        try rewrite("alerts", "replace(sql, ' CHECK (priority BETWEEN 0 AND 3)', '')")
        try queue.forge("UPDATE alerts SET priority = 9 WHERE id = 2")
        let error = await thrown { try await QueueSchema(database: queue.path).repair() }
        #expect(error?.description.contains("CHECK constraint failed") == true)
        try queue.forge("UPDATE alerts SET priority = 1 WHERE id = 2")
        #expect(try await QueueSchema(database: queue.path).repair().count == 1)
    }

    @Test("What is somebody else's stays, and is named with what removes it")
    func foreign() async throws {
        try plant(
            """
            DROP TRIGGER responses_stay; CREATE TABLE notes (id); CREATE VIEW mine AS SELECT 1;
            CREATE TRIGGER "o""dd" AFTER UPDATE ON upkeep BEGIN INSERT INTO notes VALUES (1); END;
            CREATE UNIQUE INDEX one ON alerts (title)
            """)
        let schema = try QueueSchema(database: queue.path)
        #expect(try await schema.repair().map(\.object.name) == ["responses_stay"])
        let report = try #require(try await schema.report())
        #expect(
            Set(report.faults.map(\.removal)) == [#"DROP TRIGGER "o""dd""#, #"DROP INDEX "one""#])
        #expect(report.additions.map(\.name).sorted() == ["mine", "notes"])
        for removal in report.faults.compactMap(\.removal) { try plant(removal) }
        #expect(try queue.integer("SELECT count(*) FROM notes") == 0)
        try await works()
    }

    @Test("The index of words is not made anew past a foreign trigger, and sets off none")
    func foreignWithIndex() async throws {
        let trigger = "CREATE TRIGGER t AFTER INSERT ON text_index_data BEGIN SELECT 1; END"
        try plant(
            """
            \(trigger); PRAGMA writable_schema = ON;
            DELETE FROM sqlite_schema WHERE name = 'text_index';
            PRAGMA writable_schema = RESET; PRAGMA schema_version = 900
            """)
        let schema = try QueueSchema(database: queue.path)
        let error = await thrown { try await schema.repair() }
        #expect(error?.description.contains("“t” on “text_index_data” is not alertq's") == true)
        try plant(
            """
            DROP TRIGGER t; CREATE TABLE notes (id);
            CREATE TRIGGER u AFTER UPDATE ON upkeep BEGIN INSERT INTO notes VALUES (1); END
            """)
        #expect(try await schema.repair().map(\.object.name) == ["text_index"])
        #expect(try queue.integer("SELECT count(*) FROM notes") == 0)
        #expect(try queue.integer("SELECT indexed_seq FROM upkeep") == 0)
        try plant("DROP TRIGGER u")
        try await works()
    }

    @Test("An open store goes on after a repair by another process")
    func openStore() async throws {
        let store = try await queue.store()
        #expect(try await store.record(2).id == 2)
        try rewrite("responses", "replace(sql, ' CHECK (button_index >= -1)', '')")
        #expect(await thrown { try await store.answer(2, 0) }?.kind == "inconsistent")
        #expect(try await QueueSchema(database: queue.path).repair().count == 1)
        try await store.answer(2, 0)
        await store.close()
    }
}
