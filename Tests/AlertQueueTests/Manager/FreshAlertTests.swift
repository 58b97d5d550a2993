import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

/// A manager that presents need not look up the alerts that it has just asked itself; that must
/// not change anything else.
@Suite("Fresh alerts", .inParallel)
struct FreshAlertTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    /// A presenting manager that has already found that there is nothing to show.
    private func idleManager(_ presenter: ScriptedPresenter) async throws -> AlertManager {
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        _ = try await manager.show(.yesNo("warm up"))
        _ = await presenter.waitUntilShown()
        presenter.choose(.button(0))
        try await manager.presentedAll()
        return manager
    }

    @Test("An alert that another manager asked first is shown before a manager's own")
    func order() async throws {
        for round in 0..<20 {
            let presenter = ScriptedPresenter { _ in .button(0) }
            let other = try await AlertManager(path: queue.path)
            let manager = try await AlertManager(path: queue.path, presenters: [presenter])
            _ = try await manager.ask(.yesNo("warm up"))
            try await other.show(.yesNo("theirs \(round)"))
            _ = try await manager.ask(.yesNo("mine \(round)"))
            #expect(
                presenter.shown.map(\.alert.title).suffix(2) == [
                    "theirs \(round)", "mine \(round)",
                ])
            await manager.close()
            await other.close()
        }
    }

    @Test("Alerts that wait together come in the order of their priority")
    func priorities() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await idleManager(presenter)
        try await manager.show(.yesNo("first"))
        #expect(await presenter.waitUntilShown().alert.title == "first")
        try await manager.show(.yesNo("low", priority: .low))
        try await manager.show(.yesNo("high", priority: .high))
        presenter.choose(.button(0))
        #expect(await eventually { presenter.shown.last?.alert.title == "high" })
        presenter.choose(.button(0))
        #expect(await eventually { presenter.shown.last?.alert.title == "low" })
        await manager.close()
    }

    @Test("An alert that no presenter of a manager may show waits without blocking others")
    func otherPresenters() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await idleManager(presenter)
        let id = try await manager.show(.yesNo("elsewhere"), on: ["desktop"])
        try await manager.show(.yesNo("here"))
        #expect(await presenter.waitUntilShown().alert.title == "here")
        #expect(try await manager.pending().contains { $0.id == id })
        await manager.close()
    }

    @Test("A fresh alert comes again after a snooze")
    func snoozed() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await idleManager(presenter)
        try await manager.show(.yesNo("later"))
        _ = await presenter.waitUntilShown()
        presenter.choose(.later(.milliseconds(50)))
        #expect(
            await eventually { presenter.shown.filter { $0.alert.title == "later" }.count == 2 })
        await manager.close()
    }

    @Test("An asker gets an expiry that is stored together with another write")
    func expiryInPassing() async throws {
        let clock = ManualClock()
        let manager = try await AlertManager(path: queue.path, clock: clock)
        let asking = Task {
            try await manager.ask(.yesNo("soon", deadline: .after(.seconds(60))))
        }
        #expect(try await eventually { try await manager.pendingCount() == 1 })
        clock.advance(by: .seconds(61))
        _ = try await manager.history()
        #expect(try await asking.value.outcome == .expired)
        await manager.close()
    }

    @Test("A manager that shows a single alert does not show others that it asks itself")
    func only() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path)
        let shown = try await manager.show(.yesNo("shown"))
        try await manager.startPresenting([presenter], only: shown)
        #expect(await presenter.waitUntilShown().id == shown)
        presenter.choose(.button(0))
        try await manager.presentedAll()
        #expect(await eventually { await manager.screen.isIdle })
        try await manager.show(.yesNo("not shown"))
        try await manager.presentedAll()
        #expect(presenter.shown.map(\.id) == [shown])
        await manager.close()
    }
}
