import AlertQueue
import AlertQueueTesting
import Synchronization
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
        let presenter = CarelessPresenter([
            .button(1), .button(1, Alert.Input(values: ["name": "nas"])), .button(0),
        ])
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        #expect(try await Self.rename(manager) == "nas")
        #expect(try await Self.rename(manager) == nil)
        await manager.close()
    }

    /// A presenter that doesn't enable its buttons by what has been typed, and leaves that to the
    /// queue.
    private final class CarelessPresenter: AlertPresenter {
        let name = "careless"
        private let choices: Mutex<[PresenterChoice]>

        init(_ choices: [PresenterChoice]) { self.choices = Mutex(choices.reversed()) }

        func present(_ presentation: Presentation) async throws -> PresenterChoice {
            await presentation.didAppear()
            return choices.withLock { $0.popLast() } ?? .close
        }
    }
}
