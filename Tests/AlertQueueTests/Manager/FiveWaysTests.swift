import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

private enum Decision: AlertChoice {
    case deploy
    case later

    var title: String { self == .deploy ? "Deploy now" : "Not now" }
    var role: Alert.Button.Role? { self == .later ? .cancel : nil }
}

@Suite("Five ways to ask", .inParallel)
struct FiveWaysTests {
    let queue: TemporaryQueue
    let recorder = Recorder()

    init() throws { queue = try TemporaryQueue() }

    private func manager(choosing index: Int) async throws -> AlertManager {
        let presenter = ScriptedPresenter { _ in .button(index) }
        return try await AlertManager(path: queue.path, presenters: [presenter])
    }

    @Test("A button's own action runs, and no other button's", arguments: [0, 1])
    func actions(index: Int) async throws {
        let manager = try await manager(choosing: index)
        try await manager.show(
            Alert(
                "Delete this item?",
                buttons: [
                    .cancel("No") { [recorder] in recorder.note("No") },
                    Alert.Button("Yes", role: .destructive) { [recorder] in recorder.note("Yes") },
                ]))
        #expect(await eventually { !recorder.lines.isEmpty })
        await manager.close()
        #expect(recorder.lines == [["No", "Yes"][index]])
    }

    @Test("A configuration closure adds buttons in its order, with and without actions")
    func configuration() async throws {
        let manager = try await manager(choosing: 0)
        let recorder = recorder
        let id = try await manager.show("Some random error", message: "Delete all?") { addButton in
            addButton("YES", role: .destructive) { recorder.note("YES") }
            addButton("NO", role: .cancel, nil)
        }
        #expect(await eventually { !recorder.lines.isEmpty })
        let alert = try await manager.record(id).alert
        #expect(alert.buttons.map(\.title) == ["YES", "NO"])
        #expect(alert.destructiveButtonIndex == 0)
        #expect(alert.cancelButtonIndex == 1)
        await manager.close()
    }

    @Test("A configuration closure without buttons makes an alert without buttons")
    @MainActor
    func emptyConfiguration() async throws {
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show("Done") { _ in }
        #expect(try await manager.record(id).alert.buttons.isEmpty)
        await manager.close()
    }

    @Test(
        "A sheet's handler gets the index, from which the roles can be told", arguments: [0, 1, 3])
    func sheet(index: Int) async throws {
        let manager = try await manager(choosing: index)
        let sheet = Alert.sheet(
            "Item", cancel: "Cancel", destructive: "Delete", others: ["Rename", "Copy"])
        let id = try await manager.show(sheet, on: ["scripted"]) { [recorder] alert, index in
            if index == alert.cancelButtonIndex {
                recorder.note("cancel")
            } else if index == alert.destructiveButtonIndex {
                recorder.note("delete")
            } else {
                recorder.note(alert.buttons[index].title)
            }
        }
        #expect(await eventually { !recorder.lines.isEmpty })
        #expect(recorder.lines == [[0: "delete", 1: "Rename", 3: "cancel"][index]])
        #expect(try await manager.record(id).alert.style == .actionSheet)
        await manager.close()
    }

    @Test("Asking and waiting returns the response")
    func ask() async throws {
        let manager = try await manager(choosing: 0)
        let response = try await manager.ask(
            "Apply 14 updates?", buttons: ["Apply", .cancel("Not now")], key: "updates")
        #expect(response.button?.id == "Apply")
        #expect(response.responder?.via == "scripted")
        let events = try await manager.audit()
        #expect(events.map(\.event.kind).prefix(3) == [.asked, .presented, .resolved])
        await manager.close()
    }

    @Test("Asking with an enum returns the chosen case", arguments: [0, 1])
    func choice(index: Int) async throws {
        let manager = try await manager(choosing: index)
        let decision = try await manager.ask("Deploy build 42?", as: Decision.self)
        #expect(decision == Decision.allCases[index])
        await manager.close()
    }

    @Test("Asking with an enum throws when nobody chose")
    func noChoice() async throws {
        let manager = try await AlertManager(path: queue.path)
        let asking = Task { try await manager.ask("Deploy?", as: Decision.self) }
        #expect(try await eventually { try await manager.pendingCount() == 1 })
        try await manager.withdraw(try #require(try await manager.pending().first).id)
        let error = await #expect(throws: AlertError.self) { try await asking.value }
        guard case .noChoice(let response) = error else {
            Issue.record("not noChoice: \(String(describing: error))")
            return
        }
        #expect(response.outcome == .withdrawn)
        await manager.close()
    }

    @Test("Nobody needs to hold the manager for its closures to run")
    func fireAndForget() async throws {
        let recorder = recorder
        func ask() async throws {
            let manager = try await manager(choosing: 0)
            try await manager.show(
                Alert("Go?", buttons: [Alert.Button("Go") { recorder.note("gone") }]))
        }
        try await ask()
        #expect(await eventually { recorder.lines == ["gone"] })
    }
}
