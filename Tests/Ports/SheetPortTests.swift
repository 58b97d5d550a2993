import AlertQueue
import AlertQueueTesting
import TestSupport
import Testing

/// An action sheet with one handler for all of its buttons, as programs wrote it with blocks for
/// UIActionSheet:
///
///     [sheet showInView:self.view handler:^(UIActionSheet *sheet, NSInteger index) {
///         if (index == sheet.cancelButtonIndex) return;
///         if (index == sheet.destructiveButtonIndex) { … } else { … }
///     }];
private struct PhotoMenu {
    let manager: AlertManager
    let diary: Diary

    func open(on presenters: [String]? = nil) async throws {
        let sheet = Alert.sheet(
            "Photo", cancel: "Cancel", destructive: "Delete", others: ["Share", "Print"])
        try await manager.show(sheet, on: presenters) { sheet, index in
            if index == sheet.cancelButtonIndex { return diary.note("left alone") }
            if index == sheet.destructiveButtonIndex { return diary.note("deleted") }
            diary.note(sheet.buttons[index].title.lowercased())
        }
    }
}

@Suite("Port: a sheet with one handler", .inParallel)
struct SheetPortTests {
    @Test(
        "The handler gets the index of whichever button was chosen",
        arguments: [(0, "deleted"), (1, "share"), (2, "print"), (3, "left alone")])
    func indexes(index: Int, expected: String) async throws {
        let queue = try PortQueue()
        let presenter = ScriptedPresenter(name: "screen") { _ in .button(index) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let menu = PhotoMenu(manager: manager, diary: Diary())
        try await menu.open()
        #expect(await menu.diary.lines(1) == [expected])
        await manager.close()
    }

    @Test("A sheet can be shown on one presenter alone")
    func onePresenter() async throws {
        let queue = try PortQueue()
        let (bar, view) = (ScriptedPresenter(name: "bar"), ScriptedPresenter(name: "view"))
        let manager = try await AlertManager(path: queue.path, presenters: [bar, view])
        let menu = PhotoMenu(manager: manager, diary: Diary())
        try await menu.open(on: ["view"])
        _ = try await view.waitUntilShown(within: .seconds(20))
        view.choose(.button(1))
        #expect(await menu.diary.lines(1) == ["share"])
        await manager.close()
        #expect(bar.shown.isEmpty)
    }

    @Test("A handler that gets the response tells a person's choice from a rule's")
    func response() async throws {
        let queue = try PortQueue()
        let diary = Diary()
        let manager = try await AlertManager(path: queue.path)
        var alert = Alert("Delete old photos?", buttons: [.destructive("Delete"), .cancel("Keep")])
        alert.deadline = .after(.milliseconds(50))
        alert.defaultButton = "Keep"
        try await manager.show(alert) { response in
            diary.note("\(response.by) \(response.button?.id ?? "-") \(response.buttonIndex)")
        }
        #expect(await diary.lines(1) == ["policy Keep 1"])
        await manager.close()
    }
}
