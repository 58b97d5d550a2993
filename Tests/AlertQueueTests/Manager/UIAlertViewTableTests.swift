import AlertQueue
import AlertQueueTesting
import StoreChecks
import StoreTesting
import TestSupport
import Testing

/// The right column of the table in "If you know UIAlertView", compiled and run.
@Suite("UIAlertView table", .inParallel)
struct UIAlertViewTableTests {
    /// The objects that the table's rows refer to.
    private actor Items {
        private(set) var isDeleted = false
        func delete() throws { isDeleted = true }
    }

    private final class Listener: AlertManagerDelegate {
        let recorder = Recorder()
        func willPresent(_ alert: AlertRecord) { recorder.note("willPresent") }
        func didPresent(_ alert: AlertRecord) { recorder.note("didPresent") }
        func clicked(_ alert: AlertRecord, buttonAt index: Int) { recorder.note("clicked") }
        func cancel(_ alert: AlertRecord) -> CancelHandling { .simulateCancelButton }
        func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
            recorder.note("willDismiss")
        }
        func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
            recorder.note("didDismiss")
        }
    }

    let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    @Test("An alert has the parts of a UIAlertView")
    func parts() async throws {
        let (path, presenter, delegate) = (queue.path, ScriptedPresenter(), Listener())
        let manager = try await AlertManager(
            path: path, presenters: [presenter], delegate: delegate)
        let alert = Alert("Title", message: "Message", buttons: [.cancel("No"), "Yes"])
        #expect(alert.cancelButtonIndex == 0)
        #expect(alert.firstOtherButtonIndex == 1)
        #expect(alert.buttons[1].title == "Yes")
        try await manager.show(alert)
        let id = await presenter.waitUntilShown().id
        #expect(
            try await eventually { try await manager.record(id).state == .presented })
        try await manager.answer(id, buttonAt: 1)
        #expect(try await manager.record(id).response?.button?.id == "Yes")
        #expect(await eventually { delegate.recorder.lines.last == "didDismiss" })
        let own = Listener()
        let question = Alert("Own", buttons: ["Yes"])
        try await Self.show(question, manager, own)
        #expect(await presenter.waitUntilShown().alert == question.asked(by: manager.source))
        presenter.choose(.button(0))
        #expect(await eventually { own.recorder.lines.last == "didDismiss" })
        await manager.close()
    }

    @Test("A field has the text that was entered, as a text field of UIAlertView has")
    func textField() async throws {
        let presenter = ScriptedPresenter { _ in
            .button(0, Alert.Input(values: ["name": .text("nas-2026")]))
        }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        var form = Alert("Name?", buttons: ["OK", .cancel("Cancel")])
        form.addTextField("name") { $0.placeholder = "nas" }
        let response = try await manager.ask(form)
        #expect(response.values["name"]?.text == "nas-2026")
        await manager.close()
    }

    @Test("A missing title and repeated labels are completed, in what is stored and handed back")
    func completed() async throws {
        let presenter = ScriptedPresenter { $0.buttons.isEmpty ? .close : .button(1) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let notice = try await manager.show(Alert("", message: "Saved"))
        #expect(try await manager.record(notice).alert.title == "Saved")
        #expect(try await manager.record(notice).alert.message == nil)
        let response = try await manager.ask(Alert("Done", buttons: ["OK", "OK"]))
        #expect(response.buttonIndex == 1 && response.button?.id == "OK#2")
        let seen = Recorder()
        let sheet = Alert.sheet(" ", message: "\n Item\n\nTwo\nlines", others: ["A", "A", "A"])
        let id = try await manager.show(sheet) { alert, index in
            seen.note("\(alert.title)|\(alert.message ?? "-")|\(alert.buttons[index].id)")
        }
        #expect(await eventually { seen.lines == ["Item|Two\nlines|A#2"] })
        let buttons = try await manager.record(id).alert.buttons
        #expect(buttons.map(\.id) == ["A", "A#2", "A#3"])
        #expect(buttons.map(\.title) == ["A", "A", "A"])
        // A key finds the same alert again.
        let keyed = Alert("", message: "Again", buttons: ["OK", "OK"], key: "k")
        #expect(try await manager.show(keyed) == manager.show(keyed))
        #expect(try await manager.verifyAudit().problems.isEmpty)
        await manager.close()
    }

    @Test(
        "What can't be completed is refused, and stores nothing",
        arguments: [
            Alert(""), Alert(" ", message: " \n"),
            Alert("", message: String(repeating: "x", count: 1025)),
            Alert("T", buttons: [.init("A", id: "x"), .init("B", id: "x")]),
            Alert("T", buttons: [.init("A", id: "B"), "B"]),
            Alert("T", buttons: [.init("B", id: "A"), "A"]),
        ])
    func refused(alert: Alert) async throws {
        let manager = try await AlertManager(path: queue.path)
        let error = await #expect(throws: AlertError.self) { try await manager.show(alert) }
        #expect(error?.kind == "invalid", "\(error as Any)")
        #expect(try await manager.pending(limit: 1).isEmpty)
        await manager.close()
    }

    private static func show(
        _ alert: Alert, _ manager: AlertManager, _ delegate: Listener
    ) async throws {
        try await manager.show(alert, delegate: delegate)
    }

    @Test("A sheet has the parts of a UIActionSheet, and its handler gets the index")
    func sheet() async throws {
        let presenter = ScriptedPresenter(name: "terminal") { _ in .button(0) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let items = Items()
        let sheet = Alert.sheet(
            "Item", cancel: "Cancel", destructive: "Delete", others: ["Rename", "Copy"])
        #expect(sheet.destructiveButtonIndex == 0)
        try await manager.show(sheet) { alert, index in
            if index == alert.cancelButtonIndex { return }
        }
        try await manager.show(sheet, on: ["terminal"])
        let button = Alert.Button("Delete", role: .destructive) { try await items.delete() }
        try await manager.show(Alert("Item", buttons: [button]))
        #expect(await eventually { await items.isDeleted })
        await manager.close()
    }

    @Test("A configuration closure has the parts of a shared manager's block")
    func configuration() async throws {
        // Only compiled: the default queue belongs to the user who runs the tests.
        let ask = { (presenter: ScriptedPresenter, delegate: Listener) in
            try AlertManager.configureShared(presenters: [presenter], delegate: delegate)
            try await AlertManager.shared().show("Title") { addButton in addButton("OK") }
        }
        _ = ask
        let connect = { @Sendable (server: String) async throws in }
        let servers = ["alpha", "beta"]
        let buttons =
            servers.map { server in Alert.Button(server) { try await connect(server) } }
        #expect(buttons == ["alpha", "beta"])
        let manager = try await AlertManager(path: queue.path)
        let id = try await manager.show("Title") { addButton in
            addButton("Yes")
        }
        #expect(try await manager.record(id).alert.buttons.map(\.id) == ["Yes"])
        await manager.close()
    }
}

extension Alert {
    /// The alert as it is in its record.
    fileprivate func asked(by source: String) -> Alert {
        var alert = self
        alert.source = source
        return alert
    }
}
