import AlertCore
import TextFormats

/// The entries of a form as lines of a terminal: a label, the value below it, and what is wrong.
struct FormLines {
    /// How many rows of a text are shown at most.
    private static let textRows = 6
    private static let margin = 2

    private(set) var lines: [StyledLine] = []
    /// The lines of the entry that takes the keys, and the one in which its cursor is.
    private(set) var focus: (lines: Range<Int>, cursor: Int)?
    private let columns: Int
    private let characters: TerminalCharacters

    /// - Parameter takesKeys: Whether the entry with the focus takes keys now, and shows its cursor.
    init(
        _ form: AlertForm, takesKeys: Bool, columns: Int, characters: TerminalCharacters = .all
    ) {
        self.columns = columns
        self.characters = characters
        for (index, entry) in form.entries.enumerated() {
            let isFocused = takesKeys && form.focus == index
            let first = lines.count
            addLabel(entry.field)
            var content = rows(of: entry, isFocused)
            let cursor = lines.count + content.cursor
            // The mark tells which entry takes the keys where nothing is inverted.
            for (row, line) in content.lines.enumerated() {
                let mark = isFocused && row == 0 ? "› " : "  "
                content.lines[row] = StyledLine(mark)
                for run in line.runs { content.lines[row].add(run.text, run.look) }
            }
            lines += content.lines
            if let problem = entry.problem { addIndented("! " + characters.line(problem), .danger) }
            if isFocused { focus = (first..<lines.count, cursor) }
        }
    }

    private mutating func addLabel(_ field: Alert.Field) {
        let title = characters.title(field.title)
        let hints = field.hints.map(characters.line).joined(separator: ", ")
        if hints.isEmpty || DisplayWidth.of(title + hints) + 3 > columns {
            lines += DisplayWidth.wrapped(title, to: columns).map { StyledLine($0) }
            if !hints.isEmpty { addIndented("(\(hints))", .dim) }
        } else {
            var line = StyledLine(title)
            line.add(" (\(hints))", .dim)
            lines.append(line)
        }
        // Values are indented, and this is none.
        if let detail = field.detail {
            lines += DisplayWidth.wrapped(characters.message(detail), to: columns)
                .map { StyledLine($0, .dim) }
        }
    }

    private mutating func addIndented(_ text: String, _ look: StyledLine.Look) {
        let indent = String(repeating: " ", count: Self.margin)
        lines += DisplayWidth.wrapped(text, to: max(1, columns - Self.margin))
            .map { StyledLine(indent + $0, look) }
    }

    /// The value's lines, and the index of the one with the cursor.
    private func rows(
        of entry: FormEntry, _ isFocused: Bool
    ) -> (lines: [StyledLine], cursor: Int) {
        let room = max(1, columns - Self.margin)
        switch entry.content {
        case .text(let editor) where editor.text.isEmpty && !isFocused:
            return ([StyledLine("—", .dim)], 0)
        case .text(let editor):
            let rows = editor.rows(columns: room, characters: characters)
            let cursor = rows.firstIndex { $0.cursor != nil } ?? 0
            let first = max(0, cursor + 1 - Self.textRows)
            let end = min(rows.count, first + Self.textRows)
            var lines = first == 0 ? [] : [StyledLine("↑ \(first) more", .dim)]
            lines += rows[first..<end].map { row in
                var line = StyledLine()
                for (index, cell) in row.cells.enumerated() {
                    line.add(cell, isFocused && index == row.cursor ? .inverse : [])
                }
                return line
            }
            let index = lines.count - (end - cursor)
            if end < rows.count { lines.append(StyledLine("↓ \(rows.count - end) more", .dim)) }
            return (lines, index)
        case .options(let picker): return rows(of: picker, isFocused, room)
        }
    }

    /// Options one after another, or one below the other where it could be unclear which words
    /// belong together.
    private func rows(
        of picker: OptionPicker, _ isFocused: Bool, _ room: Int
    ) -> (lines: [StyledLine], cursor: Int) {
        let titles = picker.titles.map(characters.title)
        let isList = titles.contains { title in
            DisplayWidth.of(title) + 4 > room || title.contains { "[]()".contains($0) }
                || WritingDirection.isRightToLeft(title)
        }
        var (lines, cursor): ([StyledLine], Int) = ([], 0)
        for (index, title) in titles.enumerated() {
            let isPicked = picker.picked.contains(index)
            let mark =
                picker.takesSeveral ? (isPicked ? "[x] " : "[ ] ") : (isPicked ? "(•) " : "( ) ")
            let look: StyledLine.Look = isFocused && index == picker.cursor ? .inverse : []
            let texts = DisplayWidth.wrapped(title, to: max(1, room - 4))
            let width = 2 + 4 + DisplayWidth.of(title)
            if !isList, let last = lines.last, last.width + width <= room {
                lines[lines.count - 1].add("  ")
            } else {
                lines.append(StyledLine())
            }
            if index == picker.cursor { cursor = lines.count - 1 }
            lines[lines.count - 1].add(mark)
            lines[lines.count - 1].add(texts[0], look)
            for text in texts.dropFirst() {
                lines.append(StyledLine("    "))
                lines[lines.count - 1].add(text, look)
            }
        }
        return (lines, cursor)
    }
}
