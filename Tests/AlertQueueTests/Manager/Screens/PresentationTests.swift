import AlertQueue
import AlertQueueTesting
import CLinux
import Foundation
import Glibc
import Linux
import StoreChecks
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore
@testable import SQLiteStore

/// A presenter that, at one stage, returns neither by itself nor when it is cancelled.
private final class EndlessPresenter: AlertPresenter {
    let name = "endless"
    let begin = ChangeSignal()
    let end = ChangeSignal()
    let isStuck = Atomic<Bool>(false)
    private let stage: String

    init(stage: String) { self.stage = stage }

    private func stay(at stage: String) async {
        guard stage == self.stage else { return }
        isStuck.store(true, ordering: .releasing)
        // A detached task is not cancelled with this one.
        await Task.detached { [end] in await end.wait(after: 0) }.value
    }

    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        await begin.wait(after: 0)
        await stay(at: "present")
        return .button(0)
    }

    func didResolve(
        _ presentation: Presentation, response: Response, choseHere: Bool
    ) async {
        await stay(at: "didResolve")
    }

    func didFail(_ presentation: Presentation, error: AlertError) async {
        await stay(at: "didFail")
    }
}

@Suite("Presentation", .inParallel)
struct PresentationTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("Of two presenters on one manager the first answer wins, and the other screen clears")
    func twoPresenters() async throws {
        let (left, right) = (
            ScriptedPresenter(name: "left"), ScriptedPresenter(name: "right")
        )
        let manager = try await AlertManager(path: queue.path, presenters: [left, right])
        async let asking = manager.ask("Which?", buttons: ["A", .cancel("B")])
        _ = await left.waitUntilShown()
        _ = await right.waitUntilShown()
        right.choose(.button(1))
        let response = try await asking
        #expect(response.button?.id == "B")
        #expect(response.responder?.via == "right")
        #expect(await eventually { !left.isShowing && left.resolutions.count == 1 })
        #expect(left.resolutions.first?.choseHere == false)
        #expect(right.resolutions.first?.choseHere == true)
        // An alert that names one presenter is not shown by the other.
        async let named = manager.ask(Alert("Left?", buttons: ["A"], presenters: ["left"]))
        _ = await left.waitUntilShown()
        left.choose(.button(0))
        #expect(try await named.responder?.via == "left")
        #expect(left.shown.count == 2 && right.shown.count == 1)
        await manager.close()
    }

    @Test("Waiting until all alerts have been presented returns at once if there are none")
    func alreadyEmpty() async throws {
        let manager = try await AlertManager(
            path: queue.path, presenters: [ScriptedPresenter()])
        #expect(await eventually { await manager.screen.isIdle })
        let isOver = Mutex(false)
        Task {
            try await manager.presentedAll()
            isOver.withLock { $0 = true }
        }
        #expect(await eventually { isOver.withLock { $0 } })
        await manager.close()
    }

    @Test("An answer by another process clears the screen, and the queue goes on")
    func answeredElsewhere() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let other = try await AlertManager(path: queue.path)
        let first = try await other.show(Alert("First", buttons: ["OK"]))
        let second = try await other.show(Alert("Second", buttons: ["OK"]))
        #expect(await presenter.waitUntilShown().id == first)
        try await other.answer(first, button: "OK")
        #expect(await eventually { presenter.shown.map(\.id) == [first, second] })
        #expect(presenter.resolutions.map(\.choseHere) == [false])
        presenter.choose(.button(0))
        #expect(try await eventually { try await other.pendingCount() == 0 })
        await manager.close()
        await other.close()
    }

    @Test("An idle presenter shows an alert at once when another process asks it")
    func askedElsewhere() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let other = try await AlertManager(path: queue.path)
        #expect(await eventually { await manager.screen.isIdle })
        let id = try await other.show(Alert("Well?", buttons: ["OK"]))
        #expect(try await presenter.waitUntilShown(within: .seconds(20)).id == id)
        presenter.choose(.button(0))
        #expect(try await eventually { try await other.record(id).response != nil })
        await manager.close()
        await other.close()
    }

    @Test("A snooze by another process clears the screen, and the alert comes again after it")
    func snoozedElsewhere() async throws {
        let (presenter, clock) = (ScriptedPresenter(), ManualClock())
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], clock: clock)
        let other = try await AlertManager(path: queue.path, clock: clock)
        let id = try await manager.show(Alert("Well?", buttons: ["OK"]))
        _ = await presenter.waitUntilShown()
        try await other.snooze(id, for: .seconds(60))
        #expect(await eventually { !presenter.isShowing })
        #expect(presenter.resolutions.isEmpty)
        clock.advance(by: .seconds(60))
        #expect(await eventually { presenter.isShowing && presenter.shown.map(\.id) == [id, id] })
        presenter.choose(.button(0))
        #expect(try await eventually { try await manager.record(id).response != nil })
        await manager.close()
        await other.close()
    }

    @Test("One alert is shown at a time, and a critical one comes next without interrupting it")
    func order() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        try await manager.show(Alert("normal 1", buttons: ["OK"]))
        _ = await presenter.waitUntilShown()
        try await manager.show(Alert("low", buttons: ["OK"], priority: .low))
        try await manager.show(Alert("normal 2", buttons: ["OK"]))
        try await manager.show(Alert("critical", buttons: ["OK"], priority: .critical))
        #expect(presenter.shown.count == 1)
        for count in 1...4 {
            #expect(await eventually { presenter.shown.count == count && presenter.isShowing })
            presenter.choose(.button(0))
        }
        #expect(try await eventually { try await manager.pendingCount() == 0 })
        #expect(
            presenter.shown.map(\.alert.title) == ["normal 1", "critical", "normal 2", "low"])
        await manager.close()
    }

    @Test("An alert comes again after its presenter failed")
    func failingPresenter() async throws {
        struct Hangup: Error {}
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let id = try await manager.show(Alert("Well?", buttons: ["OK"]))
        _ = await presenter.waitUntilShown()
        presenter.fail(Hangup())
        #expect(await eventually { presenter.shown.count == 2 && presenter.isShowing })
        presenter.choose(.button(0))
        #expect(try await eventually { try await manager.record(id).response != nil })
        await manager.close()
    }

    @Test(
        "A manager whose presenter never returns gives up the lead when it closes",
        arguments: ["present", "didResolve", "didFail"])
    func endless(stage: String) async throws {
        let presenter = EndlessPresenter(stage: stage)
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let lock = try Descriptor.open(queue.path + "-lock", mode: 0o600)
        let id = try await manager.show(Alert("Well?", buttons: ["OK"]))
        // The person's choice can't be stored meanwhile.
        if stage == "didFail" { #expect(clinux_flock(lock.raw, LOCK_EX) == 0) }
        presenter.begin.change()
        #expect(await eventually { presenter.isStuck.load(ordering: .acquiring) })
        #expect(clinux_flock(lock.raw, LOCK_UN) == 0)
        await manager.close()
        #expect(await manager.screens().leader == nil)
        let second = try await AlertManager(
            path: queue.path, presenters: [ScriptedPresenter { _ in .button(0) }])
        #expect(try await eventually { try await second.record(id).response != nil })
        await second.close()
        presenter.end.change()
    }

    @Test("An alert for another presenter waits, and does not hold up those after it")
    func otherPresenter() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let held = try await manager.show(Alert("Window?", buttons: ["OK"]), on: ["window"])
        let response = try await manager.ask("Here?", buttons: ["OK"])
        #expect(response.outcome == .answered)
        #expect(try await manager.record(held).state == .queued)
        await manager.close()
    }

    @Test("A manager that waits for a shared screen can be stopped, or gets it once it is free")
    func sharedScreen() async throws {
        let other = try TemporaryQueue()
        let (turn, presenter) = (PresentationTurn(), ScriptedPresenter())
        let first = try await AlertManager(
            path: queue.path, via: "test", presenters: [presenter], turn: turn)
        let second = try await AlertManager(
            path: other.path, via: "test", presenters: [presenter], turn: turn)
        try await first.show(Alert("First", buttons: ["OK"]))
        _ = await presenter.waitUntilShown()
        try await second.show(Alert("Second", buttons: ["OK"]))
        await second.stopPresenting()
        try await second.startPresenting([presenter], only: nil)
        #expect(presenter.shown.map(\.alert.title) == ["First"])
        presenter.choose(.button(0))
        #expect(await eventually { presenter.shown.map(\.alert.title) == ["First", "Second"] })
        await first.close()
        await second.close()
    }

    @Test("Events end when their manager closes, and not before")
    func eventsEnd() async throws {
        // The manager closes before the first read, or while the reader waits for another event.
        for round in 0..<20 {
            let manager = try await AlertManager(path: queue.path)
            let events = manager.events
            let count = Mutex(0)
            let isOver = Mutex(false)
            let reading = Task {
                for try await _ in events { count.withLock { $0 += 1 } }
                isOver.withLock { $0 = true }
            }
            if round.isMultiple(of: 2) {
                try await manager.show(Alert("Event \(round)"))
                #expect(await eventually { count.withLock { $0 } == 1 })
            }
            #expect(!isOver.withLock { $0 })
            await manager.close()
            #expect(await eventually { isOver.withLock { $0 } })
            reading.cancel()
            try await reading.value
        }
    }

    @Test("A manager without presenters attaches no screen")
    func noPresenters() async throws {
        let manager = try await AlertManager(path: queue.path)
        try await manager.show(Alert("Well?", buttons: ["OK"]))
        #expect(await manager.screens().leader == nil)
        await manager.close()
    }

    @Test("Events of every process come once, in the log's order, and can be resumed")
    func events() async throws {
        let watcher = try await AlertManager(path: queue.path)
        var events = watcher.events.makeAsyncIterator()
        let asker = try await AlertManager(path: queue.path)
        let id = try await asker.show(Alert("Well?", buttons: ["OK"]))
        var seen = [try await events.next()]
        try await watcher.answer(id, button: "OK")
        seen.append(try await events.next())
        try await asker.collect(id)
        seen.append(try await events.next())
        #expect(seen.map(\.?.kind) == [.asked, .resolved, .collected])
        #expect(seen.map(\.?.sequence) == [1, 2, 3])
        let first = try #require(seen[0])
        for try await event in watcher.events(after: first.cursor) {
            #expect(event.sequence == 2)
            break
        }
        await watcher.close()
        await asker.close()
    }
}
