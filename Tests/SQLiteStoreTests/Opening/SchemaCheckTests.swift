import AlertCore
import Migrations
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Schema check", .inParallel)
struct SchemaCheckTests {
    private let queue: TemporaryQueue

    init() throws {
        queue = try TemporaryQueue()
    }

    /// A change by an account that can write the file, and the name in the resulting error.
    struct Plant: CustomTestStringConvertible {
        let script: String
        let name: String

        init(_ name: String, _ script: String) {
            self.script = script
            self.name = name
        }

        var testDescription: String { script }
    }

    static let triggers = [
        Plant(
            "flip",
            """
            CREATE TRIGGER flip AFTER UPDATE OF outcome ON alerts BEGIN
                UPDATE sources SET pending = 77 WHERE id = new.source_id; END
            """),
        Plant(
            "back",
            "CREATE TRIGGER back BEFORE UPDATE OF outcome ON ALERTS BEGIN SELECT 1; END"),
        Plant("drop", "CREATE TRIGGER drop1 BEFORE INSERT ON text_index_data BEGIN SELECT 1; END"),
        Plant("view", "CREATE TRIGGER view1 INSTEAD OF INSERT ON pending BEGIN SELECT 1; END"),
        Plant(
            "History",
            "CREATE TRIGGER History2 INSTEAD OF DELETE ON \"HISTORY\" BEGIN SELECT 1; END"),
    ]

    /// One trigger for each table that is written to.
    static let ignoring = ["sources", "alerts", "audit", "upkeep"].flatMap { table in
        ["INSERT", "UPDATE"].map { verb in
            Plant(
                "ignored",
                """
                CREATE TRIGGER ignored BEFORE \(verb) ON \(table)
                BEGIN SELECT RAISE (IGNORE); END
                """)
        }
    }

    static let changes = [
        Plant("alerts_stay", "DROP TRIGGER alerts_stay"),
        Plant(
            "audit_has_no_gaps",
            """
            DROP TRIGGER audit_has_no_gaps;
            CREATE TRIGGER Audit_Has_No_Gaps BEFORE INSERT ON audit BEGIN SELECT 1; END
            """),
        Plant(
            "alerts",
            """
            PRAGMA writable_schema = ON; UPDATE sqlite_schema
            SET sql = replace(sql, ' CHECK (button_index >= -1)', '') WHERE name = 'alerts';
            PRAGMA writable_schema = RESET; PRAGMA schema_version = 900
            """),
        Plant("alerts", "ALTER TABLE alerts ADD COLUMN more TEXT"),
        Plant("alerts_key", "DROP INDEX alerts_key"),
        Plant(
            "alerts_next", "DROP INDEX alerts_next; CREATE INDEX alerts_next ON alerts (title)"),
        Plant("pending", "DROP VIEW pending; CREATE VIEW pending AS SELECT 1 AS id"),
        Plant("pending", "DROP VIEW pending; CREATE TABLE pending (id)"),
        Plant("text_index", "DROP TABLE text_index"),
        Plant("unique", "CREATE UNIQUE INDEX uniqueTitle ON alerts (title)"),
        Plant("failing", "CREATE INDEX failing ON alerts (lower(title))"),
        // As a program makes it that knows this collation.
        Plant(
            "foreign",
            """
            CREATE INDEX foreignText ON alerts (title COLLATE nocase);
            PRAGMA writable_schema = ON; UPDATE sqlite_schema
            SET sql = replace(sql, 'nocase', 'german') WHERE name = 'foreignText';
            PRAGMA writable_schema = RESET; PRAGMA schema_version = 902
            """),
        // What SQLite reads of it is the first statement.
        Plant(
            "audit_is_append_only_update",
            """
            PRAGMA writable_schema = ON; UPDATE sqlite_schema AS own
            SET sql = own.sql || ';' || char(10) || char(10) || '--- trigger ' || next.name
                || ' of ' || next.tbl_name || char(10) || next.sql
            FROM sqlite_schema AS next WHERE own.name = 'audit_is_append_only_update'
                AND next.name = 'audit_is_append_only_delete';
            DELETE FROM sqlite_schema WHERE name = 'audit_is_append_only_delete';
            PRAGMA writable_schema = RESET; PRAGMA schema_version = 901
            """),
        Plant("failingToo", "CREATE INDEX failingToo ON alerts (id) WHERE length(title) > 9"),
        Plant(
            "unique", "CREATE UNIQUE INDEX uniqueHandler ON alerts (pid) WHERE handled"),
    ]

    private func plant(_ script: String) throws {
        let db = try queue.connection()
        db.setDefensive(false)
        try db.execute(script)
    }

    /// How many alerts there are, whatever their indexes are.
    private func count(_ condition: String = "") throws -> Int64? {
        try queue.integer("SELECT count(*) FROM alerts NOT INDEXED \(condition)")
    }

    private func isRefused(_ error: AlertError?, naming name: String) -> Bool {
        guard case .inconsistent(nil, let reason)? = error else { return false }
        return reason.contains("“\(name)")
    }

    @Test(
        "A foreign schema is refused at opening",
        arguments: triggers + ignoring + changes)
    func opening(plant: Plant) async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        await store.close()
        try self.plant(plant.script)
        let error = await thrown { try await queue.store() }
        #expect(isRefused(error, naming: plant.name))
        let question = Question(alert: .yesNo("At once?"), source: "test", pendingLimit: 10)
        #expect(
            try SQLiteAlertStore.enqueueAtOnce(question, by: .ana, path: queue.path) == nil)
        #expect(try count() == 1 && id == 1)
        #expect(try count("WHERE outcome IS NOT NULL") == 0)
    }

    @Test(
        "A schema that changes while a store is open is refused in the next transaction",
        arguments: triggers + ignoring + changes)
    func open(plant: Plant) async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        #expect(try await store.record(id).id == id)
        try self.plant(plant.script)
        let read = await thrown { try await store.record(id) }
        #expect(isRefused(read, naming: plant.name))
        let written = await thrown { try await store.answer(id, 0) }
        #expect(isRefused(written, naming: plant.name))
        let again = await thrown { try await store.ask(.yesNo()) }
        #expect(isRefused(again, naming: plant.name))
        #expect(try count() == 1)
        #expect(try count("WHERE outcome IS NOT NULL") == 0)
        await store.close()
    }

    @Test("Without the check these triggers silently change what is stored, or store nothing")
    func negativeControl() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        await store.close()
        let answer = """
            UPDATE alerts SET \(ForgedRow.answered) WHERE id = \(id)
            """
        try plant(Self.ignoring[3].script)
        try queue.connection().execute(answer)
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 0)
        try plant("DROP TRIGGER ignored")
        try plant(Self.triggers[0].script)
        try queue.connection().execute(answer)
        #expect(try queue.integer("SELECT 1 FROM sources WHERE pending = 77") == 1)
    }

    @Test("When the schema is correct again, an open store continues")
    func mended() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try plant(Self.triggers[0].script)
        #expect(await thrown { try await store.answer(id, 0) }?.kind == "inconsistent")
        try plant("DROP TRIGGER flip")
        try await store.answer(id, 0)
        #expect(try await store.record(id).response?.buttonIndex == 0)
        await store.close()
    }

    @Test("Setting back the schema version does not hide a change")
    func versionSetBack() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        #expect(try await store.record(id).id == id)
        let version = try #require(try queue.integer("PRAGMA schema_version"))
        try plant(Self.triggers[0].script)
        // Both connections have seen the trigger before the number is the one they checked again.
        #expect(isRefused(await thrown { try await store.answer(id, 0) }, naming: "flip"))
        #expect(isRefused(await thrown { try await store.record(id) }, naming: "flip"))
        try plant("PRAGMA schema_version = \(version)")
        #expect(isRefused(await thrown { try await store.answer(id, 0) }, naming: "flip"))
        #expect(isRefused(await thrown { try await store.record(id) }, naming: "flip"))
        await store.close()
        #expect(isRefused(await thrown { try await queue.store() }, naming: "flip"))
    }

    @Test("A trigger that a connection has not read does nothing")
    func unread() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        let version = try #require(try queue.integer("PRAGMA schema_version"))
        try plant("BEGIN; \(Self.triggers[0].script); PRAGMA schema_version = \(version); COMMIT")
        try await store.answer(id, 0)
        #expect(try queue.integer("SELECT 1 FROM sources WHERE pending = 77") == nil)
        await store.close()
    }

    @Test("Opening reads nothing of the schema before the check, so that a trigger can't come in")
    func readBeforeCheck() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo())
        await store.close()
        try plant(
            """
            CREATE TRIGGER flip AFTER UPDATE ON upkeep BEGIN
                UPDATE sources SET pending = 77; END
            """)
        let version = try #require(try queue.integer("PRAGMA schema_version"))
        let file = DatabaseFile(files: try QueueFiles(database: queue.path))
        let database = try file.openExisting(continuing: nil)
        try plant("DROP TRIGGER flip; PRAGMA schema_version = \(version)")
        try database.handle.reading { try database.schema.run() }
        try database.handle.run("UPDATE upkeep SET erasures = erasures")
        #expect(try queue.integer("SELECT 1 FROM sources WHERE pending = 77") == nil)
    }

    @Test("An object that SQLite can't parse is named, with what puts it back")
    func unparsable() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo())
        await store.close()
        try plant(
            """
            PRAGMA writable_schema = ON; UPDATE sqlite_schema
            SET sql = 'CREATE TRIGGER alerts_stay nonsense' WHERE name = 'alerts_stay'
            """)
        let findings = try await Schema.findings(at: queue.path)
        let finding = try #require(findings.first { $0.sql != nil })
        #expect(finding.detail.contains("“alerts_stay”"), "\(findings)")
        #expect(finding.sql?.contains("CREATE TRIGGER alerts_stay") == true, "\(finding)")
    }

    @Test(
        "Foreign objects that don't affect alertq's own are allowed",
        arguments: [
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)",
            "CREATE VIEW open AS SELECT * FROM alerts WHERE outcome IS NULL",
            "CREATE INDEX by_title ON alerts (title COLLATE nocase)", "ANALYZE",
            // SQLite itself doesn't check them unless it is asked to.
            "CREATE TABLE notes (alert REFERENCES alerts (id)); INSERT INTO notes VALUES (77)",
            "CREATE TABLE notes (outcome REFERENCES alerts (outcome))",
            """
            CREATE TABLE notes (id); CREATE UNIQUE INDEX one ON notes (id);
            CREATE TRIGGER alerts AFTER INSERT ON notes BEGIN SELECT 1; END
            """,
        ])
    func allowed(script: String) async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try plant(script)
        try await store.answer(id, 0)
        await store.close()
        let reopened = try await queue.store()
        #expect(try await reopened.record(id).response?.buttonIndex == 0)
        #expect(try await reopened.verify(expecting: nil).problems.isEmpty)
        #expect(try await reopened.structuralDamage().isEmpty)
        await reopened.close()
        let found = try await SQLiteAdministration(path: queue.path).schema()
        #expect(found.allSatisfy { $0.trouble == nil } && found.contains(where: \.isNote))
    }

    @Test("Once another version has migrated the file, an open store refuses to continue")
    func migratedMeanwhile() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        #expect(try await store.record(id).id == id)
        try plant(
            """
            BEGIN; ALTER TABLE alerts ADD COLUMN more TEXT;
            PRAGMA user_version = \(Migration.all.count + 1); COMMIT
            """)
        for error in [
            await thrown { try await store.answer(id, 0) },
            await thrown { try await store.ask(.yesNo()) },
            await thrown { try await store.record(id) },
        ] {
            #expect(error?.kind == "incompatible")
            #expect(error?.description.contains("newer version") == true)
        }
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 1)
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 0)
        await store.close()
    }

    @Test("Setting the version number back does not start a migration")
    func numberSetBack() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try plant("PRAGMA user_version = 0")
        #expect(await thrown { try await store.answer(id, 0) }?.kind == "incompatible")
        await store.close()
        #expect(await thrown { try await queue.store() }?.kind == "incompatible")
        #expect(try queue.integer("PRAGMA user_version") == 0)
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 1)
    }
}
