import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

@Suite("Patience with a failing disk", .inParallel)
struct ExpiryPatienceTests {
    private let clock = ManualClock()
    /// The store's clock, which stands still: the store stores no expiry until a test moves it.
    private let storeClock = ManualClock()

    @Test("After an expiry was stored, the next failure is tolerated for the full time again")
    func renewed() async throws {
        let store = GatedStore(InMemoryStore(clock: storeClock))
        let tries = Mutex<[Alert.ID]>([])
        store.gate = { [storeClock] place throws(AlertError) in
            guard case .expiring(let id) = place else { return }
            let isFirst = tries.withLock { tries in
                defer { tries.append(id) }
                return !tries.contains(id)
            }
            if isFirst { throw .storage(operation: "write", "the first try is refused") }
            storeClock.advance(by: .seconds(60))
        }
        let manager = try await store.manager(clock: clock)
        async let first = manager.ask(.yesNo(deadline: .after(.seconds(60))))
        #expect(await eventually { manager.waiters.count(for: 1) == 1 })
        async let second = manager.ask(.yesNo(deadline: .after(.seconds(120))))
        #expect(await eventually { manager.waiters.count(for: 2) == 1 })
        clock.advance(by: .seconds(60))
        // The manager may have tried again by now.
        #expect(await eventually { tries.withLock { $0.first } == 1 })
        // By then the first failure is longer ago than the tolerated time.
        let end = ContinuousClock.now.advanced(by: .seconds(5))
        #expect(try await first.outcome == .expired)
        #expect(await eventually { ContinuousClock.now >= end })
        clock.advance(by: .seconds(60))
        #expect(try await second.outcome == .expired)
        #expect(tries.withLock { $0.filter { $0 == 2 }.count } == 2)
        await manager.close()
    }
}
