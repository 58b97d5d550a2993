import AlertCore
import Foundation
import TestSupport
import Testing

@testable import AlertPresenters

@Suite("Alert interaction", .inParallel)
struct AlertInteractionTests {
    typealias Action = AlertInteraction.Action

    static let plain = Alert("Go?", buttons: ["Yes", "Maybe", "No"])
    static let deletion = Alert(
        "Delete?", buttons: [.destructive("Delete"), "Archive", .cancel("Keep")])
    static let letters = Alert("?", buttons: ["Later", "Quit", .cancel("Leave")])
    static let digits = Alert("?", buttons: ["10 minutes", "2 hours", "3 days"])
    static let cyrillic = Alert("?", buttons: [.cancel("Нет"), "Да", "Élan"])
    static let notice = Alert("Done")

    static func options() -> [AlertInteraction.LaterOption] {
        [.init(title: "5 min"), .init(title: "1 h", end: .after(.seconds(3600)))]
    }

    static func last(
        _ alert: Alert, _ keys: [Key], visible: Set<Int> = Set(0..<16)
    ) -> Action? {
        var interaction = AlertInteraction(alert, laterOptions: options())
        return keys.map { interaction.press($0, visible: visible) }.last ?? nil
    }

    static func text(_ text: String) -> [Key] { text.map { .character($0) } }

    @Test("A date that is chosen from the menu is the same however long the menu was open")
    func date() {
        let offered = Date(timeIntervalSince1970: 1_800_000_000)
        let options = [
            AlertInteraction.LaterOption(title: "tomorrow 8:00", end: .at(offered + 3600))
        ]
        var interaction = AlertInteraction(Self.plain, laterOptions: options)
        #expect(interaction.press(.character("l"), visible: [0, 1, 2], now: offered) == nil)
        let action = interaction.press(.enter, visible: [0], now: offered + 3000)
        #expect(action == .finish(.later(.seconds(600))))
    }

    @Test(
        "A preselected button is never destructive",
        arguments: [
            (plain, 0), (deletion, 2), (notice, nil),
            (Alert("?", buttons: [.destructive("A"), "B"]), 1),
            (Alert("?", buttons: [.destructive("A"), .destructive("B")]), nil),
            (Alert("?", buttons: [.cancel("No"), "Yes"]), 0),
        ] as [(Alert, Int?)])
    func preselected(alert: Alert, index: Int?) {
        #expect(AlertInteraction(alert, laterOptions: []).buttons.selected == index)
    }

    @Test(
        "Each key makes the documented choice",
        arguments: [
            (plain, [.enter], .button(0)), (plain, [.right, .enter], .button(1)),
            (plain, [.left, .enter], .button(2)), (plain, [.tab, .tab, .enter], .button(2)),
            (plain, [.backTab, .enter], .button(2)), (plain, [.end, .up, .enter], .button(1)),
            (plain, text("n"), .button(2)), (plain, text("N"), .button(2)),
            (plain, text("2"), .button(1)), (plain, [.escape], .later(nil)),
            (plain, text("q"), .later(nil)),
            (deletion, text("a"), .button(1)), (deletion, text("d") + [.enter], .button(0)),
            (deletion, text("1") + [.enter], .button(0)), (deletion, [.enter], .button(2)),
            (letters, text("q"), .button(1)), (letters, text("l") + [.enter], .button(2)),
            (letters, text("ll") + [.enter], .button(0)),
            (digits, text("2"), .button(1)), (digits, text("1"), .button(0)),
            (cyrillic, text("д"), .button(1)), (cyrillic, text("é"), .button(2)),
            (notice, [.enter], .close), (notice, [.escape], .close), (notice, text("q"), .close),
        ] as [(Alert, [Key], PresenterChoice)])
    func chooses(alert: Alert, keys: [Key], choice: PresenterChoice) {
        #expect(Self.last(alert, keys) == .finish(choice))
    }

    @Test(
        "Other keys choose nothing",
        arguments: [
            (plain, text("x")), (plain, text("4")), (plain, text("0")), (plain, [.right]),
            (deletion, text("d")), (deletion, text("1")), (letters, text("l")),
            (letters, [.escape]), (digits, text("4")), (notice, text("x")), (notice, text("l")),
            (Alert("?", buttons: [.destructive("A"), .destructive("B")]), [.enter]),
        ] as [(Alert, [Key])])
    func choosesNothing(alert: Alert, keys: [Key]) {
        #expect(Self.last(alert, keys) == nil)
    }

    @Test("A button that is not visible can be selected, but not chosen")
    func hidden() {
        #expect(Self.last(Self.plain, Self.text("n"), visible: [0, 1]) == nil)
        #expect(Self.last(Self.plain, Self.text("3"), visible: [0, 1]) == nil)
        #expect(Self.last(Self.plain, [.end, .enter], visible: [0, 1]) == nil)
        #expect(Self.last(Self.plain, Self.text("m"), visible: [0, 1]) == .finish(.button(1)))
        var interaction = AlertInteraction(Self.plain, laterOptions: [])
        _ = interaction.press(.character("n"), visible: [0, 1])
        #expect(interaction.press(.enter, visible: [1, 2]) == .finish(.button(2)))
    }

    @Test("Before everything was on the screen, only the button that cancels can be chosen")
    func unseen() {
        let view = AlertInteraction.View(visible: [0, 1, 2], isAllShown: false)
        for keys in [Self.text("a"), Self.text("2"), [.home, .enter], [.backTab, .enter]] {
            var interaction = AlertInteraction(Self.deletion, laterOptions: Self.options())
            interaction.preselect(approves: false)
            #expect(interaction.buttons.selected == 2)
            #expect(keys.map { interaction.press($0, view) }.last == .readOn, "\(keys)")
        }
        for keys in [[.enter], Self.text("k"), Self.text("3")] as [[Key]] {
            var interaction = AlertInteraction(Self.deletion, laterOptions: Self.options())
            interaction.preselect(approves: false)
            #expect(keys.map { interaction.press($0, view) }.last == .finish(.button(2)))
        }
        var interaction = AlertInteraction(Self.plain, laterOptions: Self.options())
        interaction.preselect(approves: false)
        #expect(interaction.buttons.selected == nil)
        let actions = [Key.enter, .character("y"), .escape].map { interaction.press($0, view) }
        #expect(actions == [nil, .readOn, .finish(.later(nil))])
    }

    @Test("Home and End scroll a text that is longer than the window, and otherwise select")
    func homeAndEnd() {
        var interaction = AlertInteraction(Self.plain, laterOptions: Self.options())
        let view = AlertInteraction.View(visible: [0, 1, 2], scrolls: true)
        guard case .scroll(let down)? = interaction.press(.end, view),
            case .scroll(let up)? = interaction.press(.home, view)
        else {
            Issue.record("not scrolled")
            return
        }
        #expect(down > 10_000 && up < -10_000 && interaction.buttons.selected == 0)
        _ = interaction.press(.end, visible: [])
        #expect(interaction.buttons.selected == 2)
        // In the menu of times, they move in it.
        _ = interaction.press(.character("l"), view)
        _ = interaction.press(.end, view)
        #expect(interaction.laterMenu?.selected == 1)
    }

    @Test("The explanation of the keys takes any key, which does nothing else")
    func help() {
        for key in [Key.enter, .character("y"), .escape, .character("?"), .pageDown] {
            var interaction = AlertInteraction(Self.plain, laterOptions: Self.options())
            #expect(interaction.press(.character("?"), visible: [0]) == nil)
            #expect(interaction.showsHelp)
            #expect(interaction.press(key, visible: [0]) == nil && !interaction.showsHelp)
            #expect(interaction.press(.enter, visible: [0]) == .finish(.button(0)))
        }
        // In a text it is a character, beside one it explains the keys.
        var form = AlertInteraction(AlertFormTests.alert, laterOptions: Self.options())
        #expect(form.press(.character("?"), visible: []) == .edited && !form.showsHelp)
        for _ in 0..<3 { _ = form.press(.tab, visible: []) }
        #expect(form.press(.character("?"), visible: []) == nil && form.showsHelp)
    }

    @Test("The menu of times snoozes the alert, and Escape returns to the buttons")
    func menu() {
        let open = Self.text("l")
        #expect(Self.last(Self.plain, open + [.enter]) == .finish(.later(nil)))
        #expect(
            Self.last(Self.plain, open + [.down, .enter]) == .finish(.later(.seconds(3600))))
        #expect(Self.last(Self.plain, open + Self.text("1")) == .finish(.later(.seconds(3600))))
        #expect(Self.last(Self.plain, open + [.escape, .enter]) == .finish(.button(0)))
        // Where `l` is a button's letter, Escape opens it.
        #expect(Self.last(Self.letters, [.escape, .enter]) == .finish(.later(nil)))
    }

    @Test("A sheet shows its cancel button last, and keeps the buttons' indexes")
    func sheet() {
        let alert = Alert("?", style: .actionSheet, buttons: [.cancel("No"), "A", "B"])
        let buttons = AlertInteraction(alert, laterOptions: []).buttons
        #expect(buttons.choices.map(\.title) == ["A", "B", "No"])
        #expect(Self.last(alert, Self.text("1")) == .finish(.button(1)))
    }
}
