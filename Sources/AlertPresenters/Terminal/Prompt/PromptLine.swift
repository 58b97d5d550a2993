import AlertCore

/// A line as it is typed, key by key, and what the terminal has to show for each key.
struct PromptLine {
    /// Longer lines are cut: no label is as long as that.
    static let limit = 4096

    private(set) var text = ""
    /// Whether a part of it came as one of many keys, as pasted text does.
    private(set) var isDoubtful = false

    /// Takes a key; returns its echo, which is harmless.
    ///
    /// - Parameter isAlone: Whether it came as a key by itself.
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
    /// - Parameter isAlone: Whether the key that ended it came by itself.
    mutating func end(isAlone: Bool) -> PromptLine {
        var line = self
        if !isAlone { line.isDoubtful = true }
        self = PromptLine()
        return line
    }

    /// Backspaces over what has been echoed, as the terminal's own editing does; see ECHOE in
    /// termios(3).
    private static func erasure(of text: String) -> String {
        String(repeating: "\u{8} \u{8}", count: DisplayWidth.of(text))
    }
}
