import AlertQueueTesting
import Foundation
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import AlertQueue

/// Several managers that present one queue, each as another process would.
@Suite("Every screen", .inParallel)
struct EveryScreenTests {
    private let queue: TemporaryQueue

    init() throws { queue = try TemporaryQueue() }

    private func screen(
        _ name: String, script: ScriptedPresenter.Script? = nil
    ) async throws -> (AlertManager, ScriptedPresenter) {
        let presenter = ScriptedPresenter(name: name, script: script)
        return (try await AlertManager(path: queue.path, presenters: [presenter]), presenter)
    }

    private func close(_ managers: AlertManager...) async {
        for manager in managers { await manager.close() }
    }

    @Test("All screens show the current alert, and the first answer clears them all")
    func firstAnswer() async throws {
        let (one, first) = try await screen("one")
        let (two, second) = try await screen("two")
        let (three, third) = try await screen("three")
        let presenters = [first, second, third]
        for (round, chosen) in [(1, second), (2, third), (3, first)] {
            let id = try await two.show(.yesNo("Question \(round)"))
            for presenter in presenters { #expect(await presenter.waitUntilShown().id == id) }
            chosen.choose(.button(0))
            #expect(await eventually { presenters.allSatisfy { $0.resolutions.count == round } })
            for presenter in presenters {
                #expect(presenter.resolutions.last?.choseHere == (presenter === chosen))
            }
            let record = try await one.record(id)
            #expect(record.response?.responder?.via.contains(chosen.name) == true)
            #expect(
                try await eventually {
                    let shown = try await one.audit(of: id).filter { $0.event.kind == .presented }
                    return Set(shown.map(\.event.responder.via)).count == 3
                })
        }
        #expect(presenters.allSatisfy { $0.shown.count == 3 })
        await close(one, two, three)
    }

    @Test("A second manager shows the same alert, and keeps showing it when the first closes")
    func takeOver() async throws {
        let (one, two) = (ScriptedPresenter(name: "one"), ScriptedPresenter(name: "two"))
        let first = try await AlertManager(path: queue.path, presenters: [one])
        let id = try await first.show(Alert("Well?", buttons: ["OK"]))
        _ = await one.waitUntilShown()
        let second = try await AlertManager(path: queue.path, presenters: [two])
        #expect(await two.waitUntilShown().id == id)
        #expect(await second.screens().leader?.presenters == ["one"])
        #expect(try await second.record(id).state == .presented)
        await first.close()
        #expect(await eventually { await second.screens().leader?.presenters == ["two"] })
        #expect(await second.screens().current == id)
        two.choose(.button(0))
        #expect(try await eventually { try await second.record(id).response != nil })
        let story = try await second.audit(of: id).map(\.event.kind)
        #expect(story == [.asked, .presented, .presented, .resolved])
        #expect(two.shown.count == 1)
        await second.close()
    }

    @Test(
        "Managers whose slot file was deleted see each other again, and either takes the answer",
        arguments: [0, 1])
    func deletedSlot(answering: Int) async throws {
        let (one, two) = (ScriptedPresenter(name: "one"), ScriptedPresenter(name: "two"))
        let first = try await AlertManager(path: queue.path, presenters: [one])
        let id = try await first.show(Alert("Well?", buttons: ["OK"]))
        _ = await one.waitUntilShown()
        try FileManager.default.removeItem(atPath: queue.path + "-slot")
        let second = try await AlertManager(path: queue.path, presenters: [two])
        #expect(await eventually { one.isShowing && two.isShowing })
        #expect(await eventually { await second.screens().all.map(\.alert) == [id, id] })
        [one, two][answering].choose(.button(0))
        #expect(await eventually { !one.isShowing && !two.isShowing })
        #expect(try await second.record(id).response != nil)
        #expect(one.shown.count == 1 && two.shown.count == 1)
        await first.close()
        await second.close()
    }

    @Test("An alert for one kind of screen is not held up by alerts for others")
    func kinds() async throws {
        let (one, terminal) = try await screen("terminal")
        let (two, web) = try await screen("web")
        var forWeb = Alert.yesNo("On the web", priority: .critical)
        forWeb.presenters = ["web"]
        var forTV = Alert.yesNo("On nothing", priority: .critical)
        forTV.presenters = ["tv"]
        try await one.show(forTV)
        let id = try await one.show(forWeb)
        #expect(await web.waitUntilShown().id == id)
        #expect(await eventually { await one.screens().current == id })
        let next = try await two.show(.yesNo("For all"))
        web.choose(.button(0))
        for presenter in [terminal, web] { #expect(await presenter.waitUntilShown().id == next) }
        #expect(terminal.shown.map(\.id) == [next])
        await close(one, two)
    }

    @Test("If an alert's only screen closes, the next alert is shown and the first returns later")
    func onlyScreenGoes() async throws {
        let (one, terminal) = try await screen("terminal")
        let (two, web) = try await screen("web")
        var forWeb = Alert.yesNo("On the web", priority: .critical)
        forWeb.presenters = ["web"]
        let id = try await one.show(forWeb)
        #expect(await web.waitUntilShown().id == id)
        let next = try await one.show(.yesNo("For all"))
        #expect(await eventually { await one.screens().shows(id) })
        await two.close()
        #expect(await terminal.waitUntilShown().id == next)
        terminal.choose(.button(0))
        #expect(try await eventually { try await one.record(next).response != nil })
        let (three, again) = try await screen("web")
        #expect(await again.waitUntilShown().id == id)
        again.choose(.button(1))
        #expect(try await eventually { try await one.record(id).response != nil })
        await close(one, three)
    }

    @Test("A screen that fails does not hold up the others", arguments: [true, false])
    func failing(leads: Bool) async throws {
        struct Hangup: Error {}
        var screens: [(AlertManager, ScriptedPresenter)] = []
        for broken in leads ? [true, false] : [false, true] {
            screens.append(
                broken
                    ? try await screen("broken") { _ in throw Hangup() }
                    : try await screen("sound"))
        }
        for (manager, _) in screens { manager.onError { _ in } }
        let sound = screens[leads ? 1 : 0].1
        for round in 1...2 {
            let id = try await screens[0].0.show(.yesNo("Question \(round)"))
            #expect(await sound.waitUntilShown().id == id)
            sound.choose(.button(0))
            #expect(await eventually { sound.resolutions.count == round })
            let kinds = try await screens[0].0.audit(of: id).map(\.event.kind)
            #expect(!kinds.contains(.returned))
        }
        await close(screens[0].0, screens[1].0)
    }

    @Test("A notice is dismissed once on all screens, even if only a follower shows it")
    func notices() async throws {
        let (one, terminal) = try await screen("terminal")
        let (two, web) = try await screen("web")
        for presenters in [nil, ["web"]] as [[String]?] {
            // Where both show it, the slower one needs the time for that.
            var notice = Alert(
                "Done", dismissAfter: presenters == nil ? .seconds(2) : .milliseconds(100))
            notice.presenters = presenters
            let id = try await one.show(notice)
            #expect(try await eventually { try await one.record(id).response != nil })
            #expect(try await one.record(id).response?.outcome == .dismissed)
            #expect(await eventually { !web.isShowing && !terminal.isShowing })
            let kinds = try await one.audit(of: id).map(\.event.kind)
            #expect(kinds.filter { $0 == .resolved }.count == 1)
        }
        #expect(terminal.shown.count == 1 && web.shown.count == 2)
        await close(one, two)
    }

    @Test("“Later” on one screen takes the alert off all")
    func later() async throws {
        let (one, first) = try await screen("one")
        let (two, second) = try await screen("two")
        let id = try await one.show(.yesNo())
        for presenter in [first, second] { #expect(await presenter.waitUntilShown().id == id) }
        second.choose(.later(.seconds(3600)))
        #expect(await eventually { !first.isShowing && !second.isShowing })
        #expect(await eventually { first.snoozes.count == 1 && second.snoozes.count == 1 })
        let kinds = try await one.audit(of: id).map(\.event.kind)
        #expect(kinds.filter { $0 == .snoozed }.count == 1)
        await close(one, two)
    }

    @Test("When the lead passes to another screen, the alert stays on all of them")
    func leaders() async throws {
        let (one, first) = try await screen("one")
        let (two, second) = try await screen("two")
        let (three, third) = try await screen("three")
        let id = try await one.show(.yesNo())
        for presenter in [first, second, third] {
            #expect(await presenter.waitUntilShown().id == id)
        }
        #expect(await eventually { await one.screens().all.count { $0.alert == id } == 3 })
        await one.close()
        #expect(await eventually { await two.screens().leader != nil })
        #expect(await two.screens().current == id)
        let isSecond = await two.screens().leader?.presenters == ["two"]
        await (isSecond ? two : three).close()
        let (last, presenter) = isSecond ? (three, third) : (two, second)
        #expect(await eventually { await last.screens().leader != nil })
        presenter.choose(.button(0))
        #expect(try await eventually { try await last.record(id).response != nil })
        #expect([first, second, third].allSatisfy { $0.shown.count == 1 })
        let kinds = try await last.audit(of: id).map(\.event.kind)
        #expect(kinds == [.asked, .presented, .presented, .presented, .resolved])
        await last.close()
    }

    @Test("A screen for a single alert shows it when it is current, and never another")
    func own() async throws {
        let (one, first) = try await screen("terminal")
        let asker = try await AlertManager(path: queue.path)
        let before = try await one.show(.yesNo("Before", priority: .high))
        #expect(await first.waitUntilShown().id == before)
        let id = try await asker.show(.yesNo("Own"))
        let own = ScriptedPresenter(name: "terminal")
        try await asker.startPresenting([own], only: id)
        #expect(try await asker.alertsBefore(id) == 1)
        first.choose(.button(0))
        #expect(await own.waitUntilShown().id == id)
        #expect(own.shown.map(\.id) == [id])
        #expect(await first.waitUntilShown().id == id)
        #expect(try await asker.alertsBefore(id) == 0)
        // Alone, it leads, and still shows no other alert.
        await one.close()
        try await asker.show(.yesNo("Another", priority: .critical))
        own.choose(.button(0))
        #expect(try await eventually { try await asker.record(id).response != nil })
        #expect(await eventually { await asker.screens().current == nil })
        #expect(own.shown.map(\.id) == [id])
        await asker.close()
    }

    @Test("A 65th screen is refused, both when presenting starts and when a manager opens")
    func tooMany() async throws {
        let manager = try await AlertManager(path: queue.path)
        var leases: [any ScreenLease] = []
        for number in 0..<64 {
            let screen = AttachedScreen(
                caller: Caller(via: "test"), presenters: ["\(number)"], hasDelegate: false)
            leases.append(try await manager.store.attach(screen))
        }
        await #expect {
            try await manager.startPresenting([ScriptedPresenter()])
        } throws: { error in
            "\(error)".contains("64 screens show this queue")
        }
        await #expect {
            try await AlertManager(path: queue.path, presenters: [ScriptedPresenter()])
        } throws: { error in
            "\(error)".contains("64 screens show this queue")
        }
        leases.removeLast().release()
        let presenter = ScriptedPresenter()
        try await manager.startPresenting([presenter])
        let id = try await manager.show(.yesNo())
        leases.removeAll()
        #expect(await presenter.waitUntilShown().id == id)
        await manager.close()
    }
}
