import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// A delegate that answers the alert in the last call that it gets.
private final class LastCallDelegate: AlertManagerDelegate {
    private let body = Mutex<@Sendable (Alert.ID) async -> Void>({ _ in })

    var answer: @Sendable (Alert.ID) async -> Void {
        get { body.withLock { $0 } }
        set { body.withLock { $0 = newValue } }
    }

    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) async {
        await answer(alert.id)
    }
}

/// Responses that come before anything waits for them, or after it stopped waiting.
@Suite("Missed responses", .inParallel)
struct MissedResponseTests {
    private let queue = InMemoryStore(clock: ManualClock())
    private let recorder = Recorder()

    @Test("An answer that comes before the closures of its alert are kept runs them")
    func beforeClosures() async throws {
        let store = GatedStore(queue)
        let manager = try await store.manager()
        store.gate = { [weak manager] place in
            guard case .asked(let id) = place else { return }
            _ = try? await manager?.answer(id, button: "Yes")
        }
        try await manager.show(.yesNo()) { [recorder] _, index in recorder.note("\(index)") }
        #expect(await eventually { recorder.lines == ["0"] })
        await manager.close()
    }

    @Test("Another process's answer that is noticed before anyone waits for it is not missed")
    func heardTooEarly() async throws {
        let store = GatedStore(queue)
        let position = Mutex<Int64>(0)
        let manager = try await store.manager()
        let other = try await AlertManager(queue)
        // While this waits, the manager follows the log.
        try await manager.show(.yesNo("First?")) { _, _ in }
        store.gate = { place in
            switch place {
            case .listening(let sequence):
                position.withLock { $0 = sequence }
            case .asked(let id):
                _ = try? await other.answer(id, button: "Yes")
                let end = other.store.position.head.sequence
                let isHeard = await eventually { position.withLock { $0 } >= end }
                #expect(isHeard)
            default:
                break
            }
        }
        try await manager.show(.yesNo("Second?")) { [recorder] alert, index in
            recorder.note("\(alert.title) \(index)")
        }
        #expect(await eventually { recorder.lines == ["Second? 0"] })
        await other.close()
        await manager.close()
    }

    @Test("A manager follows other processes again after a time in which it waited for nothing")
    func secondInterest() async throws {
        let manager = try await AlertManager(queue)
        let other = try await AlertManager(queue)
        for id in 1...2 as ClosedRange<Alert.ID> {
            let asking = Task {
                _ = try await manager.ask(.yesNo())
                recorder.note("\(id)")
            }
            #expect(await eventually { manager.waiters.count(for: id) == 1 })
            try await other.answer(id, button: "Yes")
            #expect(await eventually { recorder.lines.last == "\(id)" })
            #expect(await !manager.isInterestedInLog)
            asking.cancel()
        }
        await other.close()
        await manager.close()
    }

    @Test("The log is followed for a waiting call before the manager has begun to watch its alert")
    func onlyWaiting() async throws {
        let store = GatedStore(queue)
        let looks = Mutex(0)
        store.gate = { place in
            if case .listening = place { looks.withLock { $0 += 1 } }
        }
        let manager = try await store.manager()
        manager.waiters.add(Waiters.Wait(), for: 1)
        await manager.follow(from: .start)
        // After its first look, a listener on whose news nothing depends stops.
        #expect(await eventually { looks.withLock { $0 } >= 2 })
        await manager.close()
    }

    @Test("An answer that comes during the delegate's last call runs the alert's handler")
    func lastCall() async throws {
        let delegate = LastCallDelegate()
        let presenter = ScriptedPresenter { _ in .later(nil) }
        let manager = try await AlertManager(queue, presenters: [presenter], delegate: delegate)
        delegate.answer = { [weak manager] id in
            _ = try? await manager?.answer(id, button: "Yes")
        }
        try await manager.show(.yesNo()) { [recorder] _, index in recorder.note("\(index)") }
        #expect(await eventually { recorder.lines == ["0"] })
        await manager.close()
    }

    @Test("A screen that an alert has left does not take its response")
    func afterShow() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(queue, presenters: [presenter])
        let id = try await manager.show(.yesNo())
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.later(nil))
        #expect(await eventually { await manager.screen.shown == nil })
        let waiting = Task { try await manager.resolution(of: id).response?.button?.id }
        #expect(await eventually { manager.waiters.count(for: id) == 1 })
        try await AlertManager(queue).answer(id, button: "Yes")
        #expect(try await waiting.value == "Yes")
        await manager.close()
    }
}
