import Foundation
import Glibc
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// What processes that only wait do to a server, which they may do for months.
@Suite("Idle processes on a server", .inParallel, .needsServer)
struct IdleServerTests {
    /// A server of the test's own, with a queue.
    private func serverQueue(
        _ settings: [String: String] = [:]
    ) async throws -> (PostgreSQLServer, CommandLineQueue) {
        let server = try await PostgreSQLServer(isSynced: true, settings: settings)
        let queue = try CommandLineQueue(at: server.uri)
        try #require(try await queue.run("doctor", "--setup-postgresql").code == 0)
        return (server, queue)
    }

    /// The processes of each kind: what they run, and how many rows have their signs of life.
    static let kinds: [String: (verbs: [[String]], signs: Int)] = [
        "screens": ([["present"], ["present"]], 2),
        // Each asker has a right to the response, and says that it waits.
        "askers": ([["ask", "Go?"], ["ask", "And you?"]], 4),
        "watches": ([["watch", "--json"], ["watch", "--exec", "cat"]], 0),
        // One of them has the right to the response.
        "waiters": ([["wait", "1"], ["collect", "k", "--wait-for", "1h"]], 3),
    ]

    @Test(
        "They write nothing but signs of life, read little, and hold two connections each",
        arguments: ["screens", "askers", "watches", "waiters"])
    func idle(kind: String) async throws {
        let (verbs, signs) = try #require(Self.kinds[kind])
        let (server, queue) = try await serverQueue(["autovacuum": "off"])
        #expect(try await queue.run("ask", "Wait?", "--key", "k", "--detach").code == 0)
        // An alert on a screen would be shown, and that stored.
        if kind == "screens" { #expect(try await queue.run("answer", "1", "OK").code == 0) }
        let terminals = try verbs.map { $0 == ["present"] ? try PseudoTerminal() : nil }
        defer { withExtendedLifetime(terminals) {} }
        let children = try zip(verbs, terminals).map { try queue.start($0, on: $1) }
        let db = try Connection(server.uri)
        let numbers = {
            try db.first(
                """
                SELECT (SELECT count(*) FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
                """
            ) { $0.integer() }
        }
        #expect(try await eventually { try numbers() == Int64(2 * children.count) }, "\(kind)")
        // Pages that a checkpoint came before are written whole once.
        try db.execute("CHECKPOINT")
        try await waitForSigns(db, signs)
        let before = try reading(db)
        try await waitForSigns(db, signs)
        try await waitForSigns(db, signs)
        let after = try reading(db)
        #expect(try numbers() == Int64(2 * children.count))
        // Two rounds of signs, some of which may be a third one, and PostgreSQL's own records.
        let written = after.written - before.written
        #expect(written <= 3 * Int64(signs) * 600 + 1000, "\(written) bytes")
        let seconds = Double(after.time - before.time) / 1000
        let transactions = Double(after.transactions - before.transactions)
        // Those of this test come in addition, and what the server counts some seconds later: how the
        // processes started, on a busy machine.
        let most = (16 * Double(children.count) + 5) * seconds + 300
        #expect(transactions <= most, "\(transactions) in \(seconds) s")
        for child in children {
            child.kill(SIGTERM)
            _ = await child.exit()
        }
    }

    /// Returns when every process has given two signs of life, or two of its looks have passed.
    private func waitForSigns(_ db: Connection, _ count: Int) async throws {
        let signs = {
            try db.rows(
                """
                SELECT seen_ms FROM screens UNION ALL SELECT seen_ms FROM leases ORDER BY 1
                """
            ) { $0.integer() }
        }
        guard count > 0 else { return try await Task.sleep(for: .seconds(3)) }
        let first = try signs()
        #expect(
            try await eventually(each: .milliseconds(500)) {
                let now = try signs()
                return now.count == count && now.allSatisfy { $0 > first.last ?? 0 }
            })
    }

    private func reading(
        _ db: Connection
    ) throws -> (written: Int64, transactions: Int64, time: Int64) {
        let found = try db.first(
            """
            SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
                (SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'),
                (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            """
        ) { ($0.integer(at: 0), $0.integer(at: 1), $0.integer(at: 2)) }
        return try #require(found)
    }

    @Test(
        "A verb that doesn't wait takes one connection",
        arguments: [
            ["list"], ["show", "1"], ["history"], ["stats"], ["audit", "verify"],
            ["purge", "--older-than", "1ms"], ["ask", "And now?", "--detach"], ["notify", "Done"],
            ["answer", "1", "yes"], ["collect", "answered"], ["withdraw", "1"], ["snooze", "1"],
        ])
    func short(verb: [String]) async throws {
        let (server, queue) = try await serverQueue()
        let ask = ["ask", "Wait?", "-b", "yes", "--cancel", "no", "--key", "k", "--detach"]
        #expect(try await queue.start(ask).finish().code == 0)
        let answered = ["ask", "Go?", "--key", "answered", "--detach"]
        #expect(try await queue.start(answered).finish().code == 0)
        #expect(try await queue.start(["answer", "2", "OK"]).finish().code == 0)
        let db = try Connection(server.uri)
        // What has ended is counted in a moment.
        let sessions = {
            try db.run("SELECT pg_stat_clear_snapshot()")
            return try db.first(
                "SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'"
            ) { $0.integer() } ?? 0
        }
        var before: Int64 = -1
        #expect(
            try await eventually(each: .milliseconds(500)) {
                defer { before = (try? sessions()) ?? 0 }
                return try sessions() == before
            })
        #expect(try await queue.start(verb).finish().code == 0)
        #expect(try await eventually { try sessions() > before })
        try await Task.sleep(for: .seconds(1))
        #expect(try sessions() == before + 1)
    }

    @Test("A server without a connection left says what is full")
    func full() async throws {
        let (server, queue) = try await serverQueue()
        try server.execute(
            """
            CREATE ROLE asker LOGIN CONNECTION LIMIT 0;
            GRANT USAGE ON SCHEMA alertq TO asker
            """)
        let asker = try CommandLineQueue(
            at: queue.path.replacing("user=alertq", with: "user=asker"))
        let refused = try await asker.run("list")
        #expect(refused.code == 75, "\(refused)")
        #expect(
            refused.errors.contains("has no connection left")
                && refused.errors.contains("too many connections for role"), "\(refused)")
    }

    @Test("doctor leaves the sessions of a pooler as they were", .needsPooler)
    func pooled() async throws {
        let (server, _) = try await serverQueue()
        let pooler = try await Pooler(before: server, size: 1)
        let query = pooler.location.split(separator: " ").map { $0.replacing("/", with: "%2F") }
            .joined(separator: "&")
        let pooled = try CommandLineQueue(at: "postgresql:///?\(query)&notify=off")
        for _ in 0..<3 {
            let checked = try await pooled.run("doctor")
            #expect(checked.code == 0, "\(checked)")
            #expect(try await pooled.run("ask", "Go?", "--detach").code == 0)
            #expect(try await pooled.run("doctor", "--setup-postgresql").code == 0)
        }
    }

    @Test("A deadline on a server is one by the server's clock")
    func deadline() async throws {
        let (server, queue) = try await serverQueue()
        #expect(
            try await queue.run("ask", "Go?", "--timeout", "30m", "--default", "OK", "--detach")
                .code == 0)
        let shown = try #require(try await queue.objects("show", "1").first)
        #expect(shown["expires_by"] as? String == "server clock")
        #expect(try await queue.run("show", "1").output.contains("by the server clock"))
        try await server.stop()
    }
}
