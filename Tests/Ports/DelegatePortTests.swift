import AlertQueue
import AlertQueueTesting
import TestSupport
import Testing

/// A view controller that is the delegate of its alerts, ported from code that used UIAlertView:
///
///     UIAlertView *alert = [[UIAlertView alloc] initWithTitle:@"Low Battery" message:@"…"
///         delegate:self cancelButtonTitle:@"Ignore" otherButtonTitles:@"Save", @"Quit", nil];
///     [alert show];
///     - (void)alertView:(UIAlertView *)alertView clickedButtonAtIndex:(NSInteger)index { … }
@MainActor
private final class BatteryController: AlertManagerDelegate {
    let diary = Diary()
    private let manager: AlertManager
    private var isAsking = false

    init(manager: AlertManager) { self.manager = manager }

    func warn() async throws -> Alert.ID {
        let alert = Alert(
            "Low battery", message: "5 % left",
            buttons: [.cancel("Ignore"), "Save", "Quit"])
        return try await manager.show(alert, delegate: self)
    }

    func willPresent(_ alert: AlertRecord) {
        isAsking = true
        diary.note("will present “\(alert.alert.title)”")
    }

    func didPresent(_ alert: AlertRecord) { diary.note("did present") }

    func clicked(_ alert: AlertRecord, buttonAt index: Int) {
        let alert = alert.alert
        switch index {
        case alert.cancelButtonIndex: diary.note("ignored")
        case alert.firstOtherButtonIndex: diary.note("saving")
        default: diary.note("clicked \(alert.buttons[index].title)")
        }
    }

    func willDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
        diary.note("will dismiss \(index)")
    }

    func didDismiss(_ alert: AlertRecord, withButtonAt index: Int) {
        isAsking = false
        diary.note("did dismiss \(index)")
    }
}

@Suite("Port: a delegate", .inParallel)
@MainActor
struct DelegatePortTests {
    @Test(
        "A click comes between the appearance and the dismissal, on the main actor",
        arguments: PortQueue.Place.tried)
    func click(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let presenter = ScriptedPresenter { .button($0.firstOtherButtonIndex) }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let controller = BatteryController(manager: manager)
        _ = try await controller.warn()
        #expect(
            await controller.diary.lines(5) == [
                "will present “Low battery”", "did present", "saving", "will dismiss 1",
                "did dismiss 1",
            ])
        await manager.close()
    }

    @Test("A system cancel is a click on the cancel button", arguments: PortQueue.Place.tried)
    func cancel(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let controller = BatteryController(manager: manager)
        let id = try await controller.warn()
        _ = try await presenter.waitUntilShown(within: .seconds(20))
        try await manager.cancel(id)
        #expect(
            await controller.diary.lines(5) == [
                "will present “Low battery”", "did present", "ignored", "will dismiss 0",
                "did dismiss 0",
            ])
        await manager.close()
    }

    @Test(
        "A dismissal by the program with an index is not a click", arguments: PortQueue.Place.tried)
    func programmaticDismissal(place: PortQueue.Place) async throws {
        let queue = try await PortQueue(in: place)
        let presenter = ScriptedPresenter()
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        let controller = BatteryController(manager: manager)
        let id = try await controller.warn()
        let shown = try await presenter.waitUntilShown(within: .seconds(20))
        #expect(shown.id == id)
        _ = await controller.diary.lines(2)
        // dismissWithClickedButtonIndex:animated:
        try await manager.answer(id, buttonAt: 2)
        #expect(
            await controller.diary.lines(4) == [
                "will present “Low battery”", "did present", "will dismiss 2", "did dismiss 2",
            ])
        #expect(try await manager.record(id).response?.by == .program)
        await manager.close()
    }
}
