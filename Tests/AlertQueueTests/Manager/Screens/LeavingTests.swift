import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import SQLiteStore

/// Presenters that misbehave when an alert leaves the screen.
@Suite("Leaving the screen", .inParallel)
struct LeavingTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("An alert that appears only when it is to leave the screen does not count as presented")
    func lateAppearance() async throws {
        let recorder = Recorder()
        let delegate = RecordingDelegate(recorder)
        let manager = try await AlertManager(
            path: queue.path, presenters: [Late()], delegate: delegate)
        let id = try await manager.show(Alert("Well?", buttons: ["OK"]))
        #expect(await eventually { recorder.lines == ["willPresent"] })
        try await manager.answer(id, button: "OK")
        #expect(await eventually { recorder.lines.contains("didDismiss 0") })
        await manager.close()
        #expect(!recorder.lines.contains("didPresent"))
        let store = try await queue.store()
        let news = try await store.news(after: LogPosition(.start), of: .everybody)
        #expect(news.events.map(\.kind) == [.asked, .resolved])
        await store.close()
    }

    @Test("If a presenter fails, the others still show the alert")
    func failingPresenter() async throws {
        struct Hangup: Error {}
        let (left, right) = (ScriptedPresenter(name: "left"), ScriptedPresenter(name: "right"))
        let manager = try await AlertManager(path: queue.path, presenters: [left, right])
        let errors = Recorder()
        manager.onError { errors.note("\($0)") }
        async let asking = manager.ask("Which?", buttons: ["A"])
        _ = await left.waitUntilShown()
        _ = await right.waitUntilShown()
        left.fail(Hangup())
        #expect(await eventually { errors.lines.count == 1 })
        right.choose(.button(0))
        #expect(try await asking.responder?.via == "right")
        #expect(right.shown.count == 1)
        await manager.close()
    }

    @Test("If every presenter of a process has failed, another process shows the alert at once")
    func failingProcess() async throws {
        struct Hangup: Error {}
        let (broken, presenter) = (
            ScriptedPresenter(name: "broken") { _ in throw Hangup() }, ScriptedPresenter()
        )
        // The first manager's own pause never ends.
        let first = try await AlertManager(
            path: queue.path, presenters: [broken], clock: ManualClock())
        first.onError { _ in }
        let second = try await AlertManager(path: queue.path, presenters: [presenter])
        async let asking = first.ask("Well?", buttons: ["OK"])
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.button(0))
        #expect(try await asking.responder?.via == "scripted")
        await first.close()
        await second.close()
    }

    @Test("A presenter that does not clear its screen is left out until it does")
    func stuckPresenter() async throws {
        let (stuck, presenter, clock) = (Stuck(), ScriptedPresenter(), ManualClock())
        let manager = try await AlertManager(
            path: queue.path, presenters: [stuck, presenter], clock: clock)
        for round in 1...2 {
            async let asking = manager.ask("Round \(round)?", buttons: ["OK"])
            _ = await presenter.waitUntilShown()
            #expect(await eventually { stuck.shown.count == 1 })
            presenter.choose(.button(0))
            if round == 1 {
                // The manager waits for it, but for at most two seconds.
                #expect(await eventually { clock.sleeperCount == 1 })
                clock.advance(by: .milliseconds(1999))
                #expect(await manager.screens().leader?.alert == 1)
                clock.advance(by: .milliseconds(1))
            }
            #expect(try await asking.outcome == .answered)
        }
        stuck.gate.change()
        #expect(await eventually { await manager.screen.presenters.stuck.isEmpty })
        async let asking = manager.ask("Round 3?", buttons: ["OK"])
        #expect(await eventually { stuck.shown.count == 2 })
        _ = await presenter.waitUntilShown()
        presenter.choose(.button(0))
        #expect(try await asking.outcome == .answered)
        await manager.close()
    }
}

/// Shows its alert only when it is to clear the screen.
private struct Late: AlertPresenter {
    let name = "late"
    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        // Ends when the task is cancelled.
        try? await Task.sleep(for: .seconds(3600))
        await presentation.didAppear()
        throw CancellationError()
    }
}

/// Shows each alert until the gate is opened, and ignores cancellation.
private final class Stuck: AlertPresenter {
    let name = "stuck"
    let (shown, gate) = (ChangeSignal(), ChangeSignal())
    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        shown.change()
        // A detached task is not cancelled with this one.
        await Task.detached { [gate] in await gate.wait(after: 0) }.value
        throw CancellationError()
    }
}
