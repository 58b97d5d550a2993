import ProcessTesting
import TestSupport
import Testing

/// What somebody does to the shape of the file, and what the verbs say of it.
@Suite("Schema", .inParallel)
struct SchemaTests {
    private let queue: CommandLineQueue

    /// Alert 1 waits.
    init() async throws {
        queue = try CommandLineQueue()
        _ = try await queue.run("ask", "Go on?", "-b", "yes", "--cancel", "no", "--detach")
    }

    @Test(
        "An answer that a trigger would swallow or change is refused, and stays to be given",
        arguments: [
            "BEFORE INSERT ON responses BEGIN SELECT RAISE (IGNORE); END",
            "AFTER INSERT ON responses BEGIN UPDATE alerts SET title = 'Other?'; END",
        ])
    func triggers(what: String) async throws {
        _ = try await queue.rows("CREATE TRIGGER planted " + what)
        let refused = try await queue.run("answer", "1", "yes")
        #expect(refused.code == 65 && refused.errors.contains("“planted” on “responses”"))
        #expect(refused.output.isEmpty)
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 65 && doctor.output.contains("DROP TRIGGER \"planted\""))
        // It is for a person to remove what alertq has not made.
        #expect(try await queue.run("doctor", "--repair").code == 65)
        #expect(
            try await queue.rows("SELECT name FROM sqlite_schema WHERE name = 'planted'")
                == ["planted"])
        _ = try await queue.rows("DROP TRIGGER planted")
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.rows("SELECT title FROM alerts") == ["Go on?"])
    }

    @Test("What is missing of ours is named and put back; verbs refuse it until then")
    func repair() async throws {
        _ = try await queue.rows("DROP TRIGGER responses_stay; DROP INDEX alerts_next")
        for verb in [["list"], ["answer", "1", "yes"], ["audit", "verify"], ["notify", "New"]] {
            #expect(try await queue.start(verb).finish().code == 65, "\(verb)")
        }
        let doctor = try await queue.run("doctor", "--json")
        #expect(doctor.code == 65 && doctor.output.contains("“alerts_next” on “alerts” is missing"))
        let repaired = try await queue.run("doctor", "--repair")
        #expect(repaired.code == 0 && repaired.output.contains("“responses_stay”"))
        #expect(try await queue.run("doctor", "--repair").output.split(separator: "\n").count == 1)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await queue.isSound())
    }

    @Test("What cannot be repaired stays as it is, and so does what is allowed")
    func untouched() async throws {
        _ = try await queue.rows("CREATE TABLE notes (id); ALTER TABLE alerts ADD COLUMN more TEXT")
        let refused = try await queue.run("doctor", "--repair")
        #expect(refused.code == 65 && refused.errors.contains("other columns"))
        _ = try await queue.rows("ALTER TABLE alerts DROP COLUMN more")
        let doctor = try await queue.run("doctor")
        #expect(doctor.output.contains("“notes” is not alertq's"))
        #expect(try await queue.run("list").code == 0)
    }

    @Test("A repair needs a queue, and is one thing")
    func usage() async throws {
        let empty = try CommandLineQueue()
        #expect(try await empty.run("doctor", "--repair").code == 66)
        #expect(try await queue.run("doctor", "--repair", "--reindex").code == 64)
    }
}
