import AlertQueue
import AlertQueueTesting
import TestSupport
import Testing

/// An action sheet with one handler for all its buttons, ported from code that used blocks with
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
        "The handler gets the index of the chosen button",
        arguments: [(0, "deleted"), (1, "share"), (2, "print"), (3, "left alone")],
        PortQueue.Place.tried)
    func indexes(expected: (index: Int, line: String), place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let presenter = ScriptedPresenter(name: "screen") { _ in .button(expected.index) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let menu = PhotoMenu(manager: manager, diary: Diary())
        try await menu.open()
        #expect(await menu.diary.lines(1) == [expected.line])
        await manager.close()
    }

    @Test("A sheet can be shown on a single presenter", arguments: PortQueue.Place.tried)
    func onePresenter(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
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

    @Test(
        "A handler that gets the response sees that a policy chose, not a person",
        arguments: PortQueue.Place.tried)
    func response(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
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
