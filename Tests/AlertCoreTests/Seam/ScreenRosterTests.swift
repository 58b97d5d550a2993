import TestSupport
import Testing

@testable import AlertCore

@Suite("Screen roster", .inParallel)
struct ScreenRosterTests {
    private func screen(_ presenters: [String], only: Alert.ID? = nil) -> AttachedScreen {
        AttachedScreen(
            caller: Caller(via: "test"), presenters: presenters, only: only, hasDelegate: false)
    }

    private func alert(for presenters: [String]?) -> Alert {
        var alert = Alert("Go on?", buttons: ["Yes"])
        alert.presenters = presenters
        return alert
    }

    @Test("The query contains the presenters of free screens, and single alerts")
    func query() {
        var (silent, busy) = (screen(["silent"]), screen(["busy"]))
        silent.silence = .seconds(9)
        busy.isBusy = true
        let roster = ScreenRoster(
            leader: screen(["web", "terminal"]),
            followers: [
                silent, busy, screen(["terminal", "desktop"]), screen(["dialog"], only: 7),
                screen([], only: 8),
            ])
        #expect(roster.query.presenters == ["web", "terminal", "desktop"])
        #expect(roster.query.own == [7])
        #expect(roster.canShow(alert(for: ["desktop"]), 1))
        #expect(!roster.canShow(alert(for: ["busy"]), 1))
        #expect(!roster.canShow(alert(for: ["dialog"]), 1))
        #expect(roster.canShow(alert(for: ["dialog"]), 7))
        #expect(roster.mayShow(alert(for: ["busy"])))
        #expect(!roster.mayShow(alert(for: ["silent"])))
    }

    @Test("A screen without presenters can show nothing, and one without a text can show anything")
    func nothing() {
        #expect(!ScreenRoster(leader: screen([])).canShow(alert(for: nil), 1))
        var unknown = screen([])
        unknown.hasMorePresenters = true
        #expect(ScreenRoster(leader: unknown).mayShow(alert(for: ["web"])))
    }

    @Test("The leader announces the current alert, whatever it shows itself")
    func current() {
        var (leader, follower) = (screen(["a"]), screen(["b"]))
        (leader.current, follower.alert, follower.hasDelegate) = (4, 3, true)
        let roster = ScreenRoster(leader: leader, followers: [follower])
        #expect(roster.current == 4 && roster.shows(3) && !roster.shows(4))
        #expect(roster.hasDelegate(for: 3) && !roster.hasDelegate(for: 4))
        (leader.current, leader.alert) = (nil, 9)
        #expect(ScreenRoster(leader: leader).current == nil)
        #expect(ScreenRoster(followers: [follower]).current == nil)
    }
}
