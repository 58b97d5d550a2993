import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import AlertQueue

/// The calls to the asking manager's delegate for alerts on the screens of other managers.
@Suite("Delegate of the asker", .inParallel)
struct AskersDelegateTests {
    private let queue: TemporaryQueue
    private let recorder = Recorder()
    private let delegate: RecordingDelegate

    init() throws {
        queue = try TemporaryQueue()
        delegate = RecordingDelegate(recorder)
    }

    private func asker(_ presenters: [any AlertPresenter] = []) async throws -> AlertManager {
        try await AlertManager(path: queue.path, presenters: presenters, delegate: delegate)
    }

    private func screen() async throws -> (AlertManager, ScriptedPresenter) {
        let presenter = ScriptedPresenter()
        return (try await AlertManager(path: queue.path, presenters: [presenter]), presenter)
    }

    private func hears(_ calls: [String]) async -> Bool {
        await eventually { recorder.lines.count >= calls.count } && recorder.lines == calls
    }

    @Test("The delegate is called for alerts on other screens, before the handler gets the answer")
    func elsewhere() async throws {
        let asker = try await asker()
        let (shower, presenter) = try await screen()
        let (other, second) = try await screen()
        try await asker.show(.yesNo()) { _, index in recorder.note("handler \(index)") }
        for presenter in [presenter, second] { _ = await presenter.waitUntilShown() }
        #expect(await hears(["didPresent"]))
        second.choose(.button(0))
        #expect(await hears(["didPresent", "clicked 0", "didDismiss 0", "handler 0"]))
        for manager in [asker, shower, other] { await manager.close() }
        #expect(recorder.lines.count == 4)
    }

    @Test("The delegate hears of other screens while its own has yet to show the alert")
    func ownIsSlow() async throws {
        let asker = try await asker([HiddenPresenter()])
        let (shower, presenter) = try await screen()
        try await asker.show(.yesNo()) { _, index in recorder.note("handler \(index)") }
        _ = await presenter.waitUntilShown()
        #expect(await hears(["willPresent", "didPresent"]))
        presenter.choose(.button(0))
        let end = ["clicked 0", "willDismiss 0", "didDismiss 0", "handler 0"]
        #expect(await hears(["willPresent", "didPresent"] + end))
        for manager in [asker, shower] { await manager.close() }
    }

    @Test("A click that comes before the log has the appearance follows didPresent all the same")
    func clickFirst() async throws {
        let asker = try await asker([HiddenPresenter()])
        let id = try await asker.show(.yesNo())
        #expect(await hears(["willPresent"]))
        let store = try await queue.store()
        // As a screen does whose note about the appearance comes later.
        _ = try await store.resolve(id, .choose(button: 0), by: .ana)
        let calls = ["willPresent", "didPresent", "clicked 0", "willDismiss 0", "didDismiss 0"]
        #expect(await hears(calls))
        await store.close()
        await asker.close()
    }

    @Test("An answer to an alert that has left the screens is no click, and nothing is dismissed")
    func afterReturn() async throws {
        let asker = try await asker()
        let (shower, presenter) = try await screen()
        let id = try await asker.show(.yesNo()) { _, index in recorder.note("handler \(index)") }
        _ = await presenter.waitUntilShown()
        #expect(await hears(["didPresent"]))
        await shower.close()
        #expect(await hears(["didPresent", "didDismiss -1"]))
        let store = try await queue.store()
        _ = try await store.resolve(id, .choose(button: 0), by: .ana)
        #expect(await hears(["didPresent", "didDismiss -1", "handler 0"]))
        await store.close()
        await asker.close()
    }

    @Test("A single alert's delegate is called for that alert and no other")
    func single() async throws {
        let asker = try await AlertManager(path: queue.path)
        let (shower, presenter) = try await screen()
        async let response = asker.ask(.yesNo(), delegate: delegate)
        _ = await presenter.waitUntilShown()
        #expect(await hears(["didPresent"]))
        presenter.choose(.button(1))
        _ = try await response
        #expect(recorder.lines == ["didPresent", "clicked 1", "didDismiss 1"])
        // It is not called for other alerts.
        try await shower.show(.yesNo())
        try await asker.show(.yesNo())
        for _ in 1...2 {
            _ = await presenter.waitUntilShown()
            presenter.choose(.button(0))
        }
        #expect(try await eventually { try await asker.pendingCount() == 0 })
        for manager in [asker, shower] { await manager.close() }
        #expect(recorder.lines.count == 3)
    }

    @Test(
        "For an alert on its own and on another screen, each call comes once",
        arguments: [true, false])
    func both(choosesHere: Bool) async throws {
        let own = ScriptedPresenter(name: "own")
        let asker = try await asker([own])
        let (shower, presenter) = try await screen()
        let id = try await asker.show(.yesNo())
        for presenter in [own, presenter] { _ = await presenter.waitUntilShown() }
        #expect(
            try await eventually {
                try await asker.audit(of: id).count { $0.event.kind == .presented } == 2
            })
        (choosesHere ? own : presenter).choose(.button(0))
        #expect(
            await hears(
                ["willPresent", "didPresent", "clicked 0", "willDismiss 0", "didDismiss 0"]))
        for manager in [asker, shower] { await manager.close() }
        #expect(recorder.lines.count == 5)
    }

    @Test("A snooze and a closed screen call didDismiss, and each new appearance didPresent")
    func again() async throws {
        let asker = try await asker()
        let (shower, presenter) = try await screen()
        let id = try await asker.show(.yesNo())
        _ = await presenter.waitUntilShown()
        presenter.choose(.later(.milliseconds(100)))
        var calls = ["didPresent", "didDismiss -1", "didPresent"]
        #expect(await hears(calls))
        _ = await presenter.waitUntilShown()
        await shower.stopPresenting()
        calls.append("didDismiss -1")
        #expect(await hears(calls))
        // An answer by a program is not a click, and the alert is on no screen.
        try await shower.answer(id, button: "Yes")
        #expect(try await asker.record(id).response != nil)
        for manager in [asker, shower] { await manager.close() }
        #expect(recorder.lines == calls)
    }

    @Test("The delegate is not called for an alert that was on no screen")
    func unseen() async throws {
        let asker = try await asker()
        let other = try await AlertManager(path: queue.path)
        async let response = asker.ask(.yesNo())
        #expect(try await eventually { try await other.pendingCount() == 1 })
        _ = try await other.answer(1, button: "Yes", as: .person)
        #expect(try await response.by == .person)
        for manager in [asker, other] { await manager.close() }
        #expect(recorder.lines.isEmpty)
    }
}
