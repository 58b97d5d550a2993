import Foundation
import Glibc
import PostgreSQL
import PostgreSQLTesting
import TestSupport
import Testing

@Suite("Connection to PostgreSQL", .inParallel, .needsServer)
struct ConnectionTests {
    @Test("Every kind of value comes back as it was bound")
    func values() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        try db.execute(
            "CREATE TABLE things (i bigint, t text COLLATE \"C\", b bytea)")
        let long = String(repeating: "æ🜁", count: 1 << 17)
        let bytes = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0) }
        let rows: [[Value]] = [
            [.integer(Int64.max), "", .blob([])],
            [.integer(Int64.min), .text(long), .blob(bytes)],
            [0, "it's $1 \\ \"x\"\n", .blob([0, 0x5c, 0xff])],
            [.null, .null, .null],
        ]
        for row in rows {
            let result = try db.run(
                Statement("INSERT INTO things VALUES ($1, $2, $3)", row))
            #expect(result.changes == 1 && result.command == "INSERT 0 1")
        }
        let found = try db.rows("SELECT * FROM things") { row -> [Value] in
            [
                row.isNull(at: 0) ? .null : .integer(row.integer(at: 0)),
                .optional(row.optionalText(at: 1)), .optional(row.blob(at: 2)),
            ]
        }
        #expect(found == rows)
        #expect(try db.first("SELECT 1 WHERE false", read: { $0.integer() }) == nil)
    }

    @Test("An error in the middle of a pipeline is the one that is thrown, and undoes the rest")
    func pipelines() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        try db.execute("CREATE TABLE things (i bigint CONSTRAINT positive CHECK (i > 0))")
        let insertion = { (value: Value) in Statement("INSERT INTO things VALUES ($1)", value) }
        var pipeline = [insertion(1), insertion(2), Statement("SELECT count(*) FROM things")]
        #expect(try db.run(pipeline)[2].first { $0.integer() } == 2)
        pipeline += [insertion(0), Statement("SELECT nonsense")]
        let error = #expect(throws: PostgreSQLError.self) { try db.run(pipeline) }
        #expect(error?.state?.description == "23514")
        #expect(error?.server?.constraint == "positive" && error?.meaning == .giveUp)
        #expect(error?.operation == "INSERT INTO things VALUES ($1)")
        #expect(try db.first("SELECT count(*) FROM things", read: { $0.integer() }) == 2)
    }

    @Test("A reader may rest longer than a session that writes, unless its role has a limit")
    func resting() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        let limit = { try db.first("SHOW idle_in_transaction_session_timeout") { $0.text() } }
        for (own, ofReader) in [("10s", "10min"), ("20ms", "20ms")] {
            try db.execute("SET idle_in_transaction_session_timeout = '\(own)'")
            #expect(try db.reading { try limit() } == ofReader)
            var found: [String?] = []
            try db.visit(Statement("SELECT 1")) { _ in
                found.append(try limit())
                return true
            }
            #expect(found == [ofReader])
            #expect(try limit() == own)
        }
    }

    @Test("A transaction is committed or refused as a whole")
    func transactions() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        try db.execute("CREATE TABLE things (i bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        let insertion = Statement("INSERT INTO things VALUES ($1) RETURNING i", 1)
        guard case .committed(let results) = db.commit([insertion]) else {
            Issue.record("not committed")
            return
        }
        #expect(results.count == 1 && results[0].first { $0.integer() } == 1)
        // COMMIT itself fails.
        guard case .refused(let error) = db.commit([insertion]) else {
            Issue.record("not refused")
            return
        }
        #expect(error.state == SQLState("23505") && error.operation == "COMMIT")
        #expect(!db.isInTransaction)
        try db.begin([Statement("INSERT INTO things VALUES (2)")])
        #expect(db.isInTransaction)
        #expect(throws: PostgreSQLError.self) { try db.run("nonsense") }
        guard case .refused = db.commit() else {
            Issue.record("a failed transaction is committed")
            return
        }
        #expect(try db.rows("SELECT i FROM things", read: { $0.integer() }) == [1])
        #expect(db.failure == nil)
    }
}
