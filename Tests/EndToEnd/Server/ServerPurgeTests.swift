import Foundation
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// Erasing texts in PostgreSQL, through the built command.
///
/// A transaction anywhere in the database would keep them.
@Suite("Purging a queue in PostgreSQL", .inParallel, .needsServer)
struct ServerPurgeTests {
    private let queue: CommandLineQueue
    private let db: Connection

    init() async throws {
        let uri = try await PostgreSQLServer.durable.value.makeDatabase()
        queue = try await .onServer(uri)
        db = try Connection(uri)
    }

    /// Whether the table or its search index has a text in its files.
    private func holds(_ text: String) throws -> Bool {
        try db.execute("CHECKPOINT")
        return try ["alerts", "alerts_words"].contains { object in
            try db.first(
                "SELECT position('\(text)'::bytea IN "
                    + "pg_read_binary_file(pg_relation_filepath('\(object)')))"
            ) { $0.integer() != 0 } == true
        }
    }

    @Test(
        "A purge by a relative time counts by the server's clock",
        .enabled(if: Tool.canFakeClocks, "needs the package faketime, and no sanitizer"))
    func purgeByServerClock() async throws {
        #expect(try await queue.run("notify", "Just now").code == 0)
        #expect(try await queue.run("withdraw", "1").code == 0)
        let ahead = try await queue.start(
            ["purge", "--older-than", "30d", "--json"], under: ["faketime", "-f", "+5y"]
        ).finish()
        #expect(ahead.code == 0 && ahead.output.contains("\"erased\":0,"), "\(ahead)")
        let now = try await queue.run("purge", "--older-than", "1ms", "--json")
        #expect(now.output.contains("\"erased\":1,"), "\(now)")
    }

    @Test("A purge leaves nothing of a text in the table, and the log still verifies")
    func purge() async throws {
        let ask = [
            "ask", "Delete 'Quetzalcoatl'?", "-b", "yes=Prune", "--cancel", "no=Keep",
            "--detach", "--key", "k",
        ]
        #expect(try await queue.start(ask).finish().code == 0)
        #expect(try await queue.run("answer", "1", "yes", "--note", "Quetzalcoatl").code == 0)
        #expect(
            try await queue.run("purge", "--older-than", "1ms").output.hasPrefix(
                "the texts of 0 "))
        #expect(try await queue.run("collect", "k").code == 0)
        let found = try await queue.objects("history", "--text", "Quetzalcoatl")
        #expect(found.count == 1)
        #expect(try holds("uetzalcoatl"))
        let left = try await queue.objects("purge", "--older-than", "1ms", "--no-vacuum")
        #expect(left.first?["complete"] as? Bool == false, "\(left)")
        let doctor = try await queue.run("doctor")
        #expect(
            doctor.code == 75 && doctor.output.contains("unused places of the table"), "\(doctor)")
        let after = try await queue.objects("history", "--text", "Quetzalcoatl")
        #expect(after.isEmpty, "\(after)")
        // What is left is finished by the next one, which erases nothing more.
        let purged = try await queue.objects("purge", "--older-than", "1ms")
        #expect(purged.first?["complete"] as? Bool == true, "\(purged)")
        #expect(try await queue.run("doctor").code == 0)
        // Bytes of it may be in pages until these are reused, or rewritten.
        try db.execute("VACUUM FULL alertq.alerts")
        #expect(try !holds("uetzalcoatl"))
        #expect(try await queue.run("audit", "verify").code == 0)
        let shown = try await queue.objects("show", "1")
        #expect(shown.first?["title"] is NSNull, "\(shown)")
    }

    @Test(
        "While an older transaction keeps the texts, a purge says so, and is finished by the next",
        arguments: [
            ("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM alerts", "COMMIT"),
            ("BEGIN; SELECT pg_current_xact_id()", "ROLLBACK"),
        ])
    func kept(by beginning: String, until end: String) async throws {
        // One that is too long for a page is kept in another table.
        let message = (0..<3000).map { String($0 * 7919, radix: 36) }.joined(separator: " ")
        let ask = ["ask", "Secret?", "-m", message, "--detach"]
        #expect(try await queue.start(ask).finish().code == 0)
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        #expect(try await queue.run("collect", "--id", "1").code == 0)
        try db.execute(beginning)
        let purge = ["purge", "--older-than", "1ms"]
        let kept = try await queue.start(purge).finish()
        #expect(kept.code == 75 && kept.errors.contains("older than the erasure"), "\(kept)")
        #expect(try await queue.run("doctor").code == 75)
        try db.execute(end)
        let purged = try await queue.start(purge).finish()
        #expect(purged.code == 0 && !purged.errors.contains("purge again"), "\(purged)")
        #expect(try await queue.run("doctor").code == 0)
    }
}
