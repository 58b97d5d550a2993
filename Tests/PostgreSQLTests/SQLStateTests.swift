import Foundation
import PostgreSQLTesting
import TestSupport
import Testing

@testable import PostgreSQL

@Suite("SQLSTATEs", .inParallel, .needsServer)
struct SQLStateTests {
    /// Every code with a meaning of its own, some of each class, and some that have none.
    static let table: [(String, SQLState.Meaning)] = [
        ("08000", .lookUp), ("08003", .lookUp), ("08006", .lookUp), ("08P01", .lookUp),
        ("0A000", .reconnect), ("25006", .reconnect), ("25P03", .reconnect), ("26000", .reconnect),
        ("40000", .retry), ("40001", .retry), ("40003", .lookUp), ("40P01", .retry),
        ("42P05", .reconnect), ("53100", .tryLater), ("53200", .tryLater),
        ("53300", .tryLater), ("55006", .retry), ("55P03", .retry), ("57014", .tryLater),
        ("57P01", .lookUp), ("57P02", .lookUp), ("57P03", .tryLater), ("57P05", .reconnect),
        ("58030", .tryLater), ("22021", .giveUp), ("23505", .giveUp), ("28000", .notPermitted),
        ("28P01", .notPermitted), ("3D000", .missing), ("3F000", .missing),
        ("42501", .notPermitted), ("42P01", .missing), ("55000", .giveUp), ("57P04", .giveUp),
        ("XX000", .giveUp), ("XX001", .giveUp),
    ]

    @Test("A server's error means what the table says of its code", arguments: table)
    func meaning(code: String, meaning: SQLState.Meaning) async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        let error = #expect(throws: PostgreSQLError.self) {
            try db.execute("DO $$ BEGIN RAISE 'told to' USING ERRCODE = '\(code)'; END $$")
        }
        #expect(error?.state == SQLState(code) && error?.meaning == meaning)
    }

    @Test("Every code of the table is tried")
    func completeness() {
        let tried = Set(Self.table.map(\.0))
        #expect(tried.isSuperset(of: SQLState.meanings.keys))
        #expect(Set(tried.map { String($0.prefix(2)) }).isSuperset(of: SQLState.classes.keys))
    }

    @Test("Two transactions that change the same row in one state must be tried again")
    func serialization() async throws {
        let server = try await PostgreSQLServer.shared.value
        let (one, other) = (try server.connect(), try Connection(server.location))
        try other.execute(
            "SET search_path = " + (one.first("SHOW search_path") { $0.text() } ?? ""))
        try one.execute("CREATE TABLE things (i bigint); INSERT INTO things VALUES (1), (2)")
        try one.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM things")
        try other.execute("UPDATE things SET i = i + 10")
        let error = #expect(throws: PostgreSQLError.self) {
            try one.run("UPDATE things SET i = i + 1")
        }
        #expect(error?.state == SQLState("40001") && error?.meaning == .retry)
        one.rollBack()
        // A lock that another transaction holds.
        try one.execute("BEGIN; UPDATE things SET i = i + 1")
        try other.execute("SET lock_timeout = '50ms'")
        let late = #expect(throws: PostgreSQLError.self) {
            try other.run("UPDATE things SET i = i + 1")
        }
        #expect(late?.state == SQLState("55P03") && late?.meaning == .retry)
        try other.execute("SET statement_timeout = '50ms'; SET lock_timeout = 0")
        let cancelled = #expect(throws: PostgreSQLError.self) {
            try other.run("UPDATE things SET i = i + 1")
        }
        #expect(cancelled?.state == SQLState("57014") && cancelled?.meaning == .tryLater)
    }

    @Test("A session that the server ends says why, and is lost")
    func termination() async throws {
        let server = try await PostgreSQLServer.shared.value
        let (one, other) = (try server.connect(), try server.connect())
        try other.run(
            "SELECT pg_terminate_backend($1, 60000)", .integer(Int(one.serverProcess)))
        let error = #expect(throws: PostgreSQLError.self) { try one.run("SELECT 1") }
        #expect(error?.state == SQLState("57P01") && error?.meaning == .lookUp)
        #expect(error?.isConnectionLost == true && one.failure == error)
        let again = #expect(throws: PostgreSQLError.self) { try one.execute("SELECT 1") }
        #expect(again == error)
        let idle = try server.connect()
        try idle.execute("SET idle_in_transaction_session_timeout = 20; BEGIN")
        let rested = #expect(throws: PostgreSQLError.self) {
            // It ends although nothing is sent.
            while true { _ = try idle.nextNotification(within: .seconds(60)) }
        }
        #expect(rested?.state == SQLState("25P03") && rested?.meaning == .reconnect)
        #expect(rested?.isConnectionLost == true)
    }

    @Test("A connection that may not write is told so")
    func readOnly() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        let error = #expect(throws: PostgreSQLError.self) {
            try db.reading { try db.run("CREATE TABLE things (i bigint)") }
        }
        #expect(error?.state == SQLState("25006") && error?.meaning == .reconnect)
        #expect(!db.isInTransaction && db.failure == nil)
    }
}
