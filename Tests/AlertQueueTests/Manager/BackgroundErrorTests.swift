import AlertQueue
import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

/// A presenter that chooses what no person could, and counts how often it is asked to.
private final class BrokenPresenter: AlertPresenter {
    let name: String
    private let choice: PresenterChoice
    private let count = Atomic<Int>(0)
    /// Why choices could not be stored.
    private let refusals = Recorder()

    init(name: String = "broken", choosing choice: PresenterChoice) {
        (self.name, self.choice) = (name, choice)
    }

    var showings: Int { count.load(ordering: .acquiring) }
    var failures: [String] { refusals.lines }

    func present(_ presentation: Presentation) async -> PresenterChoice {
        await presentation.didAppear()
        count.add(1, ordering: .releasing)
        return choice
    }

    func didFail(_ presentation: Presentation, error: AlertError) async {
        refusals.note("\(error)")
    }
}

@Suite("Errors that no caller waits for", .inParallel)
struct BackgroundErrorTests {
    struct Trouble: Error {}

    let queue: TemporaryQueue
    let errors = Recorder()

    init() throws { queue = try TemporaryQueue() }

    private func listen(to manager: AlertManager) {
        manager.onError { [errors] error in
            switch error {
            case .closure(let id, let cause): errors.note("closure \(id) \(cause)")
            case .handler(let name, let id, let cause, let pause):
                errors.note("handler \(name) \(id) \(cause) \(pause.components.seconds)")
            case .presenter(let name, let id, let cause):
                errors.note("presenter \(name) \(id) \(cause)")
            case .delegate(let id, let method, _): errors.note("delegate \(method) \(id)")
            case .deadlines(let cause): errors.note("deadlines \(cause)")
            case .entriesLost(let cause): errors.note("entries \(cause)")
            case .inconsistent(let id, let cause): errors.note("inconsistent \(id) \(cause)")
            case .stale(let id, let cause): errors.note("stale \(id) \(cause)")
            case .uncollected(let id, let cause): errors.note("uncollected \(id) \(cause)")
            case .unattended(let id, let presenters):
                errors.note("unattended \(id) \(presenters ?? [])")
            }
        }
    }

    @Test("Errors of actions, closures and named handlers are reported")
    func thrown() async throws {
        let manager = try await AlertManager(path: queue.path)
        listen(to: manager)
        try await manager.register(handler: "apply") { _ in throw Trouble() }
        try await manager.show(Alert("A", buttons: [Alert.Button("Go") { throw Trouble() }]))
        try await manager.show(Alert("B", buttons: ["Go"])) { _, _ in throw Trouble() }
        try await manager.show(Alert("C", buttons: ["Go"], handler: "apply"))
        for id in 1...3 as ClosedRange<Alert.ID> { try await manager.answer(id, button: "Go") }
        let expected = [
            "closure 1 Trouble()", "closure 2 Trouble()", "handler apply 3 Trouble() 1",
        ]
        #expect(await eventually { errors.lines.sorted() == expected })
        await manager.close()
    }

    @Test(
        "An impossible choice is reported as its presenter's error and retried with growing pauses",
        arguments: [
            PresenterChoice.button(-1), .button(2), .later(.zero), .later(.seconds(1 << 40)),
        ])
    func impossibleChoice(choice: PresenterChoice) async throws {
        let clock = ManualClock()
        let presenter = BrokenPresenter(choosing: choice)
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], clock: clock)
        listen(to: manager)
        let id = try await manager.show(Alert("Go?", buttons: ["Go", .cancel("No")]))
        for (count, pause) in [(1, 2), (2, 4), (3, 8)] {
            let isReported = await eventually {
                errors.lines.count == count && clock.sleeperCount == 1
            }
            #expect(isReported, "\(errors.lines), \(presenter.showings), \(presenter.failures)")
            clock.advance(by: .seconds(pause) - .milliseconds(1))
            #expect(await eventually { clock.sleeperCount == 1 })
            #expect(presenter.showings == count, "it was shown again too early")
            clock.advance(by: .milliseconds(1))
        }
        #expect(await eventually { presenter.showings == 4 })
        #expect(errors.lines.allSatisfy { $0.hasPrefix("presenter broken 1 ") })
        #expect(try await manager.record(id).response == nil)
        await manager.close()
    }

    @Test("An alert that no presenter can show does not hold up those after it")
    func heldUp() async throws {
        let presenter = ScriptedPresenter { alert in
            guard alert.title != "Broken" else { throw Trouble() }
            return .button(0)
        }
        let manager = try await AlertManager(path: queue.path, presenters: [presenter])
        listen(to: manager)
        try await manager.show(Alert("Broken", buttons: ["Go"]))
        #expect(await eventually { errors.lines.count == 1 })
        for title in ["First", "Second"] {
            #expect(try await manager.ask(title, buttons: ["Go"]).outcome == .answered)
        }
        #expect(try await manager.record(1).response == nil)
        await manager.close()
    }

    @Test("After a presenter's impossible choice, the others still show the alert")
    func othersGoOn() async throws {
        let broken = BrokenPresenter(choosing: .button(-1))
        let sound = ScriptedPresenter(name: "sound")
        let manager = try await AlertManager(path: queue.path, presenters: [broken, sound])
        listen(to: manager)
        async let asking = manager.ask("Go?", buttons: ["Go"])
        #expect(await eventually { errors.lines.count == 1 })
        _ = await sound.waitUntilShown()
        sound.choose(.button(0))
        #expect(try await asking.responder?.via == "sound")
        #expect(sound.shown.count == 1 && broken.showings == 1)
        await manager.close()
    }

    @Test("An alert that no attached screen can show is reported to its asker, once")
    func unattended() async throws {
        let manager = try await AlertManager(path: queue.path)
        listen(to: manager)
        try await manager.show(Alert("A", buttons: ["Go"]))
        try await manager.show(Alert("B"))
        #expect(errors.lines.isEmpty, "any presenter may show the one, and the other is a notice")
        try await manager.show(Alert("C", buttons: ["Go"]), on: ["typo"])
        #expect(errors.lines == [#"unattended 3 ["typo"]"#])
        let asking = Task { try await manager.ask("D", buttons: []) }
        #expect(await eventually { errors.lines.last == "unattended 4 []" })
        let screen = try await AlertManager(
            path: queue.path, presenters: [ScriptedPresenter(name: "screen") { _ in .close }])
        #expect(try await asking.value.outcome == .dismissed)
        try await manager.show(Alert("E"), on: ["screen"])
        _ = try await manager.ask("F", buttons: [])
        try await screen.show(Alert("G"), on: ["screen"])
        #expect(errors.lines.count == 2)
        await screen.close()
        await manager.close()
    }
}
