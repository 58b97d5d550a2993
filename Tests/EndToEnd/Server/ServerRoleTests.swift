import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// The role that the article about queues in PostgreSQL makes, with few rights.
enum ServerRole {
    private static let made = Task {
        let article = CodeBlock.articles + "QueuesInPostgreSQL.md"
        let script = try #require(try CodeBlock.all("sql", in: article).first).text
        try await PostgreSQLServer.durable.value.execute(script)
    }

    /// The same queue, for processes that connect as that role.
    static func make(of queue: CommandLineQueue) async throws -> CommandLineQueue {
        try await made.value
        return try CommandLineQueue(
            at: queue.path.replacing("user=alertq", with: "user=alerts"))
    }
}

@Suite("A role with few rights in PostgreSQL", .inParallel, .needsServer)
struct ServerRoleTests {
    @Test(
        "It can neither change the log's past nor switch off what keeps questions and responses",
        arguments: [
            "UPDATE audit SET detail = 'x'", "DELETE FROM audit", "TRUNCATE audit",
            "ALTER TABLE audit DISABLE TRIGGER ALL", "DROP TRIGGER alerts_stay ON alerts",
            "ALTER TABLE alerts DISABLE TRIGGER alerts_are_final",
            "SET session_replication_role = replica", "DELETE FROM alerts", "TRUNCATE alerts",
            "DELETE FROM heads", "UPDATE queues SET host = 'other'",
            "INSERT INTO queues (name) VALUES ('other')", "DELETE FROM sources",
            "UPDATE schema_versions SET minimum = 9", "DROP TABLE audit",
            "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE sql AS ''",
        ])
    func refused(sql: String) async throws {
        let queue = try await ServerRole.make(of: .onServer())
        let asked = try await queue.run("ask", "Go?", "--detach")
        #expect(asked.code == 0, "\(asked)")
        let server = try await PostgreSQLServer.durable.value
        let error = #expect(throws: (any Error).self) {
            try server.execute(sql, as: "alerts")
        }
        let reason = "\(error as Any)"
        #expect(
            reason.contains("permission denied") || reason.contains("must be owner"),
            "\(reason)")
    }

    @Test("It can't change a question or a response, which triggers keep")
    func triggers() async throws {
        let queue = try await ServerRole.make(of: .onServer())
        #expect(try await queue.run("ask", "Go?", "--detach").code == 0)
        let server = try await PostgreSQLServer.durable.value
        let error = #expect(throws: (any Error).self) {
            try server.execute("UPDATE alerts SET title = 'Other'", as: "alerts")
        }
        #expect("\(error as Any)".contains("a question never changes"), "\(error as Any)")
    }

    @Test(
        "It can neither move the end of the log back, nor erase texts",
        arguments: [
            ("UPDATE heads SET seq = seq - 1", "the end of a log never goes back"),
            ("UPDATE heads SET last_id = 0, changes = 0", "the end of a log never goes back"),
            ("UPDATE heads SET hash = decode(repeat('00', 32), 'hex')", "never goes back"),
            (
                """
                UPDATE alerts SET title = NULL, message = NULL, fields = NULL, info = '{}', salt = NULL,
                    field_values = NULL, note = NULL WHERE outcome IS NOT NULL
                """, "only the owner of the tables erases texts"
            ),
        ])
    func owners(sql: String, reason: String) async throws {
        let queue = try await ServerRole.make(of: .onServer())
        #expect(try await queue.run("ask", "Go?", "--detach").code == 0)
        #expect(try await queue.run("answer", "1", "OK").code == 0)
        let server = try await PostgreSQLServer.durable.value
        let error = #expect(throws: (any Error).self) {
            try server.execute(sql, as: "alerts")
        }
        #expect("\(error as Any)".contains(reason), "\(error as Any)")
    }

    @Test("A role for monitoring runs what the article has for it, and reads no text")
    func watcher() async throws {
        let server = try await PostgreSQLServer(isSynced: true)
        let queue = try CommandLineQueue(at: server.uri)
        #expect(try await queue.run("doctor", "--setup-postgresql").code == 0)
        #expect(try await queue.run("ask", "Go?", "--detach").code == 0)
        let article = CodeBlock.articles + "QueuesInPostgreSQL.md"
        let blocks = try CodeBlock.all("sql", in: article).dropFirst().map(\.text)
        try server.execute(try #require(blocks.first))
        #expect(blocks.count == 7)
        // The last three are for the owner.
        for block in blocks[1..<4] { try server.execute(block, as: "watcher") }
        let waiting = try Connection(server.location, overriding: ["user": "watcher"])
            .first(blocks[1].replacing(";", with: "")) {
                ($0.optionalText(at: 0), $0.integer(at: 2))
            }
        #expect(waiting?.0 == "default" && waiting?.1 == 1)
        for table in ["alerts", "audit"] {
            #expect(throws: (any Error).self) {
                try server.execute("SELECT * FROM alertq.\(table)", as: "watcher")
            }
        }
        let watched = try CommandLineQueue(
            at: queue.path.replacing("user=alertq", with: "user=watcher"))
        #expect(try await watched.run("doctor", "--strict").code == 77)
        try server.execute(blocks[4])
        let health = try await watched.run("doctor", "--strict")
        #expect(health.code == 0 && health.output.contains("may read everything"), "\(health)")
    }

    @Test("The owner lists the queues of a database and removes one, as the article says")
    func removal() async throws {
        let server = try await PostgreSQLServer(isSynced: true)
        let queue = try CommandLineQueue(at: server.uri)
        let old = try CommandLineQueue(at: server.uri + "&queue=old")
        for queue in [queue, old] {
            #expect(try await queue.run("doctor", "--setup-postgresql").code == 0)
            #expect(try await queue.run("ask", "Go?", "--key", "go", "--detach").code == 0)
            #expect(try await queue.run("answer", "1", "OK").code == 0)
        }
        let article = CodeBlock.articles + "QueuesInPostgreSQL.md"
        let blocks = try CodeBlock.all("sql", in: article).suffix(2).map(\.text)
        let names = {
            try Connection(server.location).rows(blocks[0].replacing(";", with: "")) {
                "\($0.optionalText(at: 0) ?? "-") \($0.integer(at: 1))"
            }
        }
        #expect(try names().sorted() == ["default 1", "old 1"])
        try server.execute(blocks[1])
        #expect(try names() == ["default 1"])
        #expect(try await old.run("list").code == 66)
        #expect(try await queue.run("doctor", "--strict").code == 0)
        #expect(try await queue.run("audit", "verify").code == 0)
        // What keeps answers for ever is there again.
        let error = #expect(throws: (any Error).self) {
            try server.execute("DELETE FROM alertq.alerts")
        }
        #expect("\(error as Any)".contains("an alert is kept for ever"), "\(error as Any)")
    }

    @Test("It is told who makes a queue that is missing")
    func setUp() async throws {
        let queue = try await ServerRole.make(of: .onServer())
        let made = try await queue.run("doctor", "--setup-postgresql")
        #expect(made.code == 77 && made.errors.contains("another role owns"), "\(made)")
    }
}
