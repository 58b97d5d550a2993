import AlertCore

/// A line as it is typed, key by key, with the echo of each key.
struct PromptLine {
    /// Longer lines are cut: no label is that long.
    static let limit = 4096

    private(set) var text = ""
    /// Whether a part of it came in a burst of keys, as pasted text does.
    private(set) var isDoubtful = false

    /// Takes a key; returns its echo, which is safe to print.
    ///
    /// - Parameter isAlone: Whether it was a single key press.
    mutating func press(_ key: Key, isAlone: Bool) -> String {
        switch key {
        case .character(let character):
            if !isAlone { isDoubtful = true }
            let echo = String(character)
            guard text.utf8.count < Self.limit, SafeText.line(echo) == echo else { return "" }
            text.append(character)
            return echo
        case .erase:
            guard let last = text.popLast() else { return "" }
            return Self.erasure(of: String(last))
        case .eraseLine:
            let echo = Self.erasure(of: text)
            self = PromptLine()
            return echo
        default:
            return ""
        }
    }

    /// Ends the line, and begins the next.
    ///
    /// - Parameter isAlone: Whether the key that ended it was a single press.
    mutating func end(isAlone: Bool) -> PromptLine {
        var line = self
        if !isAlone { line.isDoubtful = true }
        self = PromptLine()
        return line
    }

    /// Erases what has been echoed, as the terminal's own editing does; see ECHOE in termios(3).
    private static func erasure(of text: String) -> String {
        String(repeating: "\u{8} \u{8}", count: DisplayWidth.of(text))
    }
}
