import AlertCore
import TextFormats

/// The entries of a form as lines of a terminal: a label, the value below it, and what is wrong.
struct FormLines {
    private static let margin = 2

    private(set) var lines: [StyledLine] = []
    /// What of each line has to be seen; `nil` where there is nothing.
    private(set) var contents: [SeenLines.Line?] = []
    /// The lines of the entry that takes the keys, and the one in which its cursor is.
    private(set) var focus: (lines: Range<Int>, cursor: Int)?
    /// Whether that entry is a list of options one below the other.
    private(set) var isInList = false
    /// The part of the text to which the lines of the entry belong.
    private var part = 0
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
            part += 1
            addLabel(entry.field)
            note(lines[first...].map(\.text))
            part += 1
            let value = rows(of: entry, isFocused)
            let cursor = lines.count + value.cursor
            // The mark tells which entry takes the keys where nothing is inverted.
            for (row, line) in value.lines.enumerated() {
                var marked = StyledLine(isFocused && row == 0 ? "› " : "  ")
                for run in line.runs { marked.add(run.text, run.look) }
                lines.append(marked)
            }
            note(value.contents)
            isInList = isInList || (isFocused && value.isList)
            if let problem = entry.problem { addIndented("! " + characters.line(problem), .danger) }
            contents += Array(repeating: nil, count: lines.count - contents.count)
            if isFocused { focus = (first..<lines.count, cursor) }
        }
    }

    private mutating func addLabel(_ field: Alert.Field) {
        let title = characters.title(field.title)
        let hints = field.hints.map(characters.line).joined(separator: ", ")
        if hints.isEmpty || DisplayWidth.maximum(of: title + hints) + 3 > columns {
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

    /// Notes what has to be seen of the last lines.
    private mutating func note(_ texts: [String]) {
        for (index, text) in texts.enumerated() {
            let isBlank = text.allSatisfy { $0 == " " }
            contents.append(isBlank ? nil : .init(part: part, index: index, text: text))
        }
    }

    /// The lines of a value or of options.
    private struct Rows {
        var lines: [StyledLine] = []
        /// What each line says, whatever is selected in it.
        var contents: [String] = []
        /// The index of the line with the cursor.
        var cursor = 0
        var isList = false
    }

    private func rows(of entry: FormEntry, _ isFocused: Bool) -> Rows {
        let room = max(1, columns - Self.margin)
        switch entry.content {
        case .text(let editor) where editor.text.isEmpty && !isFocused:
            return Rows(lines: [StyledLine("—", .dim)], contents: [""])
        case .text(let editor):
            let rows = editor.rows(columns: room, characters: characters)
            var result = Rows(cursor: rows.firstIndex { $0.cursor != nil } ?? 0)
            for row in rows {
                var line = StyledLine()
                for (index, cell) in row.cells.enumerated() {
                    line.add(cell, isFocused && index == row.cursor ? .inverse : [])
                }
                result.lines.append(line)
                // The last cell may be there for the cursor alone.
                let end = row.cells.last == " " ? row.cells.count - 1 : row.cells.count
                result.contents.append(row.cells[..<end].joined())
            }
            return result
        case .options(let picker): return rows(of: picker, isFocused, room)
        }
    }

    /// Options one after another, or one below the other where it could be unclear which words
    /// belong together.
    private func rows(of picker: OptionPicker, _ isFocused: Bool, _ room: Int) -> Rows {
        let titles = picker.titles.map(characters.title)
        var rows = Rows()
        rows.isList = titles.contains { title in
            DisplayWidth.maximum(of: title) + 4 > room || title.contains { "[]()".contains($0) }
                || WritingDirection.isRightToLeft(title)
        }
        for (index, title) in titles.enumerated() {
            let isPicked = picker.picked.contains(index)
            let mark =
                picker.takesSeveral ? (isPicked ? "[x] " : "[ ] ") : (isPicked ? "(•) " : "( ) ")
            let look: StyledLine.Look = isFocused && index == picker.cursor ? .inverse : []
            let texts = DisplayWidth.wrapped(title, to: max(1, room - 4))
            let width = 2 + 4 + DisplayWidth.maximum(of: title)
            if !rows.isList, let last = rows.lines.last, last.width + width <= room {
                rows.lines[rows.lines.count - 1].add("  ")
            } else {
                rows.lines.append(StyledLine())
                rows.contents.append("")
            }
            if index == picker.cursor { rows.cursor = rows.lines.count - 1 }
            for (number, text) in texts.enumerated() {
                if number > 0 {
                    rows.lines.append(StyledLine())
                    rows.contents.append("")
                }
                rows.lines[rows.lines.count - 1].add(number == 0 ? mark : "    ")
                rows.lines[rows.lines.count - 1].add(text, look)
                rows.contents[rows.contents.count - 1] += "  " + text
            }
        }
        return rows
    }
}
