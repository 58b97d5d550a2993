import AlertCore
import AlertQueueTesting
import Foundation
import Migrations
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// Queues that the command stored when these schemas were the newest, as SQL: questions that were
/// answered, cancelled, withdrawn, expired, snoozed and purged, and some that wait.
@Suite("Stored queues", .inParallel)
struct StoredQueueTests {
    static let schemas = 1..<Migration.all.count
    /// From this schema on texts can be erased, and are in these queues.
    static let firstErasing = 3

    private func stored(_ schema: Int) throws -> (queue: TemporaryQueue, head: AuditHead) {
        let queue = try TemporaryQueue()
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "schema-\(schema).sql")
        let db = try Database(path: queue.path, access: .create)
        db.setDefensive(false)
        try db.execute(try String(contentsOf: script, encoding: .utf8))
        try db.execute("PRAGMA journal_mode = WAL")
        return (queue, try db.lastHead())
    }

    /// A moment before the deadlines of what waits in the queues.
    private static var beforeDeadlines: ManualClock {
        ManualClock(
            ClockReading(wallMilliseconds: 1_795_300_000_000, bootMilliseconds: 5, boot: "other"))
    }

    private static var snapshots: Alert {
        Alert(
            "Delete 40 GB of old snapshots?", message: "tank/old",
            buttons: [Alert.Button("Delete", id: "delete"), .cancel("Keep", id: "keep")],
            key: "snapshots")
    }

    private static var root: Caller {
        var caller = Caller(via: "ask")
        caller.identity.uid = 0
        return caller
    }

    private func ask(_ alert: Alert, _ store: SQLiteAlertStore) async throws -> AlertRecord {
        try await store.enqueue(Question(alert: alert, source: "backup"), by: Self.root).record
    }

    @Test("As a backup it is migrated while it is restored, and stays as it is itself")
    func restored() async throws {
        for schema in Self.schemas {
            let (queue, head) = try stored(schema)
            let target = try TemporaryQueue()
            let report = try await QueueRestore(of: queue.path, to: target.path).run(
                expecting: head, force: false, by: .ana
            ) { _, _, _ in }
            #expect(report.backup == head && report.kept == [], "schema \(schema)")
            #expect(try queue.integer("PRAGMA user_version") == Int64(schema))
            let store = try await target.store()
            #expect(try await store.quickAuditReport(expecting: head) != nil, "schema \(schema)")
            #expect(try await store.ask(.yesNo("Next")).id == report.nextAlert)
            await store.close()
        }
    }

    @Test("It is migrated, verifies with the head that was saved, and tells what it told before")
    func opened() async throws {
        for schema in Self.schemas {
            let (queue, head) = try stored(schema)
            let store = try await queue.store(clock: Self.beforeDeadlines)
            #expect(try queue.integer("PRAGMA user_version") == Int64(Migration.all.count))
            let report = try await store.verify(expecting: head)
            #expect(report.problems.isEmpty, "schema \(schema): \(report.problems)")
            #expect(try await store.quickAuditReport(expecting: head) != nil, "schema \(schema)")
            let history = try await store.history(.init(), limit: 9, after: nil)
            let outcomes = history.sorted { $0.id < $1.id }.compactMap(\.response?.outcome)
            let expected: [Outcome] = [.answered, .expired, .answered, .withdrawn, .cancelled]
            #expect(outcomes == expected)
            for id in [1, 3, 4, 6, 7] as [Alert.ID] {
                let host = try await store.record(id).response?.responder?.host
                #expect(host == (id == 3 ? nil : "nas"))
            }
            #expect(try await store.record(1).response?.button?.id == "keep")
            #expect(try await store.record(1).isErased == (schema >= Self.firstErasing))
            await store.close()
        }
    }

    @Test("What waits is shown and answered, and the log goes on")
    func goesOn() async throws {
        for schema in Self.schemas {
            let (queue, head) = try stored(schema)
            // A year later the deadline of alert 2 has passed, and so has the snooze of alert 5.
            let later = ClockReading(
                wallMilliseconds: 1_795_400_000_000 + 365 * 86_400_000, bootMilliseconds: 5,
                boot: "later")
            let store = try await queue.store(clock: ManualClock(later))
            try await store.sweep(atMost: 5)
            #expect(try await store.record(2).response?.outcome == .expired)
            // The source of alert 5 had another one waiting, and so that of alert 8 comes before.
            let notice = try await store.next(ScreenQuery(for: ["test"]))
            #expect(notice.record?.id == 8)
            _ = try await store.resolve(8, .dismiss, by: .ana)
            #expect(try await store.next(ScreenQuery(for: ["test"])).record?.id == 5)
            #expect(try await store.answer(5, 0).response?.button?.id == "Yes")
            let new = try await store.ask(.yesNo("New?")).id
            #expect(new == 9)
            try await store.answer(new, 1)
            let report = try await store.verify(expecting: head)
            #expect(report.problems.isEmpty, "schema \(schema): \(report.problems)")
            await store.close()
        }
    }

    @Test("A key that was purged answers no question with other buttons")
    func purgedKey() async throws {
        for schema in Self.schemas {
            let (queue, _) = try stored(schema)
            let store = try await queue.store()
            let joined = try await ask(Self.snapshots, store)
            #expect(joined.response?.button?.id == "keep")
            for first in [Alert.Button.destructive("Delete", id: "delete"), "All"] {
                var other = Self.snapshots
                other.buttons[0] = first
                let question = other
                let error = await thrown { try await ask(question, store) }
                #expect(error?.kind == "keyConflict")
            }
            await store.close()
        }
    }

    @Test("What this version purges of it keeps its key for one question, and its buttons")
    func purgedNow() async throws {
        for schema in Self.schemas.prefix(Self.firstErasing - 1) {
            let (queue, head) = try stored(schema)
            let store = try await queue.store()
            let report = try await store.erase(before: .distantFuture, by: Self.root) { _ in }
            #expect(report.erased > 0 && report.contradicted == 0)
            #expect(try await store.verify(expecting: head).problems.isEmpty)
            #expect(try await store.record(1).isErased)
            // Who asks the same has its texts.
            #expect(try await ask(Self.snapshots, store).response?.button?.title == "Keep")
            var other = Self.snapshots
            other.title = "Delete everything?"
            let error = await thrown { [other] in try await ask(other, store) }
            #expect(error?.kind == "keyConflict")
            try queue.forge("UPDATE alerts SET buttons = replace(buttons, 'keep', 'safe')")
            #expect(await thrown { try await store.record(1) }?.kind == "inconsistent")
            await store.close()
        }
    }

    @Test("A program of an earlier version that still has the file open writes nothing more")
    func olderProgram() async throws {
        for schema in Self.schemas {
            let (queue, _) = try stored(schema)
            let older = try queue.connection()
            let entries = try older.lastSequence()
            let entry = """
                INSERT INTO audit (seq, at_ms, event, uid, via, host, pid, previous, hash)
                VALUES (\(entries + 1), 0, 'seen', 0, 'test', 'host', 1, zeroblob(32),
                    zeroblob(32))
                """
            let store = try await queue.store()
            let error = #expect(throws: SQLiteError.self) { try older.run(entry) }
            #expect(error?.description.contains("needs_a_newer_alertq") == true)
            #expect(try older.lastSequence() == entries)
            // The same entry is refused for no other reason.
            try older.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
            try older.run(entry)
            await store.close()
        }
    }

    @Test("A deadline in it follows no wall clock: these versions knew no moments")
    func moment() async throws {
        for schema in Self.schemas {
            let (queue, _) = try stored(schema)
            let store = try await queue.store()
            try queue.forge("UPDATE alerts SET expires_boot_ms = NULL WHERE id = 2")
            #expect(await thrown { try await store.answer(2, 0) }?.kind == "inconsistent")
            #expect(try await store.quickAuditReport(expecting: nil) == nil)
            #expect(try await store.verify(expecting: nil).problems.map(\.alertID) == [2])
            await store.close()
        }
    }

    @Test("It is checked like any other: what was changed in it is told to nobody")
    func changed() async throws {
        for schema in Self.schemas {
            let (queue, _) = try stored(schema)
            let store = try await queue.store()
            try queue.forge(
                "UPDATE responses SET button_index = 0, button = 'delete' WHERE seq = 1")
            #expect(await thrown { try await store.record(1) }?.kind == "inconsistent")
            try queue.forge("UPDATE alerts SET expires_ms = expires_ms + 1 WHERE id = 2")
            #expect(await thrown { try await store.answer(2, 0) }?.kind == "inconsistent")
            await store.close()
        }
    }
}
