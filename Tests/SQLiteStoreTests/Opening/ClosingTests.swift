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

    @Test("The last one to close leaves no long log that the next one would have to read")
    func last() async throws {
        try await ask(20)
        #expect(logSize == 0)
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 20)
    }

    @Test("A short log stays, because emptying it costs two syncs")
    func short() async throws {
        try await ask(20)
        try await ask(1)
        #expect(try #require(logSize) > 0)
    }

    @Test("While somebody else has the queue open, a long log stays and is not read again")
    func others() async throws {
        let other = try await queue.store()
        try await ask(20)
        #expect(try #require(logSize) > 0)
        #expect(try await other.pendingCount() == 20)
        await other.close()
    }

    @Test("Processes that live for one commit each don't make the log longer and longer")
    func many() async throws {
        for _ in 0..<30 {
            try await ask(2)
            #expect(try #require(logSize) < 1 << 20)
        }
        let store = try await queue.store()
        #expect(try await store.pendingCount() == 60)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("What nobody waits for is written when the store is closed")
    func deferred() async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo()).id
        try await store.answer(id, 0)
        store.post(.collected(id), by: .ana)
        await store.close()
        #expect(try queue.integer("SELECT count(*) FROM responses WHERE collected_ms > 0") == 1)
    }
}
