import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore

/// A manager that presents need not look up what it has just asked itself; nothing else may change
/// by that.
@Suite("Fresh alerts", .inParallel)
struct FreshAlertTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    /// A presenter's manager that has nothing to show, and knows it.
    private func idleManager(_ presenter: ScriptedPresenter) async throws -> AlertManager {
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        _ = try await manager.show(.yesNo("warm up"))
        _ = await presenter.waitUntilShown()
        presenter.choose(.button(0))
        try await manager.presentedAll()
        return manager
    }

    @Test("What another manager asked before is shown before what this one asks")
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

    @Test("What is asked together comes in the order of its priority")
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

    @Test("An alert that no presenter of this manager may show waits, and holds nobody up")
    func otherPresenters() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await idleManager(presenter)
        let id = try await manager.show(.yesNo("elsewhere"), on: ["desktop"])
        try await manager.show(.yesNo("here"))
        #expect(await presenter.waitUntilShown().alert.title == "here")
        #expect(try await manager.pending().contains { $0.id == id })
        await manager.close()
    }

    @Test("A fresh alert that was snoozed comes again")
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

    @Test("The expiry of somebody's alert in the batch of another write is heard")
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

    @Test("A manager that shows one alert alone does not show what it asks itself")
    func only() async throws {
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path)
        let shown = try await manager.show(.yesNo("shown"))
        try await manager.startPresenting([presenter], only: shown)
        #expect(await presenter.waitUntilShown().id == shown)
        presenter.choose(.button(0))
        try await manager.presentedAll()
        #expect(await eventually { await manager.presentation.isWaiting })
        try await manager.show(.yesNo("not shown"))
        try await manager.presentedAll()
        #expect(presenter.shown.map(\.id) == [shown])
        await manager.close()
    }
}
