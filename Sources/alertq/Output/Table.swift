import AlertPresenters
import AlertQueue

/// Rows under headings.
///
/// On a terminal the columns are aligned by display width, and the last one is cut at the edge of
/// the screen. Elsewhere a tab stands between the columns and nothing is cut: no text contains a
/// tab, because control characters are made visible.
package struct Table {
    private let headings: [String]
    private let columns: Int?
    private let style: TextStyle
    private var widths: [Int]?

    package init(_ headings: [String], for context: Context) {
        self.headings = headings
        columns = context.output.columns
        style = context.style
    }

    /// The text of some rows. The first call puts the headings above them and settles the widths,
    /// so that a long table can be printed page by page.
    package mutating func text(_ rows: [[String]]) -> String {
        let rows = rows.map { $0.map(SafeText.line) }
        let isFirst = widths == nil
        let widths = self.widths ?? Self.widths(of: [headings] + rows)
        self.widths = widths
        var lines = rows.map { line($0, widths) }
        if isFirst { lines.insert(style.bold(line(headings, widths)), at: 0) }
        return lines.map { $0 + "\n" }.joined()
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        guard let columns else { return cells.joined(separator: "\t") }
        let padded = zip(cells, widths).dropLast().map {
            DisplayWidth.padded($0, to: $1)
        }
        let line = (padded + cells.suffix(1)).joined(separator: "  ")
        return DisplayWidth.truncated(line, to: columns)
    }

    private static func widths(of rows: [[String]]) -> [Int] {
        rows.reduce([]) { widths, row in
            row.enumerated().map { index, cell in
                // A single long name must not push everything else off the screen.
                let width = min(DisplayWidth.of(cell), 30)
                return index < widths.count ? max(widths[index], width) : width
            }
        }
    }
}
