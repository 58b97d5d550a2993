import Foundation
import Linux
import PostgreSQL
import PostgreSQLTesting
import TestSupport
import Testing

@Suite("Limits of PostgreSQL", .inParallel, .needsServer)
struct LimitTests {
    /// What no statement may bind; a test prints its arguments, so it makes the values itself.
    enum Unbindable: CaseIterable {
        case nul, tooLong, tooMany

        var values: [Value] {
            switch self {
            case .nul: ["a\0b"]
            case .tooLong: [.blob(Array(repeating: 0, count: 64 << 20)), "x"]
            case .tooMany: Array(repeating: .null, count: 65_536)
            }
        }
    }

    @Test(
        "What can't be bound is refused before anything is sent",
        arguments: Unbindable.allCases)
    func refusals(unbindable: Unbindable) async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        try db.execute("CREATE TABLE things (i bigint)")
        let pipeline = [
            Statement("INSERT INTO things VALUES (1)"),
            Statement("SELECT 1", unbindable.values),
        ]
        let error = #expect(throws: PostgreSQLError.self) { try db.run(pipeline) }
        #expect(error?.isConnectionLost == false && error?.meaning == .giveUp)
        #expect(try db.first("SELECT count(*) FROM things", read: { $0.integer() }) == 0)
    }

    @Test("A pipeline longer than all buffers, in both directions, comes through")
    func longPipeline() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        let bytes = [UInt8](repeating: 7, count: 1 << 18)
        let echo = Statement("SELECT $1::bytea", .blob(bytes))
        let results = try db.run(Array(repeating: echo, count: 100))
        #expect(results.count == 100)
        for result in results { #expect(result.first { $0.blob() } == bytes) }
    }

    @Test("Bytes that are not UTF-8 don't become a text")
    func encoding() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        let error = #expect(throws: PostgreSQLError.self) {
            try db.run("SELECT $1::text", .blob([0x61, 0xff]))
        }
        #expect(error?.state == SQLState("22021"))
        #expect(db.failure == nil)
    }

    @Test("An error says nothing of the values")
    func secrets() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        try db.execute("CREATE TABLE things (t text CHECK (length(t) < 3))")
        let error = #expect(throws: PostgreSQLError.self) {
            try db.run("INSERT INTO things VALUES ($1)", "secret")
        }
        #expect(error.map { !"\($0)".contains("secret") } == true)
        let other = #expect(throws: PostgreSQLError.self) {
            try Connection("postgresql://user:secret@[broken/x")
        }
        #expect(other.map { !"\($0)".contains("secret") } == true)
    }

    @Test("A visit keeps a page in memory, stops early, and lets other statements run")
    func visits() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        let numbers = Statement("SELECT n FROM generate_series(1, $1::bigint) n", 2_345)
        var sum: Int64 = 0
        try db.visit(numbers, pageSize: 100) { row in
            sum += row.integer()
            return true
        }
        #expect(sum == 2_345 * 2_346 / 2)
        #expect(!db.isInTransaction)
        try db.reading {
            var visited = 0
            try db.visit(numbers, pageSize: 10) { row in
                visited += 1
                let inner = Statement("SELECT generate_series(1, $1::bigint)", 15)
                var inside = 0
                try db.visit(inner, pageSize: 10) { _ in
                    inside += 1
                    return true
                }
                #expect(inside == 15)
                return row.integer() < 25
            }
            #expect(visited == 25)
            let open = "SELECT count(*) FROM pg_cursors WHERE name LIKE 'alertq%'"
            #expect(try db.first(open) { $0.integer() } == 0)
        }
    }

    @Test("More statements than can be prepared all run")
    func manyTexts() async throws {
        let db = try await PostgreSQLServer.shared.value.connect()
        for number in 0..<300 {
            #expect(
                try db.first("SELECT $1 + \(number)", 1) { $0.integer() } == Int64(number) + 1)
        }
        let prepared = try db.first("SELECT count(*) FROM pg_prepared_statements") {
            $0.integer()
        }
        #expect(prepared == 256)
    }
}

@Suite(
    "Leaks of connections", .alone(because: "The memory of the whole process is measured."),
    .needsServer)
struct LeakTests {
    @Test("Ten thousand statements leave neither descriptors nor memory behind")
    func leaks() async throws {
        let server = try await PostgreSQLServer.shared.value
        let db = try server.connect()
        try db.execute("CREATE TABLE things (i bigint, t text)")
        func work(_ count: Int) throws {
            for number in 0..<count {
                try db.run(
                    [
                        Statement(
                            "INSERT INTO things VALUES ($1, $2)", .integer(number), "text"),
                        Statement("SELECT * FROM things LIMIT 10"),
                    ])
                _ = try? db.run("SELECT 1 / $1", 0)
            }
            for _ in 0..<count / 100 {
                _ = try Connection(server.location)
                _ = try? Connection("host=/nowhere")
            }
        }
        try work(500)
        let before = (memory, LinuxFile.names(in: "/proc/self/fd").count)
        try work(3000)
        let after = (memory, LinuxFile.names(in: "/proc/self/fd").count)
        #expect(after.0 - before.0 < 8 << 20, "\(before) \(after)")
        #expect(after.1 <= before.1, "\(before) \(after)")
    }

    /// The memory that this process occupies, in bytes; see proc_pid_statm(5).
    private var memory: Int {
        let fields = (LinuxFile.text("/proc/self/statm") ?? "").split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4096
    }
}
