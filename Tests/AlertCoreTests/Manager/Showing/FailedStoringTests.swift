import AlertCore
import AlertQueueTesting
import Synchronization
import TestSupport
import Testing

/// Answers and dismissals that can't be stored for a while.
@Suite("Failed storing", .inParallel)
struct FailedStoringTests {
    private let presenter = ScriptedPresenter()
    private let clock = ManualClock()
    private let store: GatedStore
    private let disk = Disk()

    /// Whether it fails, and how often it has.
    private final class Disk: Sendable {
        private let state = Mutex((isFailing: false, failures: 0))

        var failures: Int { state.withLock { $0.failures } }

        func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

        func check() throws(AlertError) {
            let isFailing = state.withLock { state in
                if state.isFailing { state.failures += 1 }
                return state.isFailing
            }
            if isFailing { throw .storage(operation: "store the response", "the disk fails") }
        }
    }

    init() {
        store = GatedStore(InMemoryStore(clock: clock))
        store.gate = { [disk] place throws(AlertError) in
            if case .resolving = place { try disk.check() }
        }
    }

    @Test("A dismissal that could not be stored is retried after a second")
    func dismissal() async throws {
        let manager = try await store.manager([presenter])
        async let asking = manager.ask(Alert("Done", dismissAfter: .seconds(10)))
        _ = try await presenter.waitUntilShown(within: .seconds(60))
        #expect(await eventually { clock.sleeperCount == 1 })
        disk.fail(true)
        clock.advance(by: .seconds(10))
        // The timer has fired, and waits again.
        #expect(await eventually { disk.failures == 1 && clock.sleeperCount == 1 })
        disk.fail(false)
        clock.advance(by: .milliseconds(999))
        #expect(presenter.isShowing)
        clock.advance(by: .milliseconds(1))
        #expect(try await asking.outcome == .dismissed)
        await manager.close()
    }

    @Test("An alert whose answer could not be stored is shown again after a second")
    func answer() async throws {
        let manager = try await store.manager([presenter])
        for round in 1...10 {
            async let asking = manager.ask("Go on? \(round)", buttons: ["Yes"])
            _ = try await presenter.waitUntilShown(within: .seconds(60))
            disk.fail(true)
            presenter.choose(.button(0))
            #expect(await eventually { presenter.errors.count == round })
            disk.fail(false)
            #expect(!presenter.isShowing)
            clock.advance(by: .seconds(1))
            _ = try await presenter.waitUntilShown(within: .seconds(60))
            presenter.choose(.button(0))
            #expect(try await asking.outcome == .answered)
        }
        await manager.close()
    }
}
