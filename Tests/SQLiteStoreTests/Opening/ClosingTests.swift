import AlertCore
import Glibc
import Linux
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Closing", .inParallel)
struct ClosingTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private var logSize: Int64? { FileIdentity(path: queue.path + "-wal")?.size }

    private func ask(_ count: Int) async throws {
        let store = try await queue.store()
        for number in 0..<count { try await store.ask(.yesNo("\(number)")) }
        _ = try await store.pending(limit: 1)
        await store.close()
    }

    @Test(
        "The last process to close copies the log into the database, however short it is",
        arguments: [1, 20])
    func last(count: Int) async throws {
        try await ask(count)
        #expect(logSize == 0)
        // Without its log, and without locks.
        let file = try Database(path: queue.path, access: .unchanging)
        #expect(try file.first("SELECT count(*) FROM alerts") { Int($0.integer()) } == count)
    }

    @Test("While another process has the queue open, a long log stays and is not read again")
    func others() async throws {
        let other = try await queue.store()
        try await ask(20)
        #expect(try #require(logSize) > 0)
        #expect(try await other.pendingCount() == 20)
        await other.close()
    }

    @Test("If another process holds the lock for long, closing leaves the log for the next process")
    func locked() async throws {
        let lock = WriterLock(path: queue.path + "-lock", mode: 0o600)
        let store = try await queue.store()
        try await store.ask(.yesNo())
        try lock.acquire(within: .seconds(20))
        await store.close()
        #expect(try #require(logSize) > 0)
        lock.release()
        try await ask(1)
        #expect(logSize == 0)
    }

    @Test("Deferred writes are stored when the store is closed")
    func deferred() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        store.post(.collected(id), by: .ana)
        await store.close()
        #expect(try queue.integer("SELECT count(*) FROM alerts WHERE collected_ms > 0") == 1)
    }
}
