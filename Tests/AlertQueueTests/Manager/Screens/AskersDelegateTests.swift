import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import AlertQueue

/// What the delegate of the manager that asked hears of screens of other managers.
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

    @Test("It hears of its alerts on the screens of others, before the answer is handed out")
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

    @Test("A delegate of a single alert hears of that one, in place of the manager's")
    func single() async throws {
        let asker = try await AlertManager(path: queue.path)
        let (shower, presenter) = try await screen()
        async let response = asker.ask(.yesNo(), delegate: delegate)
        _ = await presenter.waitUntilShown()
        #expect(await hears(["didPresent"]))
        presenter.choose(.button(1))
        _ = try await response
        #expect(recorder.lines == ["didPresent", "clicked 1", "didDismiss 1"])
        // What others ask is nothing to it.
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

    @Test("On its own screen and on another one each call comes once", arguments: [true, false])
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

    @Test("A snooze, and a screen that goes, dismiss it; each new appearance is one")
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
        // What a program answers is no click, and it is on no screen.
        try await shower.answer(id, button: "Yes")
        #expect(try await asker.record(id).response != nil)
        for manager in [asker, shower] { await manager.close() }
        #expect(recorder.lines == calls)
    }

    @Test("What was on no screen is nothing to tell, whoever answers it")
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
