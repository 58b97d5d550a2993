import AlertCore
import AlertQueueTesting
import SQLite
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// A statement can succeed without changing anything; here it does because of a trigger that only
/// the writer's own connection has, and that is not part of the file's schema.
@Suite("Counted changes", .inParallel)
struct ChangeCountTests {
    private let queue: TemporaryQueue

    init() throws {
        queue = try TemporaryQueue()
    }

    private static let actions: [String: @Sendable (SQLiteAlertStore) async throws -> Void] = [
        "INSERT ON alerts": { try await $0.ask(.yesNo()) },
        "INSERT ON audit": { try await $0.ask(.yesNo()) },
        "INSERT ON sources": { try await $0.ask(.yesNo(), source: "another") },
        "UPDATE OF outcome ON alerts": { try await $0.answer(1, 0) },
        "UPDATE ON sources": { try await $0.answer(1, 0) },
        "UPDATE OF snoozes ON alerts": { _ = try await $0.snooze(1, for: nil, by: .ana) },
        "UPDATE OF collected_ms ON alerts": { _ = try await $0.collect(2, by: .ana) },
        "UPDATE ON upkeep": { _ = try await $0.indexSomeTexts() },
        "UPDATE OF snoozed_ms ON alerts": { try await $0.sweep(atMost: 1) },
    ]

    /// Alert 1 waits, 2 is answered, and the snooze of 3 is over.
    private func filled(_ clock: ManualClock) async throws -> SQLiteAlertStore {
        let store = try await queue.store(clock: clock)
        for title in ["One", "Two", "Three"] { try await store.ask(.yesNo(title)) }
        try await store.answer(2, 0)
        _ = try await store.snooze(3, for: .seconds(1), by: .ana)
        clock.advance(by: .seconds(2))
        return store
    }

    @Test(
        "A statement that changes nothing is an error, and nothing of its transaction stays",
        arguments: actions.keys.sorted())
    func ignored(event: String) async throws {
        let store = try await filled(ManualClock())
        let action = try #require(Self.actions[event])
        try await store.writes.perform(.upkeep, "plant") { context in
            try context.db.execute(
                """
                CREATE TEMP TRIGGER ignored BEFORE \(event.replacing(" ON ", with: " ON main."))
                BEGIN SELECT RAISE (IGNORE); END
                """)
        }
        let entries = try queue.integer("SELECT count(*) FROM audit")
        let error = await thrown { try await action(store) }
        #expect(error?.kind == "inconsistent", "\(event)")
        #expect(try queue.integer("SELECT count(*) FROM audit") == entries)
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 3)
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE outcome IS NOT NULL") == 1)
        // It may already be gone with its connection, if that was opened again.
        try await store.writes.perform(.upkeep, "remove") { context in
            try context.db.execute("DROP TRIGGER IF EXISTS temp.ignored")
        }
        try await action(store)
        await store.close()
    }

    @Test("Collecting again, or too early, is not an error")
    func nothingToChange() async throws {
        let store = try await filled(ManualClock())
        #expect(try await store.collect(2, by: .ana))
        #expect(try await !store.collect(2, by: .ana))
        #expect(try await !store.collect(1, by: .ana))
        await store.close()
    }
}
