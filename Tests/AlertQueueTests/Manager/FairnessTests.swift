import AlertQueue
import AlertQueueTesting
import Foundation
import StoreTesting
import Synchronization
import TestSupport
import Testing

/// Notices that keep coming, or stay for long, must not hold up questions.
@Suite("Fairness", .inParallel)
struct FairnessTests {
    let queue: TemporaryQueue
    let presenter = ScriptedPresenter()
    let clock = ManualClock()

    init() throws { queue = try TemporaryQueue() }

    private func manager() async throws -> AlertManager {
        try await AlertManager(
            path: queue.path, source: "test", presenters: [presenter], clock: clock)
    }

    private func titles() -> [String] { presenter.shown.map(\.alert.title) }

    @Test("After a notice comes a waiting question of any priority")
    func questionAfterNotice() async throws {
        let asker = try await AlertManager(path: queue.path, source: "test", clock: clock)
        _ = try await asker.submit(.yesNo("Low?", priority: .low))
        for number in 1...5 {
            _ = try await asker.submit(Alert("Notice \(number)", priority: .critical))
        }
        let manager = try await manager()
        for count in 1...6 {
            #expect(await eventually { titles().count == count })
            let shown = await presenter.waitUntilShown()
            presenter.choose(shown.alert.buttons.isEmpty ? .close : .button(0))
        }
        #expect(
            titles() == [
                "Notice 1", "Low?", "Notice 2", "Notice 3", "Notice 4", "Notice 5",
            ])
        await manager.close()
        await asker.close()
    }

    @Test("A notice leaves after 10 seconds if another alert waits when it appears")
    func longNotice() async throws {
        let asker = try await AlertManager(path: queue.path, source: "test", clock: clock)
        let notice = Alert("Long", priority: .critical, dismissAfter: .seconds(31_536_000))
        let id = try await asker.submit(notice).record.id
        _ = try await asker.submit(.yesNo("Next?"))
        let manager = try await manager()
        _ = await presenter.waitUntilShown()
        #expect(await eventually { clock.sleeperCount > 0 })
        clock.advance(by: .milliseconds(9999))
        #expect(try await manager.record(id).response == nil)
        clock.advance(by: .milliseconds(1))
        #expect(await eventually { titles() == ["Long", "Next?"] })
        let response = try await manager.record(id).response
        #expect(response?.outcome == .dismissed && response?.by == .system)
        await manager.close()
        await asker.close()
    }

    @Test("A notice stays for its own time only until another alert comes")
    func aloneAtFirst() async throws {
        let manager = try await manager()
        let notice = Alert("Long", dismissAfter: .seconds(31_536_000))
        let id = try await manager.submit(notice).record.id
        _ = await presenter.waitUntilShown()
        for _ in 0..<60 {
            #expect(await eventually { clock.sleeperCount > 0 })
            clock.advance(by: .seconds(10))
        }
        #expect(try await manager.record(id).response == nil)
        _ = try await manager.submit(.yesNo("Next?"))
        #expect(
            await eventually {
                clock.advance(by: .seconds(1))
                return titles() == ["Long", "Next?"]
            })
        #expect(try await manager.record(id).response?.outcome == .dismissed)
        await manager.close()
    }

    @Test("While an alert is shown, the waiting alerts and the critical ones are counted")
    func counts() async throws {
        let manager = try await manager()
        _ = try await manager.submit(.yesNo("First?"))
        _ = await presenter.waitUntilShown()
        let presentation = Counting()
        let other = try await AlertManager(
            path: queue.path + "2", source: "test", presenters: [presentation], clock: clock)
        _ = try await other.submit(.yesNo("Shown?"))
        #expect(await eventually { presentation.latest != nil })
        #expect(await presentation.latest?.waiting() == WaitingAlerts(count: 0, critical: 0))
        _ = try await other.submit(.yesNo("Second?"))
        _ = try await other.submit(.yesNo("Third?", priority: .critical))
        #expect(await presentation.latest?.waiting() == WaitingAlerts(count: 2, critical: 1))
        #expect(presentation.latest?.waitingCount == 0)
        await other.close()
        await manager.close()
    }
}

/// A presenter that nobody answers at.
private final class Counting: AlertPresenter {
    let name = "counting"
    private let presentation = Box()

    var latest: Presentation? { presentation.value.withLock { $0 } }

    func present(_ presentation: Presentation) async throws -> PresenterChoice {
        self.presentation.value.withLock { $0 = presentation }
        await presentation.didAppear()
        try await Task.sleep(for: .seconds(600))
        return .close
    }

    private final class Box: Sendable {
        let value = Mutex<Presentation?>(nil)
    }
}
