import AlertQueue
import AlertQueueTesting
import StoreTesting
import TestSupport
import Testing

/// The right column of the README's table "If you know UIAlertView", compiled and run.
@Suite("UIAlertView table", .inParallel)
struct UIAlertViewTableTests {
    /// What the table's rows call their own things.
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

    private static func show(
        _ alert: Alert, _ manager: AlertManager, _ delegate: Listener
    ) async throws {
        try await manager.show(alert, delegate: delegate)
    }

    @Test("A sheet has the parts of a UIActionSheet, and its handler the index")
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
        // Compiled only: the default queue is the person's own.
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
    /// The alert as its record has it.
    fileprivate func asked(by source: String) -> Alert {
        var alert = self
        alert.source = source
        return alert
    }
}
