import AlertCore
import FoundationEssentials
import TextFormats

/// The effect of keys while an alert is on the screen: on its form, its buttons, or the menu of times.
///
/// Only while the buttons take the keys do they choose. First letters of buttons take precedence over the presenter's own keys: where a button begins
/// with `l` or `q`, the key belongs to the button; instead of `l`, Escape then offers the times.
struct AlertInteraction: Equatable, Sendable {
    /// A time after which the alert comes again, or a date.
    struct LaterOption: Hashable, Sendable {
        var title: String
        /// `nil` for the alert's own time.
        var end: Alert.Deadline?
        /// Whether the alert expires before then.
        var isTooLong = false

        /// The choice of this option at some moment, which may be hours after it was offered. Once
        /// its date has passed, it means the same time of the next day.
        func choice(at now: Date) -> PresenterChoice {
            switch end {
            case nil: return .later(nil)
            case .after(let duration): return .later(duration)
            case .at(let date):
                let (day, time) = (86_400.0, date.timeIntervalSince(now))
                let left = time > 0 ? time : day - (-time).truncatingRemainder(dividingBy: day)
                return .later(.seconds(max(1, left.rounded(.up))))
            }
        }
    }

    enum Action: Hashable {
        case finish(PresenterChoice)
        /// The key went to the form, or had the form take the keys. It is not undone if it turns out
        /// to be one of many: what follows it is a value, and must not come to the buttons.
        case edited
        /// Scrolls a text that is longer than the screen.
        case scroll(pages: Int)
        /// Scrolls to what has not been on the screen: the button can't be chosen before.
        case readOn
        case redraw
    }

    private(set) var form: AlertForm
    private(set) var buttons: ChoiceList
    /// The menu of times, while it is shown instead of the buttons.
    private(set) var laterMenu: ChoiceList?
    private(set) var laterOptions: [LaterOption]
    /// Whether the keys are explained, instead of the alert; any key ends that.
    private(set) var showsHelp = false

    /// - Parameter form: What has been filled in before, if the alert was on this screen.
    init(
        _ alert: Alert, form: AlertForm? = nil, laterOptions: [LaterOption],
        characters: TerminalCharacters = .all
    ) {
        var choices = alert.buttons.enumerated().map { index, button in
            Choice(
                index: index, label: button.title, role: button.role, characters: characters)
        }
        // A sheet's cancel button is set apart, at the end.
        if alert.style == .actionSheet,
            let cancel = choices.firstIndex(where: { $0.role == .cancel })
        {
            choices.append(choices.remove(at: cancel))
        }
        buttons = ChoiceList(choices)
        self.form = form ?? AlertForm(alert.fields)
        self.laterOptions = laterOptions
    }

    var hasButtons: Bool { !buttons.choices.isEmpty }
    /// Whether `l` offers times.
    var letterOffersTimes: Bool { hasButtons && !buttons.isFirstLetter("l") }
    /// The key for a note, which is no button's letter: one that sometimes were would choose that
    /// button by mistake.
    static let noteKey = "+"
    /// The key that explains the others.
    static let helpKey = "?"
    /// More pages than any text has.
    private static let allPages = 1 << 20
    /// Whether keys go to an entry of the form.
    var isInForm: Bool { laterMenu == nil && form.focus != nil }

    /// The choices on the screen now.
    var current: ChoiceList { laterMenu ?? buttons }

    /// Replaces the times on offer, unless a person is choosing one.
    mutating func offer(_ options: [LaterOption]) {
        if laterMenu == nil { laterOptions = options }
    }

    /// Selects a button for the person, as at first.
    mutating func preselect(approves: Bool) { buttons.preselect(approves: approves) }

    /// What the screen shows, on which the effect of a key depends.
    struct View {
        /// The indices of the current choices that are fully visible.
        var visible: Set<Int>
        /// Whether everything has been on the screen, so that any button can be chosen.
        var isAllShown = true
        /// Whether the text is longer than the screen.
        var scrolls = false
        /// Whether the entry that takes the keys is a list of options one below the other.
        var isInList = false
    }

    /// Applies a key, and returns what it asks for.
    ///
    /// - Parameter now: The time, which a choice of a date depends on.
    mutating func press(_ key: Key, _ view: View, now: Date = Date()) -> Action? {
        switch key {
        case .redraw: return .redraw
        case _ where showsHelp:
            showsHelp = false
            return nil
        case .pageUp: return .scroll(pages: -1)
        case .pageDown: return .scroll(pages: 1)
        case .home where view.scrolls && takesTextKeys: return .scroll(pages: -Self.allPages)
        case .end where view.scrolls && takesTextKeys: return .scroll(pages: Self.allPages)
        default: break
        }
        let visible = view.visible
        if laterMenu != nil { return pressInMenu(key, visible, now) }
        guard hasButtons else {
            let closes = key == .enter || key == .escape || Self.letter(key) == "q"
            return closes ? .finish(.close) : nil
        }
        if isInForm {
            if form.press(key, isInList: view.isInList) { return .edited }
            let isForForm = key != .escape && Self.letter(key) != Self.helpKey
            return isForForm ? nil : pressBesideButtons(key)
        }
        if entersForm(key) { return nil }
        switch buttons.press(key, visible: visible) {
        // What is typed on after the last entry must not answer.
        case .chosen where key != .enter && !form.entries.isEmpty: return nil
        case .chosen(let choice):
            let isCancelling = choice.role == .cancel
            guard isCancelling || view.isAllShown else { return .readOn }
            guard isCancelling || form.finish() else { return .edited }
            return .finish(.button(choice.index, form.input(isCancelling: isCancelling)))
        case .selected: return nil
        case nil: return pressBesideButtons(key)
        }
    }

    /// Whether Home and End move in the text rather than among choices or in an entry.
    private var takesTextKeys: Bool { laterMenu == nil && !isInForm }

    /// Takes keys that were pasted or held down as a text; returns `false`, and does nothing, if no
    /// text takes keys, or if these only move.
    mutating func type(_ keys: [Key]) -> Bool {
        isInForm && !showsHelp && form.type(keys)
    }

    /// Whether a key moves from the first button or the last one to the form, which it then has.
    private mutating func entersForm(_ key: Key) -> Bool {
        guard !form.entries.isEmpty else { return false }
        switch key {
        case .up, .backTab:
            guard buttons.selected ?? 0 == 0 else { return false }
            form.enter(first: false)
        case .down, .tab:
            guard buttons.selected == buttons.choices.count - 1 else { return false }
            form.enter(first: true)
        default: return false
        }
        return true
    }

    private mutating func pressBesideButtons(_ key: Key) -> Action? {
        if key == .escape {
            if letterOffersTimes { return .finish(.later(nil)) }
            openMenu()
        } else if Self.letter(key) == "q" {
            return .finish(.later(nil))
        } else if Self.letter(key) == "l" {
            openMenu()
        } else if Self.letter(key) == Self.noteKey {
            form.enterNote()
            return .edited
        } else if Self.letter(key) == Self.helpKey {
            showsHelp = true
        }
        return nil
    }

    private mutating func pressInMenu(
        _ key: Key, _ visible: Set<Int>, _ now: Date
    ) -> Action? {
        if key == .escape {
            laterMenu = nil
            return nil
        }
        guard case .chosen(let choice) = laterMenu?.press(key, visible: visible) else {
            return nil
        }
        return .finish(laterOptions[choice.index].choice(at: now))
    }

    private mutating func openMenu() {
        laterMenu = ChoiceList(
            laterOptions.enumerated().map { Choice(index: $0, label: $1.title) })
    }

    private static func letter(_ key: Key) -> String? {
        guard case .character(let character) = key else { return nil }
        return character.lowercased()
    }
}
