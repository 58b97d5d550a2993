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

    @Test("It is told who makes a queue that is missing")
    func setUp() async throws {
        let queue = try await ServerRole.make(of: .onServer())
        let made = try await queue.run("doctor", "--setup-postgresql")
        #expect(made.code == 77 && made.errors.contains("permission denied"), "\(made)")
    }
}
