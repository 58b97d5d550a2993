import AlertQueueTesting
import StoreChecks
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// Starting and stopping a manager's screen while an earlier start is still under way.
@Suite("Starting to present", .inParallel)
struct StartingTests {
    private let store = GatedStore(InMemoryStore())
    private let gate = Gate()

    /// Holds the next attempt to attach a screen, which then fails if there is an error.
    private func holdAttaching(_ error: AlertError? = nil) {
        let isHeld = Mutex(false)
        store.gate = { [gate] place async throws(AlertError) in
            guard place == .attaching else { return }
            let isFirst = isHeld.withLock { held in
                defer { held = true }
                return !held
            }
            guard isFirst else { return }
            await gate.hold()
            if let error { throw error }
        }
    }

    /// Lets what has been submitted to the manager's queue run until it waits.
    private func letRun(_ manager: AlertManager) async {
        for _ in 1...10 { _ = await manager.screen.isOn }
    }

    @Test("A second start presents, even if the first one, which it came upon, fails")
    func twice() async throws {
        let (first, second) = (ScriptedPresenter(name: "first"), ScriptedPresenter(name: "second"))
        let manager = try await store.manager()
        holdAttaching(.busy("there are too many screens"))
        let failing = Task { await thrown { try await manager.startPresenting([first]) } }
        #expect(await gate.isReached())
        let starting = Task.immediate { try await manager.startPresenting([second]) }
        await letRun(manager)
        gate.open()
        #expect(await failing.value?.kind == "busy")
        try await starting.value
        let id = try await manager.show(.yesNo())
        #expect(try await second.waitUntilShown(within: .seconds(20)).id == id)
        #expect(first.shown.isEmpty)
        await manager.close()
    }

    @Test("Presenters replace those that an earlier start, still under way, would show alerts on")
    func replaced() async throws {
        let (first, second) = (ScriptedPresenter(name: "first"), ScriptedPresenter(name: "second"))
        let manager = try await store.manager()
        holdAttaching()
        let earlier = Task { try await manager.startPresenting([first]) }
        #expect(await gate.isReached())
        let later = Task.immediate { try await manager.startPresenting([second]) }
        await letRun(manager)
        gate.open()
        try await earlier.value
        try await later.value
        let id = try await manager.show(.yesNo())
        #expect(try await second.waitUntilShown(within: .seconds(20)).id == id)
        #expect(first.shown.isEmpty)
        #expect(await manager.screens().all.count == 1)
        await manager.close()
    }

    @Test("A stop during a start takes the screen away")
    func stopped() async throws {
        let manager = try await store.manager()
        holdAttaching()
        let starting = Task { try await manager.startPresenting([ScriptedPresenter()]) }
        #expect(await gate.isReached())
        let stopping = Task.immediate { await manager.stopPresenting() }
        await letRun(manager)
        gate.open()
        try await starting.value
        await stopping.value
        #expect(await !manager.screen.isOn)
        #expect(await manager.screens().all.isEmpty)
        await manager.close()
    }

    @Test("A failure during a start is the start's error")
    func failed() async throws {
        let manager = try await store.manager()
        holdAttaching()
        let starting = Task {
            await thrown { try await manager.startPresenting([ScriptedPresenter()]) }
        }
        #expect(await gate.isReached())
        await manager.feed(.failed(.incompatible(path: "memory", "was replaced")))
        gate.open()
        #expect(await starting.value?.kind == "incompatible")
        #expect(await thrown { try await manager.presentingFailed() }?.kind == "incompatible")
        #expect(await manager.screens().all.isEmpty)
        await manager.close()
    }

    @Test("A closed manager does not start to present")
    func closed() async throws {
        let manager = try await store.manager()
        await manager.close()
        let error = await thrown { try await manager.startPresenting([ScriptedPresenter()]) }
        #expect(error?.kind == "closed")
    }

    @Test(
        "An alert that is asked while the screen finds none is shown before the queue counts as empty"
    )
    func askedWhileLooking() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await store.manager()
        let (looks, isEmpty) = (Recorder(), OneShot<Void>())
        store.gate = { place async throws(AlertError) in
            guard place == .found(nil) else { return }
            looks.note("nothing")
            switch looks.lines.count {
            case 1:
                Task {
                    try? await manager.presentedAll()
                    isEmpty.deliver(())
                }
                _ = await eventually { await manager.screen.isEndAwaited }
            case 2:
                // The screen makes sure that nothing is left; what comes now is for the next look.
                _ = try await manager.show(.yesNo())
            default: break
            }
        }
        try await manager.startPresenting([presenter])
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        #expect(!isEmpty.isDelivered)
        presenter.choose(.button(0))
        await isEmpty.value()
        await manager.close()
    }
}
