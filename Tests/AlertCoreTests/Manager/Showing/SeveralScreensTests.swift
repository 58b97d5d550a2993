import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// Moments between two screens of one queue.
@Suite("Several screens", .inParallel)
struct SeveralScreensTests {
    private let queue = InMemoryStore()
    private let store: GatedStore

    init() { store = GatedStore(queue) }

    /// Holds a look-up of an alert, once, until it is resolved.
    private func answerWhileLookedUp(_ id: Alert.ID, by manager: AlertManager) -> ChangeSignal {
        let isHeld = Mutex(false)
        let answered = ChangeSignal()
        store.gate = { place async throws(AlertError) in
            guard case .found(id) = place else { return }
            let isFirst = isHeld.withLock { held in
                defer { held = true }
                return !held
            }
            guard isFirst else { return }
            _ = try await manager.answer(id, button: "Yes")
            answered.change()
        }
        return answered
    }

    @Test("An alert that is answered while a screen looks it up does not appear there")
    func answeredWhileLookedUp() async throws {
        let first = ScriptedPresenter()
        let leader = try await AlertManager(queue, presenters: [first])
        let id = try await leader.show(.yesNo())
        #expect(try await first.waitUntilShown(within: .seconds(20)).id == id)
        let follower = try await store.manager()
        let answered = answerWhileLookedUp(id, by: follower)
        let second = ScriptedPresenter()
        try await follower.startPresenting([second])
        #expect(await eventually { answered.count > 0 })
        let next = try await leader.show(.yesNo("Next?"))
        #expect(await eventually { second.shown.map(\.id) == [next] })
        await follower.close()
        await leader.close()
    }

    @Test("An alert that is answered while the leader looks for the next one does not appear")
    func answeredWhileChosen() async throws {
        let manager = try await store.manager()
        let id = try await manager.show(.yesNo())
        let answered = answerWhileLookedUp(id, by: manager)
        let presenter = ScriptedPresenter()
        try await manager.startPresenting([presenter])
        #expect(await eventually { answered.count > 0 })
        let next = try await manager.show(.yesNo("Next?"))
        #expect(await eventually { presenter.shown.map(\.id) == [next] })
        await manager.close()
    }

    @Test("A screen that another queue's alert keeps busy sleeps, and others lead meanwhile")
    func busy() async throws {
        let turn = PresentationTurn()
        let waits = Mutex(0)
        store.gate = { place in if place == .watching { waits.withLock { $0 += 1 } } }
        let shared = ScriptedPresenter(name: "terminal")
        let own = try await GatedStore(InMemoryStore()).manager([shared], turn: turn)
        try await own.show(.yesNo("Of one queue"))
        _ = try await shared.waitUntilShown(within: .seconds(20))
        let busy = try await store.manager([shared], turn: turn)
        #expect(
            await eventually {
                let screens = await busy.screens()
                return screens.leader == nil && screens.followers.map(\.isBusy) == [true]
            })
        let before = waits.withLock { $0 }
        try await Task.sleep(for: .seconds(1))
        // A look each second, and those that the change itself caused.
        #expect(waits.withLock { $0 } - before < 8)
        let other = ScriptedPresenter(name: "terminal")
        let second = try await AlertManager(queue, presenters: [other])
        let id = try await busy.show(.yesNo("Of the other"))
        #expect(try await other.waitUntilShown(within: .seconds(20)).id == id)
        #expect(shared.shown.count == 1)
        shared.choose(.button(0))
        #expect(await eventually { shared.shown.map(\.id).last == id && shared.shown.count == 2 })
        for manager in [own, busy, second] { await manager.close() }
    }

    @Test("A delegate that takes its time on the leading screen does not hold up the others")
    func slowDelegate() async throws {
        final class Slow: AlertManagerDelegate {
            let isHeld = ChangeSignal()
            nonisolated(nonsending) func didDismiss(
                _ alert: AlertRecord, withButtonAt index: Int
            ) async {
                await isHeld.wait(after: 0)
            }
        }
        let (delegate, first, second) = (Slow(), ScriptedPresenter(), ScriptedPresenter())
        let leader = try await AlertManager(queue, presenters: [first], delegate: delegate)
        let other = try await AlertManager(queue, presenters: [second])
        let id = try await other.show(.yesNo())
        for presenter in [first, second] {
            #expect(try await presenter.waitUntilShown(within: .seconds(20)).id == id)
        }
        second.choose(.button(0))
        #expect(try await eventually { try await other.record(id).response != nil })
        let next = try await other.show(.yesNo("Next?"))
        #expect(await eventually { second.shown.map(\.id) == [id, next] })
        delegate.isHeld.change()
        #expect(await eventually { first.shown.map(\.id) == [id, next] })
        await leader.close()
        await other.close()
    }

    @Test("A notice leaves all screens although the leading one never gets it to appear")
    func hungNotice() async throws {
        struct Hung: AlertPresenter {
            let name = "hung"
            func present(_ presentation: Presentation) async throws -> PresenterChoice {
                try await Task.sleep(for: .seconds(3600))
                return .close
            }
        }
        let leader = try await AlertManager(queue, presenters: [Hung()])
        #expect(await eventually { await leader.screens().leader != nil })
        let presenter = ScriptedPresenter()
        let other = try await AlertManager(queue, presenters: [presenter])
        let id = try await other.show(Alert("Done", dismissAfter: .milliseconds(100)))
        #expect(try await eventually { try await other.record(id).response != nil })
        #expect(try await other.record(id).response?.outcome == .dismissed)
        await other.close()
        await leader.close()
    }

    @Test("An asker hears of an alert that is shown and answered before its id is known")
    func fastAnswer() async throws {
        let recorder = Recorder()
        let delegate = RecordingDelegate(recorder)
        let asker = try await store.manager(delegate: delegate)
        // It listens already.
        try await asker.show(.yesNo("Before"))
        let presenter = ScriptedPresenter { _ in .button(0) }
        let other = try await AlertManager(queue)
        store.gate = { place async throws(AlertError) in
            guard case .asked(let id) = place else { return }
            do {
                try await other.startPresenting([presenter])
                #expect(await eventually { (try? await other.record(id).response) != nil })
            } catch {
                Issue.record(error)
            }
        }
        try await asker.show(.yesNo("Fast"))
        let calls = ["didPresent", "clicked 0", "didDismiss 0"]
        #expect(await eventually { recorder.lines.count >= 6 })
        #expect(recorder.lines == calls + calls)
        await other.close()
        await asker.close()
        #expect(recorder.lines.count == 6)
    }
}
