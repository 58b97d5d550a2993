import AlertCore
import CLinux
import Glibc
import Linux
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("At once", .inParallel)
struct AtOnceTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private func askAtOnce(
        _ title: String = "Done", key: String? = nil, limit: Int = 10_000
    ) throws(AlertError) -> Receipt? {
        try SQLiteAlertStore.enqueueAtOnce(
            Question(alert: Alert(title, key: key), source: "test", pendingLimit: limit),
            by: Caller(via: "test"), path: queue.path)
    }

    @Test("A store finds an alert that was stored without a store, with its audit entry")
    func stored() async throws {
        try await queue.store().close()
        let ids = try (0..<50).map { try #require(try askAtOnce("\($0)")).record.id }
        let store = try await queue.store()
        #expect(try await store.pending(limit: 100).map(\.id) == ids)
        let news = try await store.news(after: LogPosition(.start), of: .everybody)
        #expect(news.events.map(\.alertID) == ids)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test("Counting without a store gives a store's count; without a queue it gives nothing")
    func counted() async throws {
        #expect(SQLiteAlertStore.pendingCountAtOnce(path: queue.path) == nil)
        let store = try await queue.store()
        #expect(SQLiteAlertStore.pendingCountAtOnce(path: queue.path) == 0)
        for _ in 0..<3 { _ = try askAtOnce() }
        #expect(SQLiteAlertStore.pendingCountAtOnce(path: queue.path) == 3)
        #expect(try await store.pendingCount() == 3)
        await store.close()
    }

    @Test("An ask that would have to wait or read first is left to a store, and stores nothing")
    func left() async throws {
        #expect(try askAtOnce() == nil)
        #expect(FileIdentity(path: queue.path) == nil, "the queue was created without the lock")
        try await queue.store().close()
        #expect(try askAtOnce(key: "one") == nil)
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        #expect(clinux_flock(lock.raw, LOCK_EX) == 0)
        #expect(try askAtOnce() == nil)
        #expect(try queue.integer("SELECT count(*) FROM alerts") == 0)
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        #expect(try askAtOnce() != nil)
    }

    @Test("A source with too many waiting alerts is refused with the same error")
    func refused() async throws {
        try await queue.store().close()
        _ = try askAtOnce()
        let atOnce = #expect(throws: AlertError.self) { _ = try askAtOnce(limit: 1) }
        let store = try await queue.store()
        let later = await thrown { try await store.ask(Alert("Done"), limit: 1) }
        #expect(atOnce?.description == later?.description)
        await store.close()
    }
}
