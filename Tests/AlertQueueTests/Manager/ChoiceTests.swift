import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

private enum Decision: AlertChoice { case deploy, later }

private struct Nothing: AlertChoice {
    static var allCases: [Nothing] { [] }
}

@Suite("Enums as buttons", .inParallel)
struct ChoiceTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    private func note(_ decision: Decision?, _ response: Response) {
        recorder.note("\(decision.map { "\($0)" } ?? "nobody") by \(response.by)")
    }

    @Test("A choice comes with the response that tells who made it")
    func response() async throws {
        let presenter = ScriptedPresenter { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let (choice, response) = try await manager.ask(Alert("Deploy?"), choosing: Decision.self)
        #expect(choice == .deploy && response.by == .person)
        await manager.stopPresenting()
        var alert = Alert("Deploy?")
        alert.deadline = .after(.milliseconds(20))
        alert.defaultButton = "later"
        let applied = try await manager.ask(alert, choosing: Decision.self)
        #expect(applied.choice == .later && applied.response.by == .policy)
        await manager.close()
    }

    @Test("show hands its handler the case, and nil when nobody chose")
    func show() async throws {
        let manager = try await AlertManager(path: queue.path)
        let answered = try await manager.show(Alert("Deploy?"), as: Decision.self, handler: note)
        #expect(try await manager.record(answered).alert.buttons == Decision.buttons)
        try await manager.answer(answered, button: "deploy")
        #expect(await eventually { recorder.lines == ["deploy by program"] })
        let withdrawn = try await manager.show(Alert("Deploy?"), as: Decision.self, handler: note)
        try await manager.withdraw(withdrawn)
        #expect(await eventually { recorder.lines.last == "nobody by asker" })
        await manager.close()
    }

    @Test("register hands its code the case, and nil for a button of an earlier version")
    func register() async throws {
        let manager = try await AlertManager(path: queue.path)
        try await manager.register(handler: "deploy", as: Decision.self, note)
        for button in ["deploy", "never"] {
            let id = try await manager.show(
                Alert("Deploy?", buttons: ["deploy", "never"], handler: "deploy"))
            try await manager.answer(id, button: button)
            #expect(
                try await eventually { try await manager.record(id).response?.collectedAt != nil })
        }
        #expect(recorder.lines == ["deploy by program", "nobody by program"])
        await manager.close()
    }

    @Test("An enum without cases is refused, and nothing is stored")
    func empty() async throws {
        let manager = try await AlertManager(path: queue.path)
        let expected = AlertError.invalid(
            "enum Nothing", "has no cases, and so no buttons to choose from")
        await #expect(throws: expected) {
            _ = try await manager.ask(Alert("Well?"), choosing: Nothing.self)
        }
        await #expect(throws: expected) {
            try await manager.show(Alert("Well?"), as: Nothing.self) { _, _ in }
        }
        await #expect(throws: expected) {
            try await manager.register(handler: "h", as: Nothing.self) { _, _ in }
        }
        #expect(try await manager.pendingCount() == 0)
        await manager.close()
    }
}
