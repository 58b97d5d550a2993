/// A model of a terminal's screen, limited to the sequences that a presenter may use.
struct ScreenModel {
    private(set) var lines: [String] {
        get { rows.map { Self.trimmed($0) } }
        set {}
    }
    /// Escape sequences and control characters that are not among those allowed.
    private(set) var additions: [String] = []
    private(set) var isCursorVisible = true
    private(set) var marksPastes = false
    private(set) var wraps = true

    private var rows: [[Character]] = [[]]
    private var row = 0
    private var column = 0
    private let columns: Int

    init(_ bytes: [UInt8], columns: Int) {
        self.columns = columns
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

    private mutating func lineFeed() {
        row += 1
        if row == rows.count { rows.append([]) }
    }

    private mutating func put(_ character: Character) {
        if column >= columns {
            guard wraps else { return }
            column = 0
            lineFeed()
        }
        while rows[row].count <= column { rows[row].append(" ") }
        rows[row][column] = character
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
        case "[2K": rows[row] = []
        case "[J":
            rows.removeSubrange((row + 1)...)
            rows[row] = Array(rows[row].prefix(column))
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
