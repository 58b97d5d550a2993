/// A key that has a meaning to the presenter, or what was pasted.
enum Key: Hashable, Sendable {
    case up, down, left, right
    case tab, backTab
    case enter, escape
    case pageUp, pageDown, home, end
    /// Ctrl-L: draws everything again.
    case redraw
    /// Alt-B and Alt-F, or an arrow with Ctrl or Alt.
    case wordLeft, wordRight
    /// Backspace, Delete, and Ctrl-W and Alt-D, which do the same by word.
    case erase, delete, eraseWord, deleteWord
    /// Ctrl-U and Ctrl-K: erase a line up to the cursor, and from the cursor on.
    case eraseLine, deleteLine
    /// Ctrl-D: ends a prompt's input, and erases like Delete in a text.
    case endOfInput
    case character(Character)
    /// A text that the terminal marked as pasted.
    case paste(String)
    /// Ctrl-C, Ctrl-Z or Ctrl-\, where the terminal doesn't send the signal itself.
    case signal(Int32)

    /// Whether the key only moves the selection or the text, so that it may be held down.
    var moves: Bool {
        switch self {
        case .up, .down, .left, .right, .wordLeft, .wordRight, .tab, .backTab, .pageUp, .pageDown,
            .home, .end:
            true
        default: false
        }
    }
}
