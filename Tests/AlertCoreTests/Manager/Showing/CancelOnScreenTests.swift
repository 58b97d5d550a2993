import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// Notes the state of the alert that it is told of.
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

@Suite("Cancelling what is on the screen", .inParallel)
struct CancelOnScreenTests {
    private let queue = InMemoryStore(clock: ManualClock())
    private let recorder = Recorder()
    private let presenter = ScriptedPresenter()

    @Test("A delegate hears of a cancel once, though it is requested again and can't be stored")
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
        let show = try #require(await manager.presentation.show)
        await show.requestCancel(.own(.program))
        await show.requestCancel(.own(.program))
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

    @Test("A cancel that one screen has left undone is carried out by the next")
    func earlierScreen() async throws {
        let asker = try await AlertManager(queue)
        let id = try await asker.show(.yesNo())
        // Whoever requests it does not wait for a screen here.
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

    @Test("A delegate is told of a cancelled alert as one that is on the screen")
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

    @Test("A delegate is told of a snoozed alert as one that is still on the screen")
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
