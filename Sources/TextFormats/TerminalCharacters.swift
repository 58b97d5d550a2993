import Glibc

/// The characters that people's terminals can show, by the locale; see locale(7).
///
/// Where that is ASCII, two kinds of texts differ. A text of our own keeps its columns: a sign has
/// one character of ASCII in its place. A text from outside must be read as it was written: each
/// of its other characters is shown by its code point, such as `<U+65E5>`, as less(1) does, and no
/// two texts look the same.
package enum TerminalCharacters: Sendable {
    case all
    case ascii

    /// The characters of the locale that the environment names.
    ///
    /// Where it names none, as in many containers, the terminal most likely shows all.
    package init(
        _ variable: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
    ) {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable)
        let name = names.first { !$0.isEmpty }?.lowercased() ?? "utf-8"
        self = name.contains("utf-8") || name.contains("utf8") ? .all : .ascii
    }

    // MARK: - Texts from outside

    /// A text of one line: see ``SafeText/line(_:)``.
    package func line(_ text: String) -> String {
        self == .all ? SafeText.line(text) : Self.exact(text, keepsLineBreaks: false)
    }

    /// A text of several lines: see ``SafeText/lines(_:)``.
    package func lines(_ text: String) -> String {
        self == .all ? SafeText.lines(text) : Self.exact(text, keepsLineBreaks: true)
    }

    /// A title or a label: see ``SafeText/title(_:)``.
    package func title(_ text: String) -> String {
        self == .all ? SafeText.title(text) : Self.exact(text, keepsLineBreaks: false)
    }

    /// A message: see ``SafeText/message(_:)``.
    package func message(_ text: String) -> String {
        self == .all ? SafeText.message(text) : Self.exact(text, keepsLineBreaks: true)
    }

    private static func exact(_ text: String, keepsLineBreaks: Bool) -> String {
        let scalars = text.unicodeScalars
        var result = ""
        for index in scalars.indices {
            let scalar = scalars[index]
            let isShown = (0x20..<0x7F).contains(scalar.value)
            // What begins a code point here must begin none in the text.
            let isCodePoint = isShown && scalars[index...].starts(with: "<U+".unicodeScalars)
            if (isShown && !isCodePoint) || (keepsLineBreaks && scalar == "\n") {
                result.unicodeScalars.append(scalar)
            } else {
                result += codePoint(scalar)
            }
        }
        return result
    }

    private static func codePoint(_ scalar: Unicode.Scalar) -> String {
        "<" + SafeText.codePoint(scalar) + ">"
    }

    // MARK: - Texts of our own

    /// A text of our own, or one in which others are quoted, once it is safe.
    package func ours(_ text: String) -> String {
        guard self == .ascii, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars { result += Self.standIn(scalar) }
        return result
    }

    private static func standIn(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case _ where scalar.isASCII: String(scalar)
        case "“", "”", "‘", "’": "'"
        case "…": "~"
        case "−", "–", "—", "─": "-"
        case "→", "›": ">"
        case "←", "‹": "<"
        // Those that ``SafeText`` puts around code points.
        case "⟩": ">"
        case "⟨": "<"
        case "↑": "^"
        case "↓": "v"
        case "·", "•", "×": "*"
        case "▁"..."▃": "."
        case "▄"..."▏": "#"
        case "✓": "+"
        case "✗": "!"
        // The pictures of control characters.
        case "\u{2400}"..."\u{2421}": "?"
        default: codePoint(scalar)
        }
    }
}
