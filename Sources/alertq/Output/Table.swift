import AlertPresenters
import AlertQueue
import TextFormats

/// Rows under headings.
///
/// On a terminal the columns are aligned by display width and fitted to the screen: cells are cut,
/// and where that is not enough, columns are left out. Elsewhere the columns are separated by tabs
/// and nothing is cut: no text contains a tab, because control characters are made visible.
struct Table {
    /// The help for a table with times.
    static let help = """
        On a terminal, the table is cut to its width, columns that don't fit are left out, and \
        times are ages or, with --utc, in UTC. Elsewhere, columns are separated by tabs, nothing \
        is cut, and times are in UTC, in the format of RFC 3339.
        """

    struct Column: ExpressibleByStringLiteral {
        enum Contents {
            case words
            /// Figures, which stand below each other by their last digit.
            case numbers
            /// Times, which are useless once they are cut.
            case times
            /// Titles, which get the room that is left.
            case titles
        }

        let heading: String
        let contents: Contents

        init(_ heading: String, _ contents: Contents = .words) {
            self.heading = heading
            self.contents = contents
        }

        init(stringLiteral heading: String) { self.init(heading) }

        fileprivate func shown(_ cell: String, in characters: TerminalCharacters) -> String {
            switch contents {
            case .titles: characters.title(cell)
            case .words, .numbers, .times: characters.ours(SafeText.line(cell))
            }
        }
    }

    private let kinds: [Column]
    private var headings: [String] { kinds.map(\.heading) }
    private let dropped: [String]
    private let columns: Int?
    private let characters: TerminalCharacters
    private let style: TextStyle
    private var layout: TableLayout?

    /// - Parameter dropped: The headings of the columns that may be left out, the first one first.
    init(_ kinds: [Column], dropping dropped: [String] = [], for context: Context) {
        self.kinds = kinds
        self.dropped = dropped
        columns = context.output.columns
        characters = context.output.characters
        style = context.style
    }

    /// The text of some rows. The first call puts the headings above them and settles the widths,
    /// so that a long table can be printed page by page.
    mutating func text(_ rows: [[String]]) -> String {
        let rows = rows.map { row in zip(kinds, row).map { $0.shown($1, in: characters) } }
        let isFirst = layout == nil
        let layout = self.layout ?? fitted(rows)
        self.layout = layout
        var lines = rows.map { line($0, layout) }
        if isFirst { lines.insert(style.bold(line(headings, layout)), at: 0) }
        return lines.map { $0 + "\n" }.joined()
    }

    private func fitted(_ rows: [[String]]) -> TableLayout {
        let headings = headings
        let natural = headings.indices.map { index in
            ([headings] + rows).reduce(0) { max($0, DisplayWidth.of($1[index])) }
        }
        return TableLayout(
            natural: natural, title: kinds.firstIndex { $0.contents == .titles } ?? kinds.count - 1,
            dropped: dropped.compactMap { headings.firstIndex(of: $0) },
            uncut: kinds.indices.filter { kinds[$0].contents == .times },
            columns: columns ?? .max)
    }

    private func line(_ cells: [String], _ layout: TableLayout) -> String {
        guard let columns else { return cells.joined(separator: "\t") }
        let fitted = layout.columns.map { column in
            let (cell, width) = (
                DisplayWidth.truncated(cells[column], to: layout.widths[column]),
                layout.widths[column]
            )
            let isNumber = kinds[column].contents == .numbers
            if isNumber {
                return String(repeating: " ", count: max(0, width - DisplayWidth.of(cell))) + cell
            }
            return column == layout.columns.last ? cell : DisplayWidth.padded(cell, to: width)
        }
        return DisplayWidth.truncated(fitted.joined(separator: "  "), to: columns)
    }
}
