import AlertQueue
import AlertQueueTesting
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@Suite("Key", .inParallel)
struct KeyTests {
    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("Two askers with one key share one alert and its response")
    func join() async throws {
        let first = try await AlertManager(path: queue.path, source: "s")
        let second = try await AlertManager(path: queue.path, source: "s")
        async let one = first.ask("Go?", buttons: ["Go"], key: "k")
        async let two = second.ask("Go?", buttons: ["Go"], key: "k")
        #expect(try await eventually { try await first.pendingCount() == 1 })
        let id = try #require(try await first.pending().first).id
        try await second.answer(id, button: "Go")
        #expect(try await one.alertID == id)
        #expect(try await two.alertID == id)
        await first.close()
        await second.close()
    }

    @Test("Asking again after a restart returns the recorded response, of any outcome")
    func recorded() async throws {
        let before = try await AlertManager(path: queue.path, source: "s")
        let id = try await before.show(Alert("Go?", buttons: ["Go"], key: "k"))
        try await before.withdraw(id)
        await before.close()
        let after = try await AlertManager(path: queue.path, source: "s")
        let response = try await after.ask("Go?", buttons: ["Go"], key: "k")
        #expect(response.outcome == .withdrawn)
        #expect(response.alertID == id)
        await after.close()
    }

    @Test("A question that is replaced leaves the screen, and its asker hears of the new one")
    func replaced() async throws {
        let presenter = ScriptedPresenter()
        let screen = try await AlertManager(path: queue.path, presenters: [presenter])
        // In one manager and in two, the end of the old question comes from the log.
        for (asker, other) in [(screen, screen), (try await manager(), try await manager())] {
            let old = Task { try await asker.ask("12?", buttons: ["Go"], key: "k") }
            #expect(await eventually { await presenter.waitUntilShown().alert.title == "12?" })
            let new = Task {
                try await other.ask(Alert("14?", buttons: ["Go"], key: "k"), replacing: true)
            }
            let ended = try await old.value
            let id = try #require(ended.supersededBy)
            #expect(ended.outcome == .withdrawn && ended.by == .asker)
            #expect(await eventually { await presenter.waitUntilShown().alert.title == "14?" })
            presenter.choose(.button(0))
            let response = try await new.value
            #expect(response.alertID == id && response.outcome == .answered)
            for manager in [asker, other] where manager !== screen { await manager.close() }
        }
        await screen.close()
    }

    private func manager() async throws -> AlertManager {
        try await AlertManager(path: queue.path, source: "s")
    }

    @Test("A question that comes too late to replace another one never gets the answer to that")
    func tooLateToReplace() async throws {
        let manager = try await manager()
        let id = try await manager.show(Alert("12?", buttons: ["Go"], key: "k"))
        let answered = try await manager.answer(id, button: "Go")
        let error = await #expect(throws: AlertError.self) {
            try await manager.ask(Alert("14?", buttons: ["Go"], key: "k"), replacing: true)
        }
        #expect(error == answered.response.map(AlertError.alreadyResolved))
        let same = Alert("12?", buttons: ["Go"], key: "k")
        #expect(try await manager.ask(same, replacing: true).alertID == id)
        await manager.close()
    }

    @Test("A question without a key replaces nothing, and is refused")
    func replacingWithoutKey() async throws {
        let manager = try await manager()
        let error = await #expect(throws: AlertError.self) {
            try await manager.ask(Alert("Go?", buttons: ["Go"]), replacing: true)
        }
        #expect(error?.kind == "invalid")
        #expect(try await manager.pendingCount() == 0)
        await manager.close()
    }

    @Test("A key with other content is refused, and nothing is stored")
    func conflict() async throws {
        let manager = try await AlertManager(path: queue.path, source: "s")
        try await manager.show(Alert("Go?", buttons: ["Go"], key: "k"))
        await #expect(throws: AlertError.self) {
            try await manager.show(Alert("Stay?", buttons: ["Go"], key: "k"))
        }
        #expect(try await manager.pendingCount() == 1)
        await manager.close()
    }

    @Test(
        "Cancelling the asking task withdraws the alert, unless it has a key",
        arguments: [nil, "k"])
    func cancelledTask(key: String?) async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = Task { try await manager.ask("Go?", buttons: ["Go"], key: key) }
        #expect(try await eventually { try await manager.pendingCount() == 1 })
        asking.cancel()
        await #expect(throws: CancellationError.self) { try await asking.value }
        #expect(try await manager.pendingCount() == (key == nil ? 0 : 1))
        await manager.close()
    }
}
