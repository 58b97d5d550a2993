import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// What a screen releases when it shows nothing.
@Suite("Lead and turn", .inParallel)
struct LeadAndTurnTests {
    private let clock = ManualClock()
    private let queue: InMemoryStore
    private let store: GatedStore

    init() {
        queue = InMemoryStore(clock: clock)
        store = GatedStore(queue)
    }

    @Test("While an alert that no presenter here can show rests, another process shows it")
    func resting() async throws {
        struct Hangup: Error {}
        let lastLook = Mutex<ClockReading?>(nil)
        let errors = Recorder()
        store.gate = { [clock] place in
            if place == .looking { lastLook.withLock { $0 = clock.now() } }
        }
        let broken = ScriptedPresenter(name: "broken") { _ in throw Hangup() }
        let first = try await store.manager([broken])
        first.onError { errors.note("\($0)") }
        let id = try await first.show(.yesNo())
        #expect(
            await eventually {
                guard errors.lines.count == 1, await first.screen.isIdle else { return false }
                return clock.sleeperCount == 1
            })
        // After its pause the screen looks for other alerts, finds none, and rests itself.
        clock.advance(by: .seconds(1))
        let end = clock.now()
        #expect(
            await eventually {
                guard lastLook.withLock({ $0 }) == end else { return false }
                return await first.screen.isIdle
            })
        let sound = ScriptedPresenter()
        let second = try await AlertManager(queue, presenters: [sound])
        #expect(try await sound.waitUntilShown(within: .seconds(20)).id == id)
        await second.close()
        await first.close()
    }

    @Test("A manager that stops presenting while it looks for an alert frees the shared screen")
    func stoppedWhileLooking() async throws {
        let (turn, begun, end) = (PresentationTurn(), ChangeSignal(), ChangeSignal())
        store.gate = { place in
            guard place == .looking else { return }
            begun.change()
            await end.wait(after: 0)
        }
        let first = try await store.manager([ScriptedPresenter()], turn: turn)
        #expect(await eventually { begun.count > 0 })
        async let stop: Void = first.stopPresenting()
        #expect(await eventually { await !first.screen.isOn })
        end.change()
        await stop
        let presenter = ScriptedPresenter()
        let second = try await GatedStore(InMemoryStore()).manager([presenter], turn: turn)
        let id = try await second.show(.yesNo())
        #expect(try await presenter.waitUntilShown(within: .seconds(20)).id == id)
        await second.close()
        await first.close()
    }
}
