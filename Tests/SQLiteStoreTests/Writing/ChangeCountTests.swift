import AlertCore
import AlertQueueTesting
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// A statement can succeed and change nothing; here it does because of a trigger that only the
/// writer's own connection has, which is no part of the file's schema.
@Suite("Changes that are counted", .inParallel)
struct ChangeCountTests {
    private let queue: TemporaryQueue

    init() throws {
        queue = try TemporaryQueue()
    }

    private static let actions: [String: @Sendable (SQLiteAlertStore) async throws -> Void] = [
        "INSERT ON alerts": { try await $0.ask(.yesNo()) },
        "INSERT ON audit": { try await $0.ask(.yesNo()) },
        "INSERT ON sources": { try await $0.ask(.yesNo(), source: "another") },
        "INSERT ON responses": { try await $0.answer(1, 0) },
        "UPDATE OF state ON alerts": { try await $0.answer(1, 0) },
        "UPDATE ON sources": { try await $0.answer(1, 0) },
        "UPDATE OF snoozes ON alerts": { _ = try await $0.snooze(1, for: nil, by: .ana) },
        "UPDATE OF collected_ms ON responses": { _ = try await $0.collect(2, by: .ana) },
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
        "What is not stored is an error, and nothing of it stays", arguments: actions.keys.sorted())
    func ignored(event: String) async throws {
        let store = try await filled(ManualClock())
        let action = try #require(Self.actions[event])
        try await store.commits.perform(.upkeep, "plant") { context in
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
        #expect(try queue.integer("SELECT count(*) FROM responses") == 1)
        // It may be gone already, with a connection that was opened anew.
        try await store.commits.perform(.upkeep, "remove") { context in
            try context.db.execute("DROP TRIGGER IF EXISTS temp.ignored")
        }
        try await action(store)
        await store.close()
    }

    @Test("What was collected already, or is not there yet, is no error")
    func nothingToChange() async throws {
        let store = try await filled(ManualClock())
        #expect(try await store.collect(2, by: .ana))
        #expect(try await !store.collect(2, by: .ana))
        #expect(try await !store.collect(1, by: .ana))
        await store.close()
    }
}
