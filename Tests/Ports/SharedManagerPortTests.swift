import AlertQueue
import AlertQueueTesting
import TestSupport
import Testing

/// A shared manager whose alerts get their buttons from a configuration block, and buttons made
/// with a map, ported from code like this:
///
///     [[AlertManager sharedManager] showAlertWithTitle:@"Network" message:@"…"
///         configuration:^(AddButton addButton) { addButton(@"Retry", ^{ … }); }];
///     NSArray *buttons = [servers mapUsingBlock:^(Server *server) { … }];
@Suite("Port: a shared manager with a configuration closure", .inParallel, .serialized)
struct SharedManagerPortTests {
    @Test(
        "The shared manager runs the actions of a configuration closure's and a map's buttons",
        arguments: PortQueue.Place.tried)
    func configuration(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let diary = Diary()
        let presenter = ScriptedPresenter { alert in
            .button(alert.buttons.count - 1)
        }
        try AlertManager.configureShared(
            path: queue.path, source: "browser", presenters: [presenter])

        try await AlertManager.shared().show("Network", message: "No connection") { addButton in
            addButton("Give up", role: .cancel)
            addButton("Retry") { diary.note("retrying") }
        }
        #expect(await diary.lines(1) == ["retrying"])

        let servers = ["alpha", "beta", "gamma"]
        let buttons = servers.map { server in
            Alert.Button(server) { diary.note("connecting to \(server)") }
        }
        let id = try await AlertManager.shared().show(Alert("Which server?", buttons: buttons))
        #expect(await diary.lines(2).last == "connecting to gamma")
        #expect(try await AlertManager.shared().record(id).source.name == "browser")
        #expect(throws: AlertError.self) {
            try AlertManager.configureShared(source: "other")
        }
        try await AlertManager.shared().close()

        // Once closed, the shared manager can be configured again.
        try AlertManager.configureShared(path: queue.path, source: "other")
        #expect(try await AlertManager.shared().source == "other")
        try await AlertManager.shared().startPresenting([presenter])
        try await AlertManager.shared().show(Alert("Once more?", buttons: buttons))
        #expect(await diary.lines(3).last == "connecting to gamma")
        try await AlertManager.shared().close()
    }
}
