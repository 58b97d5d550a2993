import Foundation
import ProcessTesting
import TestSupport
import Testing

/// Changes to the schema of the file, and what the verbs print about them.
@Suite("Schema", .inParallel)
struct SchemaTests {
    private let queue: CommandLineQueue

    /// Alert 1 waits.
    init() async throws {
        queue = try CommandLineQueue()
        _ = try await queue.run("ask", "Go on?", "-b", "yes", "--cancel", "no", "--detach")
    }

    @Test(
        "An answer that a trigger would swallow or change is refused, and can still be given",
        arguments: [
            "BEFORE UPDATE OF outcome ON alerts BEGIN SELECT RAISE (IGNORE); END",
            "AFTER UPDATE OF outcome ON alerts BEGIN UPDATE sources SET name = 'x'; END",
        ])
    func triggers(what: String) async throws {
        _ = try await queue.rows("CREATE TRIGGER planted " + what)
        let refused = try await queue.run("answer", "1", "yes")
        #expect(refused.code == 65 && refused.errors.contains("“planted” on “alerts”"))
        #expect(refused.output.isEmpty)
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 65 && doctor.output.contains("DROP TRIGGER \"planted\""))
        _ = try await queue.rows("DROP TRIGGER planted")
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.rows("SELECT title FROM alerts") == ["Go on?"])
    }

    @Test(
        "Missing and changed objects are named, and the printed statements put them back",
        arguments: [
            (
                "DROP TRIGGER alerts_stay; DROP INDEX alerts_next",
                ["alerts_next", "alerts_stay"]
            ),
            (
                """
                DROP TRIGGER responses_are_final;
                CREATE TRIGGER RESPONSES_are_final BEFORE UPDATE ON alerts BEGIN SELECT 1; END
                """, ["responses_are_final"]
            ),
            ("DROP INDEX alerts_next; CREATE INDEX alerts_next ON alerts (title)", ["alerts_next"]),
            (
                "DROP VIEW pending; DROP VIEW history; CREATE VIEW history AS SELECT 1 AS id",
                ["history", "pending"]
            ),
            ("DROP TRIGGER audit_needs_this_version", ["audit_needs_this_version"]),
            ("DROP TABLE text_index", ["text_index"]),
        ])
    func putBack(script: String, names: [String]) async throws {
        _ = try await queue.run("ask", "Old?", "-b", "yes", "--cancel", "no", "--detach")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        _ = try await queue.rows(script)
        for verb in [["list"], ["answer", "1", "yes"], ["audit", "verify"], ["notify", "New"]] {
            let refused = try await queue.start(verb).finish()
            #expect(refused.code == 65 && refused.errors.contains("alertq doctor says what to do"))
        }
        let before = try Data(contentsOf: URL(filePath: queue.path))
        #expect(try await queue.run("doctor").code == 65)
        #expect(try Data(contentsOf: URL(filePath: queue.path)) == before)
        let faults = try await queue.objects("doctor").filter { $0["ok"] as? Bool == false }
        #expect(faults.count == names.count, "\(faults)")
        for (fault, name) in zip(faults, names.sorted()) {
            #expect((fault["detail"] as? String)?.contains("“\(name)”") == true, "\(faults)")
            #expect((fault["advice"] as? String)?.contains("sqlite3 \(queue.path)") == true)
            _ = try await queue.rows(try #require(fault["sql"] as? String))
        }
        #expect(try await queue.run("doctor", "--reindex").code == 0)
        let whole = try await queue.run("doctor")
        #expect(whole.code == 0 && whole.output.contains("matches version"), "\(whole)")
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.objects("history", "--text", "old").count == 1)
        #expect(try await queue.isSound())
    }

    @Test("Statements are printed as they are, to be copied")
    func printed() async throws {
        let sql = "SELECT sql FROM sqlite_schema WHERE name = 'alerts_stay'"
        let statement = try await queue.rows(sql).joined(separator: "\n")
        _ = try await queue.rows("DROP TRIGGER alerts_stay")
        let doctor = try await queue.run("doctor")
        #expect(doctor.output.contains("\n\(statement);\n"), "\(doctor)")
    }

    @Test("A table that is missing or was changed comes from a backup; allowed objects do no harm")
    func tables() async throws {
        _ = try await queue.rows("CREATE TABLE notes (id); ALTER TABLE alerts ADD COLUMN more TEXT")
        let changed = try await queue.objects("doctor").filter { $0["ok"] as? Bool == false }
        #expect(changed.count == 1 && changed[0]["sql"] as? String == nil, "\(changed)")
        #expect((changed[0]["advice"] as? String)?.contains("alertq restore BACKUP") == true)
        _ = try await queue.rows("ALTER TABLE alerts DROP COLUMN more")
        let doctor = try await queue.run("doctor")
        #expect(doctor.output.contains("“notes” is not alertq's"))
        #expect(try await queue.run("list").code == 0)
        _ = try await queue.rows("DROP TABLE upkeep")
        let missing = try await queue.objects("doctor").filter { $0["ok"] as? Bool == false }
        #expect(missing.count == 1 && missing[0]["sql"] as? String == nil, "\(missing)")
    }
}
