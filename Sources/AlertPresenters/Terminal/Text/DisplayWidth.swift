/// Measures how many columns of a terminal a text takes, and fits texts to columns.
///
/// The unit is the grapheme cluster, so that an emoji of several code points counts once. Nothing
/// here depends on the locale. See UAX #11 (East Asian Width), UAX #29 and UTS #51.
package enum DisplayWidth {
    /// The columns that a text takes on one line.
    package static func of(_ text: String) -> Int {
        if isPlain(text) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The columns that one grapheme cluster takes.
    package static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        var width = 0
        var isEmojiSequence = false
        for scalar in scalars {
            // A variation selector, a joiner or a keycap makes one picture of several scalars.
            if scalar == "\u{FE0F}" || scalar == "\u{200D}" || scalar == "\u{20E3}" {
                isEmojiSequence = true
            }
            width += of(scalar)
        }
        guard let first = scalars.first, scalars.count > 1 else { return width }
        if first.properties.isEmojiPresentation { return 2 }
        return isEmojiSequence && first.properties.isEmoji ? 2 : width
    }

    /// The columns that one grapheme cluster takes at most: a terminal that does not know a
    /// sequence of emoji shows its members one after another.
    fileprivate static func maximum(of character: Character) -> Int {
        max(of(character), character.unicodeScalars.reduce(0) { $0 + of($1) })
    }

    /// The columns that a text takes at most, on any terminal: for whether it fits.
    package static func maximum(of text: String) -> Int {
        if isPlain(text) { return text.utf8.count }
        return text.reduce(0) { $0 + maximum(of: $1) }
    }

    /// A text padded with spaces to fill a column of a table.
    ///
    /// A wider text stays as it is.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - of(text)))
    }

    /// A text cut to a width on any terminal, with `…` where something is missing.
    package static func truncated(_ text: String, to width: Int) -> String {
        guard width > 0 else { return "" }
        if maximum(of: text) <= width { return text }
        var result = ""
        var used = 1
        for character in text {
            used += maximum(of: character)
            if used > width { break }
            result.append(character)
        }
        return result + "…"
    }

    /// A text as lines of at most `width` columns on any terminal, at least one, broken at its line
    /// feeds, between words, and inside a word only if it is wider than a line.
    package static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if isPlain(paragraph), paragraph.utf8.count <= width {
                lines.append(String(paragraph))
            } else {
                var wrapper = LineWrapper(width: max(1, width))
                for character in paragraph { wrapper.add(character) }
                lines += wrapper.finished()
            }
        }
        return lines
    }

    /// Whether every byte is a printable ASCII character, which takes one column.
    private static func isPlain(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) ? 1 : 0 }
        switch scalar.value {
        case 0xAD: return 1  // Terminals show a soft hyphen.
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0  // They end a Hangul syllable.
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator,
            .paragraphSeparator:
            return 0
        default:
            return scalar.properties.isEmojiPresentation || isWide(scalar.value) ? 2 : 1
        }
    }

    /// Whether a code point is Wide or Fullwidth in EastAsianWidth.txt, emoji aside.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF,
            0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
            0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}

/// Breaks one paragraph into lines, greedily.
private struct LineWrapper {
    let width: Int
    private var lines: [String] = []
    private var line = ""
    private var lineWidth = 0
    /// The word under way, which might still move to the next line.
    private var word = ""
    private var wordWidth = 0

    init(width: Int) {
        self.width = width
    }

    mutating func add(_ character: Character) {
        let columns = DisplayWidth.maximum(of: character)
        if character == " " {
            commitWord()
            // A space at the end of a full line becomes the break.
            if lineWidth < width { append(character, columns) }
            return
        }
        // It separates words in scripts that are written without spaces.
        if character == "\u{200B}" {
            commitWord()
            return append(character, columns)
        }
        // Between ideographs a line may break anywhere.
        if columns >= 2 { commitWord() }
        if wordWidth + columns > width { commitWord() }
        if lineWidth + wordWidth + columns > width, lineWidth > 0 { breakLine() }
        word.append(character)
        wordWidth += columns
        if columns >= 2 { commitWord() }
    }

    consuming func finished() -> [String] {
        commitWord()
        if !line.isEmpty || lines.isEmpty { breakLine() }
        return lines
    }

    private mutating func commitWord() {
        guard !word.isEmpty else { return }
        if lineWidth + wordWidth > width, lineWidth > 0 { breakLine() }
        line += word
        lineWidth += wordWidth
        word = ""
        wordWidth = 0
    }

    private mutating func append(_ character: Character, _ columns: Int) {
        line.append(character)
        lineWidth += columns
    }

    private mutating func breakLine() {
        while line.last == " " || line.last == "\u{200B}" { line.removeLast() }
        lines.append(line)
        line = ""
        lineWidth = 0
    }
}
