import AlertCore
import TextFormats

/// A text that a person edits, and the cursor in it; it knows nothing of a terminal.
///
/// The keys are those of readline(3). The unit is the grapheme cluster, as a person sees it: what is
/// typed may join the character before it, and what is erased may join its neighbours.
struct LineEditor: Equatable, Sendable {
    /// What became of a key.
    enum Effect {
        case done
        /// It inserts more than ``limit`` allows, and the rest was left out.
        case cut
    }

    /// The bytes that a text has at most.
    static let limit = Alert.Limit.value

    private(set) var text: String
    /// The boundary of a character: that before which the cursor is, or the text's end.
    private(set) var cursor: String.Index
    /// Whether the text may have several lines.
    let isMultiline: Bool

    /// - Parameter text: What is there at first, with the cursor after it.
    init(_ text: String = "", isMultiline: Bool = false) {
        self.text = text
        self.isMultiline = isMultiline
        cursor = self.text.endIndex
    }

    /// Applies a key; returns `nil`, and does nothing, if it is none of an editor's.
    ///
    /// Up and down are an editor's as long as there is a line to move to.
    mutating func press(_ key: Key) -> Effect? {
        switch key {
        case .character(let character): return insert(String(character))
        case .enter where isMultiline: return insert("\n")
        case .paste(let text): return paste(text)
        case .erase: delete(from: before(cursor))
        case .eraseWord: delete(from: wordStart(before: cursor))
        case .eraseLine: delete(from: lineStart(before: cursor))
        case .delete, .endOfInput: delete(to: after(cursor))
        case .deleteWord: delete(to: wordEnd(after: cursor))
        case .deleteLine: delete(to: lineEnd(after: cursor))
        case .left: cursor = before(cursor)
        case .right: cursor = after(cursor)
        case .wordLeft: cursor = wordStart(before: cursor)
        case .wordRight: cursor = wordEnd(after: cursor)
        case .home: cursor = lineStart(before: cursor)
        case .end: cursor = lineEnd(after: cursor)
        case .up:
            let start = lineStart(before: cursor)
            guard start > text.startIndex else { return nil }
            move(to: lineStart(before: before(start)), keepingColumnFrom: start)
        case .down:
            let end = lineEnd(after: cursor)
            guard end < text.endIndex else { return nil }
            move(to: after(end), keepingColumnFrom: lineStart(before: cursor))
        default: return nil
        }
        return .done
    }

    // MARK: - Changing the text

    /// Inserts a text that was typed or comes all at once.
    ///
    /// A control character other than a tab is inserted as its picture: it would be invisible
    /// wherever the text is used. In a single line, line breaks become spaces.
    private mutating func insert(_ typed: String) -> Effect {
        var room = Self.limit - text.utf8.count
        let parts = typed.map(neutral)
        let fitting = parts.prefix { part in
            room -= part.utf8.count
            return room >= 0
        }
        replace(cursor..<cursor, with: fitting.joined())
        return fitting.count == parts.count ? .done : .cut
    }

    /// Inserts a text that was copied elsewhere; line breaks around it were hardly meant for a single
    /// line.
    private mutating func paste(_ pasted: String) -> Effect {
        guard !isMultiline else { return insert(pasted) }
        let lines = pasted.split(whereSeparator: \.isNewline)
        return insert(lines.joined(separator: " "))
    }

    private func neutral(_ character: Character) -> String {
        if character.isNewline { return isMultiline ? "\n" : " " }
        let isControl = character.unicodeScalars.contains {
            $0.properties.generalCategory == .control && $0 != "\t"
        }
        return isControl ? SafeText.line(String(character)) : String(character)
    }

    private mutating func delete(from start: String.Index) { replace(start..<cursor, with: "") }
    private mutating func delete(to end: String.Index) { replace(cursor..<end, with: "") }

    /// Replaces a part of the text, and puts the cursor after the new part, or after the character
    /// that it has joined.
    private mutating func replace(_ range: Range<String.Index>, with part: String) {
        let before = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
        text.replaceSubrange(range, with: part)
        let end = text.utf8.index(text.startIndex, offsetBy: before + part.utf8.count)
        cursor = text.indices.first { $0 >= end } ?? text.endIndex
    }

    // MARK: - Moving

    private func before(_ index: String.Index) -> String.Index {
        index > text.startIndex ? text.index(before: index) : index
    }

    private func after(_ index: String.Index) -> String.Index {
        index < text.endIndex ? text.index(after: index) : index
    }

    /// The beginning of the word in which an index is, or of the one before it.
    private func wordStart(before index: String.Index) -> String.Index {
        let end = text[..<index].lastIndex(where: Self.isOfWord) ?? text.startIndex
        return text[..<end].lastIndex { !Self.isOfWord($0) }.map(after) ?? text.startIndex
    }

    /// The end of the word in which an index is, or of the one after it.
    private func wordEnd(after index: String.Index) -> String.Index {
        let start = text[index...].firstIndex(where: Self.isOfWord) ?? text.endIndex
        return text[start...].firstIndex { !Self.isOfWord($0) } ?? text.endIndex
    }

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }

    private func lineStart(before index: String.Index) -> String.Index {
        text[..<index].lastIndex(where: \.isNewline).map(after) ?? text.startIndex
    }

    private func lineEnd(after index: String.Index) -> String.Index {
        text[index...].firstIndex(where: \.isNewline) ?? text.endIndex
    }

    /// Moves to a line, as many characters into it as the cursor is in its own.
    private mutating func move(
        to line: String.Index, keepingColumnFrom start: String.Index
    ) {
        let column = text.distance(from: start, to: cursor)
        let end = lineEnd(after: line)
        cursor = text.index(line, offsetBy: column, limitedBy: end) ?? end
    }
}

// MARK: - Layout

extension LineEditor {
    /// A row of the text as a terminal shows it, one string for each character.
    struct Row: Equatable {
        var cells: [String] = []
        /// The index of the cell on which the cursor is, if it is in this row. The row has a space
        /// for it after its last character.
        var cursor: Int?
    }

    /// The text in a number of columns, as at least one row.
    ///
    /// A character that is wider than all columns has a row of its own.
    func rows(columns: Int, characters: TerminalCharacters = .all) -> [Row] {
        var rows = [Row()]
        var width = 0
        let indices = Array(text.indices) + [text.endIndex]
        for (index, shown) in zip(indices, cells(characters) + [""]) {
            let isEnd = index == text.endIndex || text[index].isNewline
            let cell = isEnd ? " " : shown
            let isShown = !isEnd || index == cursor
            if isShown, width > 0, width + DisplayWidth.maximum(of: cell) > columns {
                rows.append(Row())
                width = 0
            }
            if index == cursor { rows[rows.count - 1].cursor = rows[rows.count - 1].cells.count }
            if isShown { rows[rows.count - 1].cells.append(cell) }
            width += DisplayWidth.maximum(of: cell)
            if isEnd, index < text.endIndex {
                rows.append(Row())
                width = 0
            }
        }
        return rows
    }

    /// What the terminal shows for each character.
    private func cells(_ characters: TerminalCharacters) -> [String] {
        let all = text.map { String($0) }
        return all.indices.map { index in
            let alone = characters.line(all[index])
            // Whether a joiner is visible depends on the letter after it.
            guard all[index].unicodeScalars.count > 1, index + 1 < all.count else { return alone }
            let next = characters.line(all[index + 1]).unicodeScalars
            let both = characters.line(all[index] + all[index + 1]).unicodeScalars
            return both.reversed().starts(with: next.reversed())
                ? String(String.UnicodeScalarView(both.dropLast(next.count))) : alone
        }
    }
}
