import Foundation
import Glibc
import PostgreSQL
import PostgreSQLTesting
import TestSupport
import Testing

@Suite(
    "PgBouncer in transaction mode", .inParallel,
    .needsServer, .needsPooler)
struct PoolerTests {
    @Test("Pipelines without prepared statements work, and errors in them end where they began")
    func unnamed() async throws {
        let server = try await PostgreSQLServer()
        try Connection(server.location).execute("CREATE TABLE things (i bigint CHECK (i > 0))")
        let pooler = try await Pooler(before: server, size: 1)
        let insertion = "INSERT INTO things VALUES ($1)"
        let clients = try (0..<4).map { _ in
            try Connection(pooler.location, preparation: .unnamed)
        }
        for round in 0..<50 {
            for (index, db) in clients.enumerated() {
                let isWrong = (round + index).isMultiple(of: 3)
                let pipeline = [
                    Statement(insertion, 1), Statement(insertion, isWrong ? 0 : 2),
                    Statement(insertion, 3),
                ]
                switch db.commit(pipeline) {
                case .committed(let results): #expect(!isWrong && results.count == 3)
                case .refused(let error):
                    #expect(isWrong && error.state == SQLState("23514"))
                case .unknown(let error): Issue.record("unknown: \(error)")
                }
                // Two trips in one transaction.
                try db.begin([Statement("SELECT i FROM things LIMIT 1 FOR UPDATE")])
                guard case .committed = db.commit([Statement(insertion, 4)]) else {
                    Issue.record("not committed")
                    return
                }
            }
        }
        let db = clients[0]
        #expect(
            try db.first("SELECT count(*) FROM things WHERE i = 4") { $0.integer() } == 200)
        #expect(
            try db.first("SELECT count(*) FROM things WHERE i = 3") { $0.integer() }
                == db.first("SELECT count(*) FROM things WHERE i = 2") { $0.integer() })
    }

    @Test("Prepared statements of another client's session fail, and nothing is stored")
    func named() async throws {
        let server = try await PostgreSQLServer()
        try Connection(server.location).execute("CREATE TABLE things (i bigint)")
        let pooler = try await Pooler(before: server, size: 1)
        let (one, other) = (try Connection(pooler.location), try Connection(pooler.location))
        guard
            case .committed = one.commit([Statement("INSERT INTO things VALUES (1)")])
        else {
            Issue.record("the first client's statements fail")
            return
        }
        guard
            case .refused(let error) = other.commit(
                [Statement("INSERT INTO things VALUES (2)")])
        else {
            Issue.record("the second client's statements don't fail")
            return
        }
        #expect(error.state == SQLState("42P05") && error.meaning == .reconnect)
    }

    @Test("A COMMIT whose pooler or server has gone is not known")
    func lost() async throws {
        let server = try await PostgreSQLServer(
            settings: ["synchronous_standby_names": "missing"])
        let plain = try Connection(server.location)
        try plain.execute("SET synchronous_commit = local")
        try plain.execute("CREATE TABLE things (i bigint)")
        try plain.execute("RESET synchronous_commit")
        let pooler = try await Pooler(before: server)
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        for isServer in [true, false] {
            let insertion = Task.detached {
                Insertion(into: try Connection(pooler.location, preparation: .unnamed))
            }
            #expect(try await eventually { try plain.first(waits) { $0.integer() } == 1 })
            if isServer {
                try plain.run(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep'
                    """)
            } else {
                pooler.kill(SIGKILL)
            }
            guard case .unknown(let error) = try await insertion.value else {
                Issue.record("the insertion claims to know")
                return
            }
            #expect(error.meaning == .lookUp)
        }
    }
}
