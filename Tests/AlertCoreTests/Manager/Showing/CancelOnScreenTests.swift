import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// A delegate that records the state of the alert in each call.
private final class StateDelegate: AlertManagerDelegate {
    private let recorder: Recorder

    init(_ recorder: Recorder) { self.recorder = recorder }

    func willPresent(_ alert: AlertRecord) { recorder.note("willPresent \(alert.state)") }

    func cancel(_ alert: AlertRecord) -> CancelHandling {
        recorder.note("cancel \(alert.state)")
        return .simulateCancelButton
    }

    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
        recorder.note("willDismiss \(alert.state)")
    }
}

/// Handles a cancel once a gate opens.
private final class SilentDelegate: AlertManagerDelegate {
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func cancel(_ alert: AlertRecord) async -> CancelHandling {
        await gate.hold()
        return .handled
    }
}

/// Clears its screen once a gate opens.
private final class SlowPresenter: AlertPresenter {
    let name = "slow"
    private let gate: Gate

    init(_ gate: Gate) { self.gate = gate }

    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        await presentation.didAppear()
        try? await Task.sleep(for: .seconds(600))
        await gate.hold()
        return .close
    }
}

@Suite("Cancelling an alert on the screen", .inParallel)
struct CancelOnScreenTests {
    private let clock = ManualClock()
    private let queue: InMemoryStore
    private let recorder = Recorder()
    private let presenter = ScriptedPresenter()
    private let gate = Gate()
    /// Managers refer to their delegates weakly.
    private let silent: SilentDelegate

    init() {
        queue = InMemoryStore(clock: clock)
        silent = SilentDelegate(gate)
    }

    @Test("A delegate is asked once to cancel, even if that is requested again and can't be stored")
    func twice() async throws {
        let store = GatedStore(queue)
        let tries = Mutex(0)
        store.gate = { place throws(AlertError) in
            guard case .resolving = place else { return }
            let isFirst = tries.withLock { tries in
                tries += 1
                return tries == 1
            }
            if isFirst { throw .busy("the first try is refused") }
        }
        let delegate = RecordingDelegate(recorder)
        let manager = try await store.manager([presenter], delegate: delegate)
        try await manager.show(.yesNo())
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        let id = try #require(await manager.screen.shown)
        for _ in 1...2 { await manager.feed(.cancel(id, .own(.program))) }
        #expect(await eventually { tries.withLock { $0 } > 0 })
        // The show gets this choice after both requests.
        presenter.chooseIfShown(.button(0))
        #expect(await eventually { recorder.lines.last?.hasPrefix("didDismiss") == true })
        #expect(
            recorder.lines == [
                "willPresent", "didPresent", "cancel", "clicked 0", "willDismiss 0",
                "didDismiss 0",
            ])
        await manager.close()
    }

    @Test("A cancel that one screen has not carried out is carried out by the next")
    func earlierScreen() async throws {
        let asker = try await AlertManager(queue)
        let id = try await asker.show(.yesNo())
        // The requester does not wait for a screen here.
        try await asker.store.requestCancel(id, .own(.program), by: Caller(via: "cancel"))
        let delegate = RecordingDelegate(recorder, handling: .handled)
        let screen = try await AlertManager(queue, presenters: [presenter], delegate: delegate)
        #expect(
            try await eventually {
                try await asker.record(id).response?.cancelHandling == .handled
            })
        await screen.close()
        await asker.close()
    }

    @Test("The delegate is asked about a cancel that comes while the alert leaves the screen")
    func leaving() async throws {
        let slow = SlowPresenter(gate)
        let delegate = RecordingDelegate(recorder, handling: .handled)
        let manager = try await AlertManager(queue, presenters: [slow], delegate: delegate)
        let id = try await manager.show(.yesNo())
        #expect(await eventually { recorder.lines == ["willPresent", "didPresent"] })
        let stopping = Task { await manager.stopPresenting() }
        #expect(await gate.isReached())
        #expect(try await manager.cancel(id).response?.cancelHandling == .handled)
        #expect(recorder.lines.filter { $0 == "cancel" }.count == 1)
        gate.open()
        await stopping.value
        await manager.close()
    }

    @Test("If the screen's delegate does not respond in time, no other delegate is asked")
    func unanswered() async throws {
        let screen = try await AlertManager(queue, presenters: [presenter], delegate: silent)
        let id = try await screen.show(.yesNo())
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        let own = RecordingDelegate(recorder, handling: .handled)
        let canceller = try await AlertManager(queue, delegate: own)
        let cancelling = Task { try await canceller.cancel(id) }
        #expect(await gate.isReached())
        clock.advance(by: .seconds(5))
        #expect(try await cancelling.value.response?.cancelHandling == .simulateCancelButton)
        #expect(!recorder.lines.contains("cancel"))
        gate.open()
        await screen.close()
        await canceller.close()
    }

    @Test("A delegate of an alert on no screen has five seconds for a cancel, too")
    func hanging() async throws {
        let manager = try await AlertManager(queue, delegate: silent)
        let id = try await manager.show(.yesNo())
        let cancelling = Task { try await manager.cancel(id) }
        #expect(await gate.isReached())
        #expect(try await manager.record(id).response == nil)
        clock.advance(by: .seconds(5))
        #expect(try await cancelling.value.response?.cancelHandling == .simulateCancelButton)
        gate.open()
        await manager.close()
    }

    @Test("A cancel in a cancelled task waits for the delegate without looking all the time")
    func cancelledTask() async throws {
        let looks = Mutex(0)
        let screen = try await AlertManager(queue, presenters: [presenter], delegate: silent)
        let id = try await screen.show(.yesNo())
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        let store = GatedStore(queue)
        store.gate = { place in if place == .found(id) { looks.withLock { $0 += 1 } } }
        let canceller = try await store.manager()
        let cancelling = Task { try await canceller.cancel(id) }
        cancelling.cancel()
        #expect(await gate.isReached())
        // Long enough for hundreds of looks.
        try await Task.sleep(for: .milliseconds(200))
        gate.open()
        #expect(try await cancelling.value.response?.cancelHandling == .handled)
        #expect(looks.withLock { $0 } < 20)
        await screen.close()
        await canceller.close()
    }

    @Test("A delegate sees a cancelled alert as presented while it is on the screen")
    func cancelledState() async throws {
        let delegate = StateDelegate(recorder)
        let manager = try await AlertManager(queue, presenters: [presenter], delegate: delegate)
        let id = try await manager.show(.yesNo())
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        try await manager.cancel(id)
        #expect(await eventually { recorder.lines.count == 3 })
        #expect(
            recorder.lines == ["willPresent queued", "cancel presented", "willDismiss resolved"])
        await manager.close()
    }

    @Test("A delegate sees a snoozed alert as presented while it is still on the screen")
    func snoozedState() async throws {
        let delegate = StateDelegate(recorder)
        let manager = try await AlertManager(queue, presenters: [presenter], delegate: delegate)
        try await manager.show(.yesNo())
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.later(.seconds(60)))
        #expect(await eventually { recorder.lines.count == 2 })
        #expect(recorder.lines == ["willPresent queued", "willDismiss presented"])
        await manager.close()
    }
}
