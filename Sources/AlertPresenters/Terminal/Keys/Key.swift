/// A key that has a meaning to the presenter.
enum Key: Hashable, Sendable {
    case up, down, left, right
    case tab, backTab
    case enter, escape
    case pageUp, pageDown, home, end
    /// Ctrl-L: draws everything again.
    case redraw
    /// Backspace erases the last character of a line, Ctrl-U all of them; Ctrl-D ends the input.
    case erase, eraseLine, endOfInput
    case character(Character)

    /// Whether the key only moves the selection or the text, so that it may be held down.
    var moves: Bool {
        switch self {
        case .up, .down, .left, .right, .tab, .backTab, .pageUp, .pageDown, .home, .end: true
        default: false
        }
    }
}
