import AlertQueue
import AlertQueueTesting
import Foundation
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

@Suite("Notification of snoozes", .inParallel)
struct SnoozeTellingTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("Presenters are notified of a snooze and its end once it is on disk")
    func snoozedHere() async throws {
        let (left, right, clock) = (
            ScriptedPresenter(name: "left"), ScriptedPresenter(name: "right"), ManualClock()
        )
        let manager = try await AlertManager(
            path: queue.path, presenters: [left, right], clock: clock)
        let id = try await manager.show(Alert("Well?", buttons: ["OK"]))
        _ = await left.waitUntilShown()
        _ = await right.waitUntilShown()
        left.choose(.later(.seconds(60)))
        #expect(await eventually { left.snoozes.count == 1 && right.snoozes.count == 1 })
        let end = try #require(try await manager.record(id).snoozedUntil)
        #expect(left.snoozes == [.init(alertID: id, end: end)] && right.snoozes == left.snoozes)
        #expect(left.resolutions.isEmpty && !right.isShowing)
        await manager.close()
    }

    @Test("Presenters are notified of a snooze by another process")
    func elsewhere() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let other = try await AlertManager(path: queue.path)
        let id = try await manager.show(Alert("Well?", buttons: ["OK"]))
        _ = await presenter.waitUntilShown()
        let end = try #require(try await other.snooze(id, for: .seconds(600)).snoozedUntil)
        #expect(await eventually { presenter.snoozes == [.init(alertID: id, end: end)] })
        await manager.close()
        await other.close()
    }

    @Test("If a snooze and an answer elsewhere race, the presenter is notified of exactly one")
    func race() async throws {
        let presenter = ScriptedPresenter()
        let (manager, other) = (
            try await AlertManager(path: queue.path, presenters: [presenter]),
            try await AlertManager(path: queue.path)
        )
        let id = try await manager.show(Alert("Well?", buttons: ["OK"]))
        _ = await presenter.waitUntilShown()
        async let answering = other.answer(id, button: "OK")
        presenter.chooseIfShown(.later(nil))
        // If the snooze comes first, the alert is answered when it is off the screen.
        let record = try await answering
        #expect(record.response?.button?.id == "OK")
        #expect(await eventually { presenter.snoozes.count + presenter.resolutions.count == 1 })
        await manager.close()
        await other.close()
    }
}
