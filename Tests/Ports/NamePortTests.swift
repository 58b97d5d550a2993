import AlertQueue
import AlertQueueTesting
import TestSupport
import Testing

/// A rename that asks for a name, ported from code that used UIAlertView:
///
///     alert.alertViewStyle = UIAlertViewStylePlainTextInput;
///     [alert textFieldAtIndex:0].placeholder = @"Name";
///     - (BOOL)alertViewShouldEnableFirstOtherButton:(UIAlertView *)alertView {
///         return [alertView textFieldAtIndex:0].text.length > 0; }
@Suite("Port: a name", .inParallel)
struct NamePortTests {
    private static func rename(_ manager: AlertManager) async throws -> String? {
        var alert = Alert("Rename the volume?", buttons: [.cancel("Keep"), "Rename"])
        alert.addTextField("name") { field in
            field.placeholder = "Name"
            field.isRequired = true
        }
        let response = try await manager.ask(alert)
        guard response.buttonIndex == alert.firstOtherButtonIndex else { return nil }
        return response.values["name"]?.text
    }

    @Test("The name that was entered comes back with the button", arguments: PortQueue.Place.tried)
    func entered(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let presenter = ScriptedPresenter { alert in
            .button(alert.firstOtherButtonIndex, Alert.Input(values: ["name": .text("nas")]))
        }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        #expect(try await Self.rename(manager) == "nas")
        await manager.close()
    }

    @Test(
        "An empty name is refused and can be corrected, and the cancel button needs none",
        arguments: PortQueue.Place.tried)
    func corrected(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        async let name = Self.rename(manager)
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.button(1))
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.button(1, Alert.Input(values: ["name": .text("nas")])))
        #expect(try await name == "nas")
        async let kept = Self.rename(manager)
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        presenter.choose(.button(0))
        #expect(try await kept == nil)
        await manager.close()
    }
}
