import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

@Suite("Leases of askers", .inParallel)
struct AskerLeaseTests {
    private let clock: ManualClock
    private let queue: InMemoryStore

    init() {
        clock = ManualClock()
        queue = InMemoryStore(clock: clock)
    }

    /// A store whose first leases fail, because its server is away.
    private func awayAtFirst() -> GatedStore {
        let store = GatedStore(queue)
        let failures = Mutex(2)
        store.gate = { place throws(AlertError) in
            guard case .leasing = place else { return }
            let isAway = failures.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            if isAway { throw .unreachable("it is away") }
        }
        return store
    }

    @Test("A call that waits has its lease once the server is back")
    func waiting() async throws {
        let (manager, other) = (try await awayAtFirst().manager(), try await AlertManager(queue))
        let asking = Task { try await manager.ask(.yesNo(key: "k")) }
        #expect(await eventually { manager.waiters.count(for: 1) == 1 })
        clock.advance(by: .seconds(10))
        #expect(try await eventually { try await !other.record(1).isOrphaned })
        try await other.answer(1, buttonAt: 0)
        #expect(try await asking.value.buttonIndex == 0)
        await manager.close()
        await other.close()
    }

    @Test("An asker has the lease on its response once the server is back")
    func response() async throws {
        let (manager, other) = (try await awayAtFirst().manager(), try await AlertManager(queue))
        let record = try await manager.submit(.yesNo()).record
        let lease = try #require(await manager.leaseResponse(to: record))
        #expect(
            try await eventually(each: .milliseconds(100)) {
                let turn = try await other.lease(record)
                defer { turn?.end() }
                return turn == nil
            })
        try await other.answer(1, buttonAt: 0)
        lease.end()
        _ = try #require(try await other.lease(record))
        await manager.close()
        await other.close()
    }

    @Test("A response can't be taken under a lease that is not held yet")
    func unheld() async throws {
        let store = GatedStore(queue)
        let isAway = Mutex(true)
        store.gate = { place throws(AlertError) in
            guard case .leasing(.handling) = place, isAway.withLock({ $0 }) else { return }
            throw .unreachable("it is away")
        }
        let manager = try await store.manager()
        let question = try await manager.submit(.yesNo())
        let early = try #require(await question.lease())
        #expect(!early.isHeld)
        #expect(try await question.lease(within: .milliseconds(50)) == nil)
        isAway.withLock { $0 = false }
        early.end()
        let lease = try #require(try await question.lease(within: .seconds(60)))
        #expect(lease.isHeld)
        lease.end()
        await manager.close()
    }

    @Test("While the server is away, no lease is promised on a response that is there")
    func resolved() async throws {
        let (manager, other) = (try await awayAtFirst().manager(), try await AlertManager(queue))
        _ = try await manager.submit(.yesNo())
        try await other.answer(1, buttonAt: 0)
        let record = try await manager.record(1)
        #expect(await manager.leaseResponse(to: record) == nil)
        await manager.close()
        await other.close()
    }

    @Test("A closure's lease lasts until it is stored that the response was taken")
    func closure() async throws {
        let store = GatedStore(queue)
        let (reached, goOn) = (Recorder(), ChangeSignal())
        store.gate = { place in
            guard case .collecting = place else { return }
            reached.note("collecting")
            await goOn.wait(after: 0)
        }
        let (manager, other) = (try await store.manager(), try await AlertManager(queue))
        let id = try await manager.show(Alert("Go?", buttons: [Alert.Button("Go") {}]))
        try await other.answer(id, buttonAt: 0)
        #expect(await eventually { reached.lines == ["collecting"] })
        let record = try await other.record(id)
        #expect(try await other.lease(record) == nil)
        goOn.change()
        #expect(
            try await eventually {
                let lease = try await other.lease(record)
                defer { lease?.end() }
                return lease != nil
            })
        await manager.close()
        await other.close()
    }

    @Test("A call that is cancelled does not wait for its lease")
    func cancelled() async throws {
        let store = GatedStore(queue)
        let goOn = ChangeSignal()
        store.gate = { place in
            if case .leasing = place { await goOn.wait(after: 0) }
        }
        let manager = try await store.manager()
        let asking = Task { try await manager.ask(.yesNo(key: "k")) }
        #expect(await eventually { manager.waiters.count(for: 1) == 1 })
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        goOn.change()
        await manager.close()
    }
}
