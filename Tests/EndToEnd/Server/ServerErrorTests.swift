import Foundation
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

@Suite("Servers that refuse", .inParallel, .needsServer)
struct ServerErrorTests {
    @Test(
        "What does not pass by itself ends every verb at once, with what to do",
        arguments: [
            ("///postgres?", "///nowhere?", 66, "createdb"),
            ("user=alertq", "user=nobody", 77, "pg_hba.conf"),
            ("queue=", "queue=other-", 66, "alertq doctor --setup-postgresql --database '"),
        ] as [(String, String, Int32, String)])
    func refused(old: String, new: String, code: Int32, advice: String) async throws {
        let queue = try await CommandLineQueue.onServer()
        let wrong = try CommandLineQueue(at: queue.path.replacing(old, with: new))
        for words in [["ask", "Go?", "-b", "a"], ["list"], ["wait", "1"], ["watch"]] {
            let start = ContinuousClock.now
            let refused = try await wrong.start(words).finish()
            #expect(refused.code == code && refused.errors.contains(advice), "\(refused)")
            // Those that wait would do so for a minute.
            #expect(!FaultForm.isFull || start.duration(to: .now) < .seconds(5))
        }
        let checked = try await wrong.run("doctor")
        #expect(checked.code == code && checked.output.contains(advice), "\(checked)")
    }

    @Test("A server without the encryption that the location requires ends every verb at once")
    func unencrypted() async throws {
        let server = try await PostgreSQLServer(isSynced: true, listens: true)
        let port = try #require(server.port)
        let location = "postgresql://alertq@127.0.0.1:\(port)/postgres?sslmode="
        let setUp = try CommandLineQueue(at: location + "disable")
        #expect(try await setUp.run("doctor", "--setup-postgresql").code == 0)
        let wrong = try CommandLineQueue(at: location + "require")
        for words in [["ask", "Go?", "--detach"], ["wait", "1"], ["list"], ["doctor"]] {
            let refused = try await wrong.start(words).finish()
            let text = refused.output + refused.errors
            #expect(refused.code == 77 && text.contains("see sslmode"), "\(refused)")
        }
    }

    @Test("Where the first address of a host never answers, the next one is tried")
    func addresses() async throws {
        let server = try await PostgreSQLServer(
            isSynced: true, listens: true, settings: ["listen_addresses": "127.0.0.2"])
        let port = try #require(server.port)
        // It has connections wait that nobody accepts.
        let silent = try LocalSocket.listening(port: port)
        defer { withExtendedLifetime(silent) {} }
        let script = """
            set -e
            printf '127.0.0.1 db\n127.0.0.2 db\n' >"$0/hosts"
            mount --bind "$0/hosts" /etc/hosts
            exec "$@"
            """
        let queue = try CommandLineQueue(
            at: "postgresql://alertq@db:\(port)/postgres?sslmode=disable&gssencmode=disable")
        let made = try await queue.start(
            ["doctor", "--setup-postgresql"],
            under: ["unshare", "-m", "sh", "-c", script, queue.directory]
        ).finish()
        #expect(made.code == 0, "\(made)")
    }

    @Test("A location that can never work ends a verb at once, and doctor as well")
    func neverWorks() async throws {
        let wrong = try CommandLineQueue(at: "postgresql://pw:geheim/x@db/alertq")
        for words in [["ask", "Go?", "-b", "a"], ["list"], ["watch"], ["doctor"]] {
            let refused = try await wrong.start(words).finish()
            let text = refused.output + refused.errors
            #expect(refused.code == 65 && text.contains("%2F"), "\(refused)")
            #expect(!text.contains("geheim"), "\(refused)")
        }
    }

    @Test("doctor says once that answers could be lost, and how that is mended")
    func durability() async throws {
        let queue = try await CommandLineQueue.onServer()
        let early = try CommandLineQueue(
            at: queue.path + "&options=-c%20synchronous_commit%3Dlocal")
        let checked = try await early.run("doctor")
        #expect(checked.code == 74, "\(checked)")
        #expect(checked.output.contains("SET synchronous_commit = on;"), "\(checked)")
        #expect(!checked.output.contains("newer alertq"), "\(checked)")
    }

    @Test("The SQL for another queue can be run where the tables are")
    func anotherQueue() async throws {
        let queue = try await CommandLineQueue.onServer()
        let other = try CommandLineQueue(
            at: queue.path.replacing("queue=", with: "queue=another-"))
        #expect(try await other.run("list").code == 66)
        let printed = try await other.run("doctor", "--setup-postgresql", "--print")
        #expect(printed.code == 0 && !printed.output.contains("CREATE"), "\(printed)")
        try await PostgreSQLServer.durable.value.execute(printed.output)
        #expect(try await other.run("list").code == 0)
    }

    @Test("doctor names the rights that a role lacks, and the statements that give them")
    func rights() async throws {
        let server = try await PostgreSQLServer(isSynced: true)
        let queue = try CommandLineQueue(at: server.uri)
        #expect(try await queue.run("doctor", "--setup-postgresql").code == 0)
        try server.execute("CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA alertq TO reader")
        let reader = try CommandLineQueue(
            at: queue.path.replacing("user=alertq", with: "user=reader"))
        let closed = try await reader.run("list")
        #expect(closed.code == 77 && closed.errors.contains("42501"), "\(closed)")
        try server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA alertq TO reader")
        #expect(try await reader.run("list").code == 0)
        let refused = try await reader.run("ask", "Go?", "--detach")
        #expect(refused.code == 77 && refused.errors.contains("alertq doctor"), "\(refused)")
        try server.execute("REVOKE SELECT ON queues FROM reader")

        // As often as there are statements: each makes up for one kind of right.
        var given = 0
        while let statements = try await Self.missing(reader) {
            try server.execute(String(try #require(statements.split(separator: "\n").first)))
            given += 1
            try #require(given <= 4, "\(statements)")
        }
        #expect(given == 4)
        #expect(try await reader.run("ask", "Go?", "--detach").code == 0)
        #expect(try await reader.run("answer", "1", "OK").code == 0)
        let other = try CommandLineQueue(at: reader.path + "&queue=other")
        #expect(
            try await CommandLineQueue(at: queue.path + "&queue=other")
                .run("doctor", "--setup-postgresql").code == 0)
        let copied = try await reader.run("store", "copy", reader.path, other.path)
        #expect(copied.code == 77 && copied.errors.contains("only the owner"), "\(copied)")

        try server.execute("REVOKE USAGE ON SCHEMA alertq FROM reader")
        let hidden = try await reader.run("list")
        let grant = "GRANT USAGE ON SCHEMA alertq TO reader"
        #expect(hidden.code == 77 && hidden.errors.contains(grant), "\(hidden)")
        let checked = try await reader.run("doctor")
        #expect(checked.code == 77 && checked.output.contains(grant), "\(checked)")
        #expect(!checked.output.contains("may ask and answer"), "\(checked)")
        try server.execute(grant)
        #expect(try await reader.run("list").code == 0)
    }

    @Test("An ask that can wait no longer says that its question stays")
    func stored() async throws {
        let server = try await PostgreSQLServer(isSynced: true)
        let queue = try CommandLineQueue(at: server.uri)
        #expect(try await queue.run("doctor", "--setup-postgresql").code == 0)
        try server.execute(
            """
            CREATE ROLE asker LOGIN;
            GRANT USAGE ON SCHEMA alertq TO asker;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA alertq TO asker
            """)
        let asker = try CommandLineQueue(
            at: queue.path.replacing("user=alertq", with: "user=asker"))
        let child = try asker.start(["ask", "Go?"])
        #expect(await eventually { child.errors.text.contains("waiting for an answer") })
        try server.execute("REVOKE SELECT ON audit FROM asker")
        // It reads what is new.
        #expect(try await queue.run("ask", "And you?", "--detach").code == 0)
        let refused = await child.finish()
        #expect(refused.code == 77, "\(refused)")
        #expect(refused.errors.contains("stays in the queue; to withdraw it: "), "\(refused)")
        #expect(try await queue.run("show", "1").code == 0)
    }

    /// The statements of doctor that give rights; `nil` if none is missing.
    private static func missing(_ queue: CommandLineQueue) async throws -> String? {
        let found = try await queue.objects("doctor")
        let rights = found.first { $0["check"] as? String == "permissions" }
        #expect(rights != nil)
        // Of a role that may read everything, that is noted.
        return rights?["sql"] as? String
    }
}
