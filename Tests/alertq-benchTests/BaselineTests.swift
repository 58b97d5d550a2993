import SQLite
import SQLiteStore
import TestSupport
import Testing

@testable import alertq_bench

/// The baselines of the queue do what their rows say.
@Suite("Baselines of the benchmark", .inParallel)
struct BaselineTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test("The loops in Swift and in C leave the same rows, except for the times")
    func rows() async throws {
        let swift = try await emptyQueue("swift.db")
        let c = try await emptyQueue("c.db")
        let loop = try PlainLoop(path: swift)
        for number in 0..<3 { try loop.ask(number) }
        for number in 0..<2 { try loop.answer(loop.ask(number)) }
        let loopInC = try PlainLoopInC(path: c)
        try loopInC.ask(count: 3)
        try loopInC.askAndAnswer(count: 2)
        for table in ["alerts", "audit", "sources", "turns"] {
            let expected = try rows(of: table, in: swift)
            #expect(!expected.isEmpty)
            #expect(try rows(of: table, in: c) == expected, "\(table)")
        }
    }

    @Test("A loop that is opened again continues after the last entry")
    func goesOn() async throws {
        let path = try await emptyQueue("queue.db")
        try PlainLoopInC(path: path).ask(count: 2)
        try PlainLoopInC(path: path).ask(count: 2)
        #expect(try rows(of: "audit", in: path).count == 4)
    }

    @Test("The job queue claims and acknowledges each job once, the oldest first, and logs it")
    func jobs() throws {
        let path = directory.path + "/jobs.db"
        let queue = try JobQueue(path: path)
        try queue.enqueue(count: 1)
        try queue.cycle(count: 3)
        let db = try Database(path: path)
        let states = try db.rows("SELECT state || ' ' || attempts FROM jobs ORDER BY id") {
            $0.text()
        }
        #expect(states == ["done 1", "done 1", "done 1", "ready 0"])
        let events = try db.rows("SELECT event || ' ' || job_id FROM audit ORDER BY seq") {
            $0.text()
        }
        #expect(
            events == [
                "enqueued 1", "enqueued 2", "claimed 1", "acknowledged 1", "enqueued 3",
                "claimed 2", "acknowledged 2", "enqueued 4", "claimed 3", "acknowledged 3",
            ])
        #expect(try db.first("PRAGMA journal_mode") { $0.text() } == "wal")
    }

    @Test("A baseline that can't be opened reports why")
    func errors() throws {
        let missing = directory.path + "/missing/queue.db"
        let loop = #expect(throws: BenchmarkError.self) { try PlainLoopInC(path: missing) }
        #expect(loop?.description.contains("unable to open database file (14)") == true)
        let jobs = #expect(throws: BenchmarkError.self) { try JobQueue(path: missing) }
        #expect(jobs?.description.contains("unable to open database file (14)") == true)
    }

    private func emptyQueue(_ name: String) async throws -> String {
        let path = directory.path + "/" + name
        try await SQLiteAlertStore.open(path: path).close()
        return path
    }

    /// The rows of a table as texts, without the columns with times.
    private func rows(of table: String, in path: String) throws -> [String] {
        let db = try Database(path: path)
        let columns = try db.rows(
            """
            SELECT group_concat('quote(' || name || ')', ' || '' '' || ')
            FROM pragma_table_info('\(table)') WHERE name NOT LIKE '%\\_ms' ESCAPE '\\'
            """
        ) { $0.text() }
        let sql = try #require(columns.first)
        return try db.rows("SELECT \(sql) FROM \(table) ORDER BY 1") { $0.text() }
    }
}
