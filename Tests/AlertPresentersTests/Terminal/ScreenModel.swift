/// A model of a terminal's screen, limited to the sequences that a presenter may use.
struct ScreenModel {
    /// What becomes of the lines of a window that is made narrower or wider.
    enum Habit: CaseIterable {
        /// They are cut off, as in xterm(1) and on the console.
        case cuts
        /// They are wrapped again, as in tmux(1) and the terminals of the desktops.
        case wraps
        /// They are wrapped again, and an inserted line doesn't end a wrapped one.
        case wrapsAcross
    }

    var lines: [String] { rows.map { Self.trimmed($0.cells) } }
    /// Escape sequences and control characters that are not among those allowed.
    private(set) var additions: [String] = []
    private(set) var isCursorVisible = true
    private(set) var marksPastes = false
    private(set) var wraps = true

    private struct Row {
        var cells: [Character] = []
        /// Whether the next row continues this one.
        var isWrapped = false
    }

    private var rows = [Row()]
    private var row = 0
    private var column = 0
    private var columns: Int
    private let habit: Habit

    init(_ bytes: [UInt8] = [], columns: Int, habit: Habit = .cuts) {
        self.columns = columns
        self.habit = habit
        write(bytes)
    }

    mutating func write(_ bytes: [UInt8]) {
        var text = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = text.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n": lineFeed()
            case "\u{8}": column = max(0, column - 1)
            case "\u{1B}": sequence(&text)
            default:
                if scalar.properties.generalCategory == .control {
                    additions.append("U+" + String(scalar.value, radix: 16))
                } else {
                    put(Character(scalar))
                }
            }
        }
    }

    /// Makes the window narrower or wider.
    mutating func resize(columns: Int) {
        self.columns = columns
        guard habit != .cuts else {
            for index in rows.indices {
                rows[index].cells = Array(rows[index].cells.prefix(columns))
            }
            column = min(column, columns - 1)
            return
        }
        var (wrapped, line): ([Row], [Character]) = ([], [])
        var cursor: (row: Int, column: Int)?
        for (index, old) in rows.enumerated() {
            if index == row {
                let offset = line.count + column
                cursor = (wrapped.count + offset / columns, offset % columns)
            }
            line += old.cells
            if old.isWrapped { continue }
            let count = max(1, (line.count + columns - 1) / columns)
            wrapped += (0..<count).map { part in
                Row(
                    cells: Array(line.dropFirst(part * columns).prefix(columns)),
                    isWrapped: part < count - 1)
            }
            line = []
        }
        rows = wrapped
        (row, column) = cursor ?? (0, 0)
        while rows.count <= row { rows.append(Row()) }
    }

    private mutating func lineFeed() {
        row += 1
        if row == rows.count { rows.append(Row()) }
    }

    private mutating func put(_ character: Character) {
        if column >= columns {
            guard wraps else { return }
            column = 0
            rows[row].isWrapped = true
            lineFeed()
        }
        while rows[row].cells.count <= column { rows[row].cells.append(" ") }
        rows[row].cells[column] = character
        column += 1
    }

    private mutating func sequence(_ text: inout ArraySlice<Unicode.Scalar>) {
        var body = ""
        while let scalar = text.popFirst() {
            body.unicodeScalars.append(scalar)
            if body.count > 1, (0x40...0x7E).contains(scalar.value) { break }
            if body.first != "[" { break }
        }
        switch body {
        case "[?25l": isCursorVisible = false
        case "[?25h": isCursorVisible = true
        case "[?2004h": marksPastes = true
        case "[?2004l": marksPastes = false
        case "[?7h": wraps = true
        case "[?7l": wraps = false
        case "[2K": rows[row].cells = []
        case "[L":
            if row > 0, habit == .wraps { rows[row - 1].isWrapped = false }
            rows.insert(Row(), at: row)
        case "[J":
            rows.removeSubrange((row + 1)...)
            rows[row] = Row(cells: Array(rows[row].cells.prefix(column)))
        default:
            let number = body.dropFirst().dropLast()
            if body.last == "A", let count = Int(number) {
                row = max(0, row - count)
            } else if body.last != "m" || !number.allSatisfy({ $0.isNumber || $0 == ";" }) {
                additions.append("ESC " + body)
            }
        }
    }

    private static func trimmed(_ row: [Character]) -> String {
        var row = row
        while row.last == " " { row.removeLast() }
        return String(row)
    }
}
