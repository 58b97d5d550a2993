/// A key that means something here.
enum Key: Hashable, Sendable {
    case up, down, left, right
    case tab, backTab
    case enter, escape
    case pageUp, pageDown, home, end
    /// Ctrl-L: draw everything again.
    case redraw
    /// Takes back the last character of a line, or all of them, and ends the input: Backspace,
    /// Ctrl-U and Ctrl-D.
    case erase, eraseLine, endOfInput
    case character(Character)

    /// Whether it only moves the selection or the text, so that it may be held down.
    var moves: Bool {
        switch self {
        case .up, .down, .left, .right, .tab, .backTab, .pageUp, .pageDown, .home, .end: true
        default: false
        }
    }
}
