import AlertQueue
import AlertQueueTesting
import TestSupport
import Testing

/// A list whose rows are deleted after a question, ported from code that used button items:
///
///     RIButtonItem *cancelItem = [RIButtonItem itemWithLabel:@"No" action:^{ … }];
///     RIButtonItem *deleteItem = [RIButtonItem itemWithLabel:@"Yes" action:^{ … }];
///     [[[UIAlertView alloc] initWithTitle:@"Delete This Item?" message:@"…"
///         cancelButtonItem:cancelItem otherButtonItems:deleteItem, nil] show];
private actor ItemList {
    private(set) var items: [String]
    private(set) var selected: Int?
    private let manager: AlertManager

    init(_ items: [String], manager: AlertManager) {
        self.items = items
        self.manager = manager
    }

    func deleteAfterAsking(at row: Int) async throws {
        selected = row
        try await manager.show(
            Alert(
                "Delete this item?", message: "“\(items[row])” can't be brought back.",
                buttons: [
                    .cancel("No") { await self.deselect() },
                    .destructive("Yes") { await self.delete() },
                ]))
    }

    private func deselect() { selected = nil }

    private func delete() {
        if let selected { items.remove(at: selected) }
        selected = nil
    }
}

@Suite("Port: button items with actions", .inParallel)
struct ButtonItemPortTests {
    @Test(
        "The chosen button runs its own block", arguments: ["No", "Yes"], PortQueue.Place.tried)
    func blocks(choice: String, place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let presenter = ScriptedPresenter { .button($0.buttonIndex(id: choice)) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let list = ItemList(["one", "two", "three"], manager: manager)
        try await list.deleteAfterAsking(at: 1)
        let limit = ContinuousClock.now + .seconds(20)
        while await list.selected != nil, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(await list.selected == nil)
        let left = choice == "Yes" ? ["one", "three"] : ["one", "two", "three"]
        #expect(await list.items == left)
        await manager.close()
    }
}
