import AlertQueueTesting
import StoreChecks
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

@Suite("Patience with a failing disk", .inParallel)
struct ExpiryPatienceTests {
    private let clock = ManualClock()

    @Test("Expiries that can't be stored end the waits for overdue alerts, and no others")
    func overdue() async throws {
        // The queue's clock stands still, so that it stores no expiry.
        let store = GatedStore(InMemoryStore(clock: clock))
        let manager = try await store.manager(clock: clock)
        let overdue = Task { try await manager.ask(.yesNo(deadline: .after(.seconds(60)))) }
        #expect(await eventually { manager.waiters.count(for: 1) == 1 })
        let other = Task { try await manager.ask(.yesNo(deadline: .after(.seconds(120)))) }
        #expect(await eventually { manager.waiters.count(for: 2) == 1 })
        store.isOverdue.withLock { _ = $0.insert(1) }
        store.trouble.withLock { $0 = .storage(operation: "write", "the disk fails") }
        #expect(await thrown { try await overdue.value }?.kind == "storage")
        store.trouble.withLock { $0 = nil }
        clock.advance(by: .seconds(120))
        #expect(try await other.value.outcome == .expired)
        await manager.close()
    }

    @Test("A timekeeper tells of a failing disk after some seconds, and anew after a success")
    func trouble() async throws {
        let fails = Mutex(true)
        let reports = Mutex(0)
        let timekeeper = Timekeeper(clock: clock) { _ in reports.withLock { $0 += 1 } }
        timekeeper.start { () async throws(AlertError) in
            if fails.withLock({ $0 }) { throw .storage(operation: "write", "the disk fails") }
            return nil
        }
        for time in 1...2 {
            fails.withLock { $0 = true }
            #expect(
                await eventually {
                    timekeeper.lookNow()
                    return timekeeper.trouble != nil
                })
            #expect(reports.withLock { $0 } == time)
            fails.withLock { $0 = false }
            #expect(
                await eventually {
                    timekeeper.lookNow()
                    return timekeeper.trouble == nil
                })
        }
        timekeeper.stop()
    }
}
