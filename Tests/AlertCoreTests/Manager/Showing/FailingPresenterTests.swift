import AlertQueueTesting
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import AlertCore

/// Presenters that fail, on screens of one queue whose clock only moves when the test moves it.
@Suite("Failing presenters", .inParallel)
struct FailingPresenterTests {
    private struct Hangup: Error {}

    /// Chooses a button that no alert has, while the alert is on its screen.
    private final class WrongPresenter: AlertPresenter {
        let name = "wrong"
        let count = Mutex(0)

        func present(_ presentation: Presentation) async throws -> PresenterChoice {
            await presentation.didAppear()
            count.withLock { $0 += 1 }
            await presentation.choose(.button(99))
            return .close
        }
    }

    private let clock = ManualClock()
    private let queue: InMemoryStore

    init() { queue = InMemoryStore(clock: clock) }

    private func screen(_ presenters: any AlertPresenter...) async throws -> AlertManager {
        let manager = try await AlertManager(queue, presenters: presenters)
        manager.onError { _ in }
        return manager
    }

    private func question(_ title: String, for presenters: [String]?) -> Alert {
        var alert = Alert.yesNo(title, priority: .critical)
        alert.presenters = presenters
        return alert
    }

    @Test(
        "An alert whose only presenter fails holds up no other alert while the presenter rests",
        arguments: [true, false])
    func aloneWithIt(leads: Bool) async throws {
        let menu = ScriptedPresenter(name: "menu") { _ in throw Hangup() }
        let terminal = ScriptedPresenter(name: "terminal")
        var managers: [AlertManager] = []
        for presenter in leads ? [menu, terminal] : [terminal, menu] {
            managers.append(try await screen(presenter))
        }
        try await managers[0].show(question("For the menu", for: ["menu"]))
        #expect(await eventually { menu.shown.count == 1 })
        let next = try await managers[0].show(question("For all", for: nil))
        // No time passes for the manager, so it has not waited.
        #expect(try await terminal.waitUntilShown(within: .seconds(20)).id == next)
        #expect(menu.shown.count == 1)
        for manager in managers { await manager.close() }
    }

    @Test("A presenter that fails while another works retries with pauses until the answer")
    func beside() async throws {
        let terminal = ScriptedPresenter(name: "terminal")
        let menu = ScriptedPresenter(name: "menu")
        let manager = try await screen(terminal, menu)
        let id = try await manager.show(.yesNo())
        for pause in [1, 2, 4] {
            _ = try await menu.waitUntilShown(within: .seconds(20))
            let (count, start) = (menu.shown.count, clock.now())
            #expect(menu.fail(Hangup()))
            let isBack = await eventually {
                clock.advance(by: .milliseconds(100))
                return menu.shown.count > count
            }
            #expect(isBack && terminal.isShowing)
            #expect(clock.now().time(until: start) <= .seconds(-pause))
        }
        _ = try await menu.waitUntilShown(within: .seconds(20))
        menu.choose(.button(0))
        #expect(await eventually { terminal.resolutions.count == 1 })
        #expect(try await manager.record(id).response?.responder?.via == "menu")
        #expect(terminal.shown.count == 1 && menu.shown.count == 4)
        await manager.close()
    }

    @Test("A failed presenter still rests when the next alert comes, and joins in afterwards")
    func nextAlert() async throws {
        let terminal = ScriptedPresenter(name: "terminal")
        let menu = ScriptedPresenter(name: "menu")
        let manager = try await screen(terminal, menu)
        for round in 1...2 {
            let id = try await manager.show(.yesNo("Question \(round)"))
            #expect(try await terminal.waitUntilShown(within: .seconds(20)).id == id)
            if round == 1 {
                _ = try await menu.waitUntilShown(within: .seconds(20))
                menu.fail(Hangup())
                #expect(
                    await eventually {
                        await manager.screen.presenters.able(at: clock.now()) == ["terminal"]
                    })
            }
            terminal.choose(.button(0))
            #expect(await eventually { terminal.resolutions.count == round })
        }
        #expect(menu.shown.count == 1)
        await manager.close()
    }

    @Test("A choice that the alert does not offer counts as one failure of its presenter")
    func impossibleChoice() async throws {
        let (terminal, wrong) = (ScriptedPresenter(name: "terminal"), WrongPresenter())
        let reports = Recorder()
        let manager = try await screen(terminal, wrong)
        manager.onError { reports.note("\($0)") }
        try await manager.show(.yesNo())
        for (round, pause) in [1, 2, 4].enumerated() {
            #expect(await eventually { reports.lines.count == round + 1 })
            let start = clock.now()
            let isBack = await eventually {
                clock.advance(by: .milliseconds(100))
                return wrong.count.withLock { $0 } == round + 2
            }
            #expect(isBack && terminal.isShowing)
            // The clock may run on while the test has yet to see what it is waiting for.
            #expect(start.time(until: clock.now()) > .seconds(pause) / 2)
            #expect(start.time(until: clock.now()) < .seconds(20))
        }
        terminal.choose(.button(0))
        #expect(await eventually { terminal.resolutions.count == 1 })
        await manager.close()
    }

    @Test("An alert that does not appear on its only screen holds up no other screen for long")
    func unseen() async throws {
        let (hidden, menu) = (HiddenPresenter(), ScriptedPresenter(name: "menu"))
        let leader = try await screen(hidden)
        let other = try await screen(menu)
        let id = try await leader.show(question("For the hidden one", for: ["hidden"]))
        #expect(await eventually { hidden.count == 1 })
        let next = try await leader.show(question("For the menu", for: ["menu"]))
        // It is this screen's turn, for ten seconds.
        clock.advance(by: .seconds(9))
        #expect(await leader.screen.shown == id && menu.shown.isEmpty)
        let isShown = await eventually {
            clock.advance(by: .seconds(1))
            return menu.isShowing
        }
        #expect(isShown && menu.shown.map(\.id) == [next])
        for manager in [leader, other] { await manager.close() }
    }

    @Test("An alert for a name that differs only in its bytes is not for the presenter")
    func names() async throws {
        let manager = try await screen(ScriptedPresenter(name: "men\u{FA}"))
        let question = question("For another menu", for: ["menu\u{301}"])
        let id = try await manager.show(question)
        let record = try await manager.record(id)
        #expect(await manager.screen.presenters.allowed(for: record).isEmpty)
        #expect(await !manager.mayShow(question))
        await manager.close()
    }

    @Test("A presenter's rests double up to a minute, and start over after a success")
    func rests() {
        var presenters = Presenters(
            Screen.Start(call: 1, presenters: ["menu"], only: nil, keepsLog: false))
        let now = clock.now()
        let rests = (0..<8).map { _ in presenters.noteFailure(of: "menu", at: now, atMost: nil) }
        #expect(rests == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
        #expect(presenters.able(at: now).isEmpty && presenters.unstuck == ["menu"])
        #expect(presenters.rest(of: "menu", at: now) == .seconds(60))
        #expect(presenters.able(at: now.advanced(by: .seconds(60))) == ["menu"])
        presenters.noteSuccess(of: ["menu"])
        #expect(presenters.able(at: now) == ["menu"])
        #expect(presenters.noteFailure(of: "menu", at: now, atMost: nil) == .seconds(1))
        #expect(presenters.noteFailure(of: "menu", at: now, atMost: .seconds(1)) == .seconds(1))
    }
}
