import AlertCore
import TextFormats

/// A line as it is typed, key by key, with the echo of each key.
struct PromptLine {
    /// Longer lines are cut. They are too long for a value or a note, which says so.
    static let limit = Alert.Limit.value + 8

    private(set) var text = ""
    /// Whether a part of it came in a burst of keys, as pasted text does.
    private(set) var isDoubtful = false
    /// The characters that its echo may have.
    private let characters: TerminalCharacters

    init(_ characters: TerminalCharacters = .all) {
        self.characters = characters
    }

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
            return characters.line(echo)
        case .erase:
            guard let last = text.popLast() else { return "" }
            return erasure(of: String(last))
        case .eraseLine:
            let echo = erasure(of: text)
            self = PromptLine(characters)
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
        self = PromptLine(characters)
        return line
    }

    /// Erases what has been echoed, as the terminal's own editing does; see ECHOE in termios(3).
    private func erasure(of text: String) -> String {
        let width = text.reduce(0) { $0 + DisplayWidth.of(characters.line(String($1))) }
        return String(repeating: "\u{8} \u{8}", count: width)
    }
}
