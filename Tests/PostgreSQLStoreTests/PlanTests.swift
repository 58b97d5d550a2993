import AlertTables
import PostgreSQL
import PostgreSQLTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

@Suite("Plans of statements", .inParallel, .needsServer)
struct PlanTests {
    /// The server keeps plans, and knows nothing of the tables before it has analyzed them, which
    /// another test's purge would have it do.
    @Test(
        "What was planned for an empty queue does not read all of one that has grown",
        arguments: ["auto", "force_generic_plan"])
    func growth(mode: String) async throws {
        let queue = try await PostgreSQLQueue(hasDatabase: true)
        let db = try queue.connect()
        for table in ["alerts", "audit"] {
            try db.execute("ALTER TABLE \(table) SET (autovacuum_enabled = false)")
        }
        let store = try await queue.open(SystemClock())
        let first = try await store.ask(.yesNo()).id
        try await store.read("read") { try $0.db.execute("SET plan_cache_mode = \(mode)") }
        // After five times, a plan is kept.
        for _ in 0..<10 {
            _ = try await store.read("read") { try Self.rowsRead($0, first) }
        }
        for _ in 0..<20 {
            let questions = (0..<100).map { _ in Question(alert: .yesNo(), source: "test") }
            _ = try await store.commit(
                questions.map { .ask($0) }, request: nil, by: .ana, under: nil)
        }
        let count = try await store.read("read") { try Self.rowsRead($0, first) }
        #expect(count > 0 && count < 100, "\(count) rows were read")
        // Many rows were inserted at once.
        #expect(try await store.pendingCount() == 2001)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    /// One for any words would fetch all alerts of a frequent one, or all of the queue for a rare
    /// one, and each search would keep the plans of its statements.
    @Test("A search for words keeps no plan")
    func words() async throws {
        let queue = try await PostgreSQLQueue()
        let store = try await queue.open(SystemClock())
        let id = try await store.ask(.yesNo("It's \\ disk7")).id
        try await store.answer(id, 0)
        var filter = HistoryFilter()
        for text in ["disk7", "it's", "\\ disk7", "disk8"] {
            filter.text = text
            let found = try await store.history(filter, limit: 10, after: nil)
            #expect(found.map(\.id) == (text == "disk8" ? [] : [id]), "\(text)")
        }
        filter.text = nil
        _ = try await store.history(filter, limit: 10, after: nil)
        let kept = try await store.read("read") { tables in
            try tables.db.rows("SELECT statement FROM pg_prepared_statements") {
                $0.optionalText() ?? ""
            }
        }
        #expect(kept.contains { $0.contains("resolved_seq DESC") })
        #expect(!kept.contains { $0.contains("tsquery") })
        await store.close()
    }

    /// How many rows of the tables are read in order to find an alert, a page, and whether the queue
    /// was restored.
    private static func rowsRead(_ tables: ServerTables, _ id: Alert.ID) throws -> Int64 {
        try tables.db.reading {
            // The server counts on from what it has not added to its statistics yet.
            let before = try rowsRead(tables.db)
            #expect(try tables.find(.id(id)) != nil)
            #expect(try tables.comparedAlerts([id]).count == 1)
            #expect(try tables.hasRow(tables.query.waits([id])))
            #expect(try tables.hasRow(tables.query.entries([1])))
            #expect(try !tables.hasRow(tables.query.restoration(after: 0)))
            return try rowsRead(tables.db) - before
        }
    }

    private static func rowsRead(_ db: Connection) throws -> Int64 {
        let sum = """
            SELECT sum(seq_tup_read + idx_tup_fetch)::bigint FROM pg_stat_xact_user_tables
            WHERE relname IN ('alerts', 'audit') AND schemaname = 'alertq'
            """
        return try db.first(sum) { $0.integer() } ?? 0
    }
}
