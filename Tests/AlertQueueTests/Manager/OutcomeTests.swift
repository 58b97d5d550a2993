import AlertQueue
import AlertQueueTesting
import Foundation
import StoreTesting
import TestSupport
import Testing

/// One test for each way in which an alert can end, and for the callbacks that follow.
@Suite("Outcome", .inParallel)
struct OutcomeTests {
    let queue: TemporaryQueue
    let recorder = Recorder()
    let presenter = ScriptedPresenter()
    let clock = ManualClock()

    init() throws { queue = try TemporaryQueue() }

    private func manager(
        _ delegate: RecordingDelegate? = nil
    ) async throws -> AlertManager {
        try await AlertManager(
            path: queue.path, source: "test", presenters: [presenter], delegate: delegate,
            clock: clock)
    }

    private var question: Alert {
        let recorder = recorder
        return Alert(
            "Delete?",
            buttons: [
                .destructive("Delete", id: "delete") { recorder.note("action delete") },
                .cancel("Keep", id: "keep") { recorder.note("action keep") },
            ])
    }

    private func show(_ alert: Alert, on manager: AlertManager) async throws -> Alert.ID {
        try await manager.show(alert) { [recorder] _, index in recorder.note("handler \(index)") }
    }

    private func expectStory(
        _ manager: AlertManager, _ id: Alert.ID, _ outcome: Outcome, _ index: Int,
        _ by: ResolvedBy, calls: [String]
    ) async throws {
        #expect(await eventually { recorder.lines.count >= calls.count })
        #expect(recorder.lines == calls)
        let response = try #require(try await manager.record(id).response)
        #expect(response.outcome == outcome)
        #expect(response.buttonIndex == index)
        #expect(response.by == by)
        // All calls come after the commit, and the collection comes after the handlers.
        #expect(
            try await eventually { try await manager.record(id).response?.collectedAt != nil })
        // Nothing else was called until then.
        #expect(recorder.lines == calls)
        #expect(try await manager.verifyAudit().problems.isEmpty)
        await manager.close()
    }

    @Test("A person's choice leads to the callbacks in the documented order")
    func answered() async throws {
        let delegate = RecordingDelegate(recorder)
        let manager = try await manager(delegate)
        let id = try await show(question, on: manager)
        _ = await presenter.waitUntilShown()
        presenter.choose(.button(0))
        try await expectStory(
            manager, id, .answered, 0, .person,
            calls: [
                "willPresent", "didPresent", "clicked 0", "willDismiss 0", "didDismiss 0",
                "action delete", "handler 0",
            ])
    }

    @Test("A cancel that nobody handles simulates a click on the cancel button")
    func cancelledSimulated() async throws {
        let delegate = RecordingDelegate(recorder)
        let manager = try await manager(delegate)
        let id = try await show(question, on: manager)
        _ = await presenter.waitUntilShown()
        let record = try await manager.cancel(id)
        #expect(record.response?.outcome == .cancelled)
        try await expectStory(
            manager, id, .cancelled, 1, .system,
            calls: [
                "willPresent", "didPresent", "cancel", "clicked 1", "willDismiss 1",
                "didDismiss 1", "action keep", "handler 1",
            ])
    }

    @Test("A cancel that the delegate handles runs no action and no handler")
    func cancelledHandled() async throws {
        let delegate = RecordingDelegate(recorder, handling: .handled)
        let manager = try await manager(delegate)
        let id = try await show(question, on: manager)
        _ = await presenter.waitUntilShown()
        try await manager.cancel(id)
        try await expectStory(
            manager, id, .cancelled, 1, .system,
            calls: ["willPresent", "didPresent", "cancel", "willDismiss 1", "didDismiss 1"])
    }

    @Test("The presenting manager's delegate handles a cancel from another process")
    func cancelledFromElsewhere() async throws {
        let delegate = RecordingDelegate(recorder, handling: .handled)
        let manager = try await manager(delegate)
        let id = try await show(question, on: manager)
        _ = await presenter.waitUntilShown()
        let other = try await AlertManager(path: queue.path, clock: clock)
        let record = try await other.cancel(id)
        #expect(record.response?.outcome == .cancelled)
        await other.close()
        try await expectStory(
            manager, id, .cancelled, 1, .system,
            calls: ["willPresent", "didPresent", "cancel", "willDismiss 1", "didDismiss 1"])
    }

    @Test("A cancel without a cancel button has the index −1")
    func cancelledWithoutButton() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let id = try await show(Alert("Well?", buttons: ["Yes"]), on: manager)
        try await manager.cancel(id)
        try await expectStory(manager, id, .cancelled, -1, .system, calls: ["handler -1"])
    }

    @Test("An alert without buttons dismisses itself 2 seconds after it appeared")
    func dismissed() async throws {
        let delegate = RecordingDelegate(recorder)
        let manager = try await manager(delegate)
        let id = try await show(Alert("Done"), on: manager)
        _ = await presenter.waitUntilShown()
        #expect(await eventually { recorder.lines.contains("didPresent") })
        #expect(await eventually { clock.sleeperCount > 0 })
        clock.advance(by: .milliseconds(1999))
        #expect(try await manager.record(id).state == .presented)
        clock.advance(by: .milliseconds(1))
        try await expectStory(
            manager, id, .dismissed, -1, .system,
            calls: ["willPresent", "didPresent", "willDismiss -1", "didDismiss -1", "handler -1"])
    }

    @Test("An alert without buttons that a person closes is dismissed by that person")
    func closed() async throws {
        let manager = try await manager()
        let id = try await show(Alert("Done", dismissAfter: .seconds(60)), on: manager)
        _ = await presenter.waitUntilShown()
        presenter.choose(.close)
        try await expectStory(manager, id, .dismissed, -1, .person, calls: ["handler -1"])
    }

    @Test("A passed deadline expires an alert, without a click and without a button")
    func expired() async throws {
        let delegate = RecordingDelegate(recorder)
        let manager = try await manager(delegate)
        var alert = question
        alert.deadline = .after(.seconds(3600))
        let id = try await show(alert, on: manager)
        _ = await presenter.waitUntilShown()
        #expect(await eventually { recorder.lines.contains("didPresent") })
        try await advance(until: id, on: manager, by: .seconds(3600))
        try await expectStory(
            manager, id, .expired, -1, .system,
            calls: ["willPresent", "didPresent", "willDismiss -1", "didDismiss -1", "handler -1"])
    }

    @Test("A default button is applied by policy, and never counts as a person's choice")
    func expiredWithDefault() async throws {
        let manager = try await AlertManager(path: queue.path, clock: clock)
        var alert = question
        alert.deadline = .after(.seconds(60))
        alert.defaultButton = "keep"
        let id = try await show(alert, on: manager)
        try await advance(until: id, on: manager, by: .seconds(60))
        try await expectStory(
            manager, id, .expired, 1, .policy, calls: ["action keep", "handler 1"])
    }

    @Test("A withdrawn alert leaves the screen, with the index −1")
    func withdrawn() async throws {
        let delegate = RecordingDelegate(recorder)
        let manager = try await manager(delegate)
        let id = try await show(question, on: manager)
        _ = await presenter.waitUntilShown()
        #expect(await eventually { recorder.lines.contains("didPresent") })
        try await manager.withdraw(id)
        try await expectStory(
            manager, id, .withdrawn, -1, .asker,
            calls: ["willPresent", "didPresent", "willDismiss -1", "didDismiss -1", "handler -1"])
    }

    @Test("Hundreds of alerts are withdrawn together, each by itself")
    func withdrawnTogether() async throws {
        let manager = try await AlertManager(path: queue.path, source: "test", clock: clock)
        var ids: [Alert.ID] = [987_654]
        for _ in 0..<510 {
            ids.append(try await manager.show(Alert("Delete?", buttons: ["Delete"])))
        }
        let results = try await manager.withdraw(ids + [ids[7]], .own(.program))
        let outcomes = results.map { result in (try? result.get())?.response?.outcome }
        #expect(outcomes == [nil] + Array(repeating: .withdrawn, count: 510) + [nil])
        #expect(throws: AlertError.notFound(987_654)) { try results[0].get() }
        let seventh = try #require(try await manager.record(ids[7]).response)
        #expect(throws: AlertError.alreadyResolved(seventh)) { try results[511].get() }
        #expect(try await manager.pendingCount() == 0)
        #expect(try await manager.verifyAudit().problems.isEmpty)
        await manager.close()
    }

    @Test("An alert with buttons that is closed comes again after the snooze time")
    func snoozed() async throws {
        let manager = try await manager()
        let id = try await show(question, on: manager)
        _ = await presenter.waitUntilShown()
        presenter.choose(.close)
        #expect(try await eventually { try await manager.record(id).snoozes == 1 })
        #expect(try await eventually { try await manager.record(id).state == .queued })
        #expect(await eventually { clock.sleeperCount > 0 })
        clock.advance(by: .seconds(299))
        #expect(presenter.shown.count == 1)
        clock.advance(by: .seconds(1))
        #expect(await eventually { presenter.shown.count == 2 })
        presenter.choose(.button(1))
        try await expectStory(
            manager, id, .answered, 1, .person, calls: ["action keep", "handler 1"])
    }

    @Test("An alert that was never presented makes no will and did calls")
    func neverPresented() async throws {
        let delegate = RecordingDelegate(recorder)
        let manager = try await AlertManager(
            path: queue.path, delegate: delegate, clock: clock)
        let id = try await show(question, on: manager)
        try await manager.answer(id, button: "keep")
        try await expectStory(
            manager, id, .answered, 1, .program, calls: ["action keep", "handler 1"])
    }

    /// Moves the clock once a task sleeps on it, until the alert has its response.
    private func advance(
        until id: Alert.ID, on manager: AlertManager, by duration: Duration
    ) async throws {
        #expect(await eventually { clock.sleeperCount > 0 })
        clock.advance(by: duration)
        #expect(
            try await eventually {
                clock.advance(by: .seconds(1))
                return try await manager.record(id).response != nil
            })
    }
}
