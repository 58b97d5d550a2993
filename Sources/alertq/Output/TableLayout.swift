/// Which columns of a table are shown, and how wide they are.
struct TableLayout: Hashable {
    /// The columns that are shown, by their index in the row.
    private(set) var columns: [Int]
    /// The widths of all columns.
    private(set) var widths: [Int]

    /// The widths below which the title and the other columns are not cut.
    private static let titleMinimum = 20
    private static let minimum = 10
    /// A single long name must not push everything else off the screen.
    private static let maximum = 30

    /// Fits columns into a screen.
    ///
    /// - Parameters:
    ///   - natural: How wide each column would like to be.
    ///   - title: The column that gets the room that is left.
    ///   - dropped: The columns that may be left out, the first one first.
    ///   - uncut: The columns that are shown as they are, or not at all.
    init(
        natural: [Int], title: Int, dropped: [Int], uncut: [Int] = [], columns limit: Int
    ) {
        columns = Array(natural.indices)
        widths = natural
        if excess(over: limit) <= 0 { return }
        var left = dropped[...]
        while true {
            widths = natural.enumerated().map { $0 == title ? $1 : min($1, Self.maximum) }
            shrink(title, by: excess(over: limit), to: Self.titleMinimum)
            while excess(over: limit) > 0, let widest = widest(but: uncut + [title]) {
                widths[widest] -= 1
            }
            guard excess(over: limit) > 0, let next = left.popFirst() else { return }
            columns.removeAll { $0 == next }
        }
    }

    private func excess(over limit: Int) -> Int {
        columns.reduce(-2) { $0 + widths[$1] + 2 } - limit
    }

    private mutating func shrink(_ column: Int, by count: Int, to minimum: Int) {
        guard count > 0 else { return }
        widths[column] = max(min(widths[column], minimum), widths[column] - count)
    }

    /// The widest column that can still be cut.
    private func widest(but others: [Int]) -> Int? {
        columns.filter { !others.contains($0) && widths[$0] > Self.minimum }
            .max { widths[$0] < widths[$1] }
    }
}
