import AlertQueue
import AlertQueueTesting
import Synchronization
import TestSupport
import Testing

@Suite("Queue in memory", .inParallel)
struct InMemoryStoreTests {
    private static let question = Alert("Go on?", buttons: ["Yes", .cancel("No")])

    @Test("One manager shows what another asks, and both see every event")
    func askAndPresent() async throws {
        let store = InMemoryStore()
        let presenter = ScriptedPresenter { _ in .button(0) }
        let screen = try await AlertManager(store, presenters: [presenter])
        let asker = try await AlertManager(store, source: "backup")
        let response = try await asker.ask(Self.question)
        #expect(response.outcome == .answered && response.by == .person)
        #expect(response.button?.id == "Yes")
        var kinds: [AlertEvent.Kind] = []
        for try await event in screen.events(after: .start) {
            kinds.append(event.kind)
            if event.kind == .collected { break }
        }
        #expect(kinds == [.asked, .presented, .resolved, .collected])
        #expect(try await asker.history().map(\.source.name) == ["backup"])
        #expect(try await asker.verifyAudit().problems.isEmpty)
        await screen.close()
        await asker.close()
    }

    @Test("Closing one manager leaves the queue to the others")
    func closing() async throws {
        let store = InMemoryStore()
        let first = try await AlertManager(store)
        let id = try await first.show(Self.question)
        await first.close()
        await #expect(throws: AlertError.closed) { try await first.record(id) }
        let second = try await AlertManager(store)
        #expect(try await second.pending().map(\.id) == [id])
        try await second.answer(id, button: "No")
        #expect(try await second.record(id).response?.by == .program)
        await second.close()
    }

    @Test("A question with closures alone is orphaned when its manager has ended, and not before")
    func closuresWait() async throws {
        let clock = ManualClock()
        let store = InMemoryStore(clock: clock)
        let (other, asker) = (try await AlertManager(store), try await AlertManager(store))
        let handled = try await asker.show(
            Alert("Named?", buttons: ["Yes"], handler: "named"), handler: { _, _ in })
        let plain = try await asker.show(Self.question)
        let body = try await asker.show(Self.question, handler: { _, _ in })
        let answered = try await asker.show(Self.question, responseHandler: { _ in })
        let action = try await asker.show(
            Alert("Action?", buttons: [Alert.Button("Yes") {}, .cancel("No")], key: "k"))
        clock.advance(by: .seconds(20))
        let orphans = {
            try await other.pending().filter(\.isOrphaned).map(\.id)
        }
        #expect(try await eventually { try await orphans().isEmpty })
        try await other.answer(answered, button: "Yes")
        #expect(
            try await eventually { try await other.record(answered).response?.collectedAt != nil })
        #expect(try await orphans().isEmpty)
        await asker.close()
        #expect(try await orphans() == [body, action])
        let next = try await AlertManager(store)
        try await next.show(
            Alert("Action?", buttons: [Alert.Button("Yes") {}, .cancel("No")], key: "k"))
        #expect(try await eventually { try await orphans() == [body] })
        #expect(handled < plain)
        await next.close()
        await other.close()
    }

    @Test("A second screen goes on with the alert when the first one closes")
    func takeover() async throws {
        let store = InMemoryStore()
        let (one, two) = (ScriptedPresenter(), ScriptedPresenter())
        let first = try await AlertManager(store, presenters: [one])
        let asking = Task { try await first.ask(Self.question) }
        _ = try await one.waitUntilShown(within: .seconds(20))
        let second = try await AlertManager(store, presenters: [two])
        await first.close()
        await #expect(throws: AlertError.closed) { try await asking.value }
        _ = try await two.waitUntilShown(within: .seconds(20))
        two.choose(.button(1))
        for try await event in second.events(after: .start) where event.kind == .resolved {
            #expect(event.buttonIndex == 1)
            break
        }
        await second.close()
    }

    @Test("Moving the clock past a deadline applies the default button by policy")
    func deadline() async throws {
        let clock = ManualClock()
        let manager = try await AlertManager(InMemoryStore(clock: clock))
        var alert = Self.question
        alert.deadline = .after(.seconds(3600))
        alert.defaultButton = "No"
        async let asking = manager.ask(alert)
        for try await event in manager.events(after: .start) where event.kind == .asked { break }
        clock.advance(by: .seconds(3600))
        let response = try await asking
        #expect(response.outcome == .expired && response.by == .policy)
        #expect(response.button?.id == "No")
        await manager.close()
    }

    @Test("A registered handler gets the response to another manager's question, once")
    func handlers() async throws {
        let store = InMemoryStore()
        let asker = try await AlertManager(store)
        var alert = Self.question
        alert.handler = "apply"
        let id = try await asker.show(alert)
        await asker.close()
        let calls = Mutex<[Int]>([])
        var managers: [AlertManager] = []
        for _ in 0..<3 {
            let manager = try await AlertManager(store)
            try await manager.register(handler: "apply") { response in
                calls.withLock { $0.append(response.buttonIndex) }
            }
            managers.append(manager)
        }
        try await managers[0].answer(id, button: "Yes")
        for try await event in managers[0].events(after: .start) where event.kind == .collected {
            break
        }
        #expect(calls.withLock { $0 } == [0])
        for manager in managers { await manager.close() }
    }

    @Test("An empty source, and two presenters with the same name, are refused")
    func names() async throws {
        await #expect(throws: AlertError.self) {
            try await AlertManager(InMemoryStore(), source: "")
        }
        await #expect(throws: AlertError.self) {
            try await AlertManager(
                InMemoryStore(), presenters: [ScriptedPresenter(), ScriptedPresenter()])
        }
    }
}
