/// The punctuation of this command's own texts, for a locale that lacks it.
enum ASCIIText {
    /// Whether the environment names a locale that is not one of UTF-8, such as C; see locale(7).
    ///
    /// Where it names none, as in many containers, texts stay as they are.
    static func isWanted(_ variable: (String) -> String?) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable)
        guard let name = names.first?.lowercased() else { return false }
        return !name.contains("utf-8") && !name.contains("utf8")
    }

    /// The text with quotation marks, arrows and the like in ASCII; what has columns keeps them.
    static func text(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: text.unicodeScalars.lazy.map(standIn))
        return String(result)
    }

    private static func standIn(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar {
        case "“", "”", "‘", "’": "'"
        case "…": "~"
        case "−", "–", "—": "-"
        case "→", "›", "⟩": ">"
        case "←", "‹", "⟨": "<"
        case "·", "•", "×": "*"
        // The pictures of control characters.
        case "\u{2400}"..."\u{2421}": "?"
        default: scalar
        }
    }
}
