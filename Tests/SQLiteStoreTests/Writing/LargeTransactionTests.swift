import AlertCore
import AlertQueueTesting
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// In a transaction of many questions, one statement inserts several rows.
@Suite("Large transactions", .inParallel)
struct LargeTransactionTests {
    private typealias Member = @Sendable (SQLiteAlertStore) async throws -> AlertRecord

    /// Runs members in one transaction, in this order; `nil` stands for one that failed.
    private func together(
        _ members: [Member], in store: SQLiteAlertStore
    ) async throws -> [AlertRecord?] {
        let gate = Gate()
        async let blocked: Void = store.writes.perform(.upkeep, "wait") { _ in gate.pass() }
        #expect(await gate.isReached())
        var tasks: [Task<AlertRecord, any Error>] = []
        for member in members {
            tasks.append(Task { try await member(store) })
            let count = tasks.count
            #expect(await store.writes.hasWaiting(count))
        }
        gate.open()
        try await blocked
        var records: [AlertRecord?] = []
        for task in tasks { records.append(try? await task.value) }
        return records
    }

    /// Questions of three sources, with and without priorities, deadlines and a key, which the
    /// last one joins; an answer comes between them.
    private static let mixed: [Member] = {
        let alerts = (1...19).map { number in
            var alert = Alert.yesNo("\(number)")
            alert.priority = number % 2 == 0 ? .high : .normal
            if number % 5 == 0 { alert.deadline = .after(.seconds(60)) }
            if number == 12 { alert.key = "key" }
            return (alert, source: "source \(number % 3)")
        }
        let asking = (alerts + [alerts[11]]).map { alert, source -> Member in
            { try await $0.ask(alert, source: source) }
        }
        return asking[..<14] + [{ try await $0.answer(1, 0) }] + asking[14...]
    }()

    /// Everything about alerts and entries that doesn't depend on chance.
    private func contents(of queue: TemporaryQueue) throws -> [String] {
        let db = try queue.connection()
        let alerts = try db.rows(
            """
            SELECT json_array(id, source_id, key, priority, title, buttons, asked_ms,
                expires_ms, expires_boot_ms, outcome, queued_seq) FROM alerts ORDER BY id
            """, []
        ) { $0.text() }
        let entries = try db.rows(
            "SELECT json_array(seq, event, alert_id, source, principal) FROM audit ORDER BY seq", []
        ) { $0.text() }
        let counts = try db.rows(
            "SELECT json_array(id, name, pending) FROM sources ORDER BY id", []
        ) { $0.text() }
        return alerts + entries + counts
    }

    @Test("Questions asked at once are stored like questions asked one after another")
    func equal() async throws {
        let (first, second) = (try TemporaryQueue(), try TemporaryQueue())
        let clock = ManualClock()
        let store = try await first.store(clock: clock)
        try await store.ask(.yesNo("before"))
        let records = try await together(Self.mixed, in: store).compactMap(\.self)
        try #require(records.count == Self.mixed.count)
        #expect(records.last?.id == 13)
        #expect(records.last == records[11])
        for record in records { #expect(try await store.record(record.id) == record) }
        let other = try await second.store(clock: clock)
        try await other.ask(.yesNo("before"))
        for member in Self.mixed { _ = try await member(other) }
        #expect(try contents(of: first) == contents(of: second))
        #expect(try first.integer("SELECT count(*) FROM alerts") == 20)
        #expect(try await store.verify(expecting: nil).problems == [])
        await store.close()
        await other.close()
    }

    @Test(
        "A question whose row or entry can't be inserted gets an error, and no other does",
        arguments: [3, 9, 12], ["alerts WHEN new.title", "audit WHEN new.source"])
    func refused(number: Int, column: String) async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let names = (1...12).map { $0 == number ? "refused" : "\($0)" }
        // A question of a known source writes nothing before its row.
        for name in names { try await store.ask(.yesNo("before"), source: name) }
        try await store.writes.perform(.upkeep, "plant") { context in
            try context.db.execute(
                """
                CREATE TEMP TRIGGER refused BEFORE INSERT ON main.\(column) = 'refused'
                BEGIN SELECT RAISE (IGNORE); END
                """)
        }
        let asking = names.map { name -> Member in { try await $0.ask(.yesNo(name), source: name) }
        }
        let records = try await together(asking, in: store)
        #expect(records.firstIndex(of: nil) == number - 1)
        #expect(records.compactMap { $0?.id } == Array(13...23))
        for record in records.compactMap(\.self) {
            #expect(try await store.record(record.id) == record)
        }
        #expect(try queue.integer("SELECT sum(pending) FROM sources WHERE name <> ''") == 23)
        #expect(try await store.verify(expecting: nil).problems == [])
        await store.close()
    }

    @Test("Ids go on where a restore has left them, and none is given twice")
    func numbers() async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        try await store.ask(.yesNo("before"))
        try queue.forge("UPDATE upkeep SET first_id = 1001")
        let asking = (1...10).map { number -> Member in { try await $0.ask(.yesNo("\(number)")) } }
        let records = try await together(asking, in: store)
        #expect(records.map { $0?.id } == Array(1001...1010))
        #expect(try await store.ask(.yesNo("after")).id == 1011)
        await store.close()
    }
}
