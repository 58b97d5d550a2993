import AlertCore
import FoundationEssentials
import TextFormats

/// The effect of keys while an alert is on the screen.
///
/// First letters of buttons take precedence over the presenter's own keys: where a button begins
/// with `l` or `q`, the key belongs to the button; instead of `l`, Escape then offers the times.
struct AlertInteraction: Hashable, Sendable {
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
        /// Scrolls a text that is longer than the screen.
        case scroll(pages: Int)
        case redraw
    }

    private(set) var buttons: ChoiceList
    /// The menu of times, while it is shown instead of the buttons.
    private(set) var laterMenu: ChoiceList?
    private(set) var laterOptions: [LaterOption]

    init(
        _ alert: Alert, laterOptions: [LaterOption], characters: TerminalCharacters = .all
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
        self.laterOptions = laterOptions
    }

    var hasButtons: Bool { !buttons.choices.isEmpty }
    /// Whether `l` offers times.
    var letterOffersTimes: Bool { hasButtons && !buttons.isFirstLetter("l") }

    /// The choices on the screen now.
    var current: ChoiceList { laterMenu ?? buttons }

    /// Replaces the times on offer, unless a person is choosing one.
    mutating func offer(_ options: [LaterOption]) {
        if laterMenu == nil { laterOptions = options }
    }

    /// Applies a key, and returns what it asks for.
    ///
    /// - Parameters:
    ///   - visible: The indices of the current choices that are fully visible.
    ///   - now: The time, which a choice of a date depends on.
    mutating func press(_ key: Key, visible: Set<Int>, now: Date = Date()) -> Action? {
        switch key {
        case .pageUp: return .scroll(pages: -1)
        case .pageDown: return .scroll(pages: 1)
        case .redraw: return .redraw
        default: break
        }
        if laterMenu != nil { return pressInMenu(key, visible, now) }
        guard hasButtons else {
            let closes = key == .enter || key == .escape || Self.letter(key) == "q"
            return closes ? .finish(.close) : nil
        }
        switch buttons.press(key, visible: visible) {
        case .chosen(let choice): return .finish(.button(choice.index))
        case .selected: return nil
        case nil: return pressBesideButtons(key)
        }
    }

    private mutating func pressBesideButtons(_ key: Key) -> Action? {
        if key == .escape {
            if letterOffersTimes { return .finish(.later(nil)) }
            openMenu()
        } else if Self.letter(key) == "q" {
            return .finish(.later(nil))
        } else if Self.letter(key) == "l" {
            openMenu()
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
