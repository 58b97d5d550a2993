import AlertCore
import AlertQueueTesting
import Foundation
import Glibc
import Linux
import SQLite
import StoreChecks
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Store for reading", .inParallel)
struct ReadingTests {
    private let queue: TemporaryQueue
    private let clock = ManualClock()

    /// Alert 1 is overdue, alert 2 waits, alert 3 is answered.
    init() async throws {
        queue = try TemporaryQueue()
        let store = try await queue.store(clock: clock)
        try await store.ask(.yesNo("Overdue", deadline: .after(.seconds(60))))
        try await store.ask(.yesNo("Waits"))
        try await store.ask(.yesNo("Answered"))
        try await store.answer(3, 0)
        await store.close()
        clock.advance(by: .seconds(60))
    }

    private func open(
        onCopy: @escaping @Sendable () -> Void = {}
    ) async throws -> SQLiteAlertStore {
        try await .openForReading(path: queue.path, clock: clock, onCopy: onCopy)
    }

    @Test("It refuses every change, and says that it was opened for reading")
    func refuses() async throws {
        let store = try await open()
        let screen = AttachedScreen(
            caller: Caller(via: "test"), presenters: ["x"], hasDelegate: false)
        for error in [
            await thrown { try await store.ask(.yesNo()) },
            await thrown { try await store.answer(2, 0) },
            await thrown { try await store.sweep(atMost: 1) },
            await thrown { try await store.snooze(2, for: nil, by: .ana) },
            await thrown { try await store.collect(3, by: .ana) },
            await thrown { try await store.rebuildTextIndex { _, _ in } },
            await thrown { try await store.attach(screen) },
            await thrown { try await store.lease(3) },
        ] {
            #expect(error?.kind == "notPermitted", "\(error as Any)")
            #expect(error?.description.contains("opened for reading") == true)
        }
        #expect(try await store.pendingCount() == 1)
        await store.close()
    }

    @Test("What is overdue reads as expired and not stored, and is in no history")
    func overdue() async throws {
        let store = try await open()
        let record = try await store.record(1)
        #expect(record.response?.outcome == .expired && !record.isStored)
        let listed = try await store.pending(orOverdue: true, limit: 9)
        #expect(listed.map(\.id) == [1, 2] && listed.map(\.isStored) == [false, true])
        #expect(try await store.pending(limit: 9).map(\.id) == [2])
        #expect(try await store.history(HistoryFilter(), limit: 9).map(\.id) == [3])
        #expect(try await store.history(HistoryFilter(text: "answered"), limit: 9).count == 1)
        let statistics = try await store.statistics(StatisticsQuery()) { _, _ in }
        #expect(statistics.total.outcomes == [.answered: 1])
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        #expect(try await store.structuralDamage() == [])
        try await store.checkTextIndex()
        await store.close()
    }

    @Test("It sees what another process writes, and its events")
    func followed() async throws {
        let store = try await open()
        let position = store.position
        let writer = try await queue.store(clock: clock)
        try await writer.answer(2, 0)
        #expect(try await store.record(2).response?.buttonIndex == 0)
        let news = try await store.news(after: position, of: .everybody)
        #expect(news.events.map(\.kind) == [.resolved])
        await writer.close()
        await store.close()
    }

    @Test("If a file without a log changes while it is read, a copy is read instead")
    func changed() async throws {
        for ending in ["-wal", "-shm"] { unlink(queue.path + ending) }
        let copies = Mutex(0)
        let store = try await open { copies.withLock { $0 += 1 } }
        let reads = Mutex(0)
        let path = queue.path
        let count = try await store.read("count") { db in
            let isFirst = reads.withLock { reads in
                reads += 1
                return reads == 1
            }
            // As a process does that has written to it, and emptied its log.
            if isFirst { utimes(path, nil) }
            return try db.first("SELECT count(*) FROM alerts") { $0.integer() }
        }
        #expect(count == 3 && reads.withLock { $0 } == 2 && copies.withLock { $0 } == 1)
        #expect(try await store.pendingCount() == 1)
        #expect(copies.withLock { $0 } == 1)
        await store.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: queue.directory)
        #expect(!names.contains { $0.hasSuffix("-wal") || $0.hasSuffix("-shm") }, "\(names)")
    }

    @Test("A log that appears while the file is read without one has a copy read, too")
    func logged() async throws {
        for ending in ["-wal", "-shm"] { unlink(queue.path + ending) }
        let store = try await open()
        let path = queue.path
        let writer = Mutex<Child?>(nil)
        let count = try await store.read("count") { db in
            let isFirst = try writer.withLock { writer in
                guard writer == nil else { return false }
                let child = try Child(
                    "sqlite3", [path, "CREATE TABLE more (id); INSERT INTO more VALUES (1)"])
                _ = child.wait()
                writer = child
                return true
            }
            return isFirst ? 0 : try db.first("SELECT count(*) FROM more") { $0.integer() }
        }
        #expect(count == 1)
        await store.close()
    }

    @Test("A file without a queue is not made one, and nothing appears next to it")
    func missing() async throws {
        let other = try TemporaryQueue()
        for isEmpty in [false, true] {
            if isEmpty { try Data().write(to: URL(filePath: other.path)) }
            let error = await thrown { try await SQLiteAlertStore.openForReading(path: other.path) }
            #expect(error?.kind == "storage", "\(error as Any)")
            let names = try FileManager.default.contentsOfDirectory(atPath: other.directory)
            #expect(names == (isEmpty ? ["queue.db"] : []))
        }
    }

    @Test("A file of an older schema is not migrated, and the error says what does that")
    func older() async throws {
        let db = try queue.connection()
        try db.execute("PRAGMA user_version = 0")
        let before = try Data(contentsOf: URL(filePath: queue.path))
        let error = await thrown { try await open() }
        #expect(error?.kind == "incompatible")
        #expect(error?.description.contains("asking or answering something migrates it") == true)
        #expect(try Data(contentsOf: URL(filePath: queue.path)) == before)
    }

    @Test("While a file is read without locks, the same process can open it for writing")
    func locks() async throws {
        for ending in ["-wal", "-shm"] { unlink(queue.path + ending) }
        let store = try await open()
        #expect(try await store.pendingCount() == 1)
        let writer = try await queue.store(clock: clock)
        #expect(try await store.pendingCount() == 1)
        try await writer.answer(2, 0)
        #expect(try await store.pendingCount() == 0)
        await store.close()
        // Closing the reader has not released the writer's locks: another process knows of it.
        let other = try Child("sqlite3", [queue.path, "PRAGMA journal_mode = DELETE"])
        let told = await other.finish()
        #expect(told.errors.contains("locked"), "\(told)")
        try await writer.ask(.yesNo("More"))
        #expect(try await writer.pendingCount() == 1)
        await writer.close()
    }
}
