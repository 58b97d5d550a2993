import PostgreSQL

/// Inserts rows into a table of a queue, many with each statement: for every statement the server
/// reads all constraints of the table anew.
struct RowInsertion {
    /// How many rows a statement has: few numbers, since the server keeps each prepared.
    private static let counts = [32, 8, 1]

    private let scripts: [(count: Int, script: String)]

    init(into table: String, _ columns: [String]) {
        scripts = Self.counts.map { count in
            let rows = (0..<count).map { row in
                let first = 2 + row * columns.count
                return "($1, \((first..<first + columns.count).map { "$\($0)" }.list))"
            }
            return (
                count, "INSERT INTO \(table) (queue, \(columns.list)) VALUES \(rows.list)"
            )
        }
    }

    /// - Parameter rows: The values of the columns.
    func statements(_ rows: [[Value]], _ queue: Value) -> [Statement] {
        var statements: [Statement] = []
        var rest = rows[...]
        for (count, script) in scripts {
            while rest.count >= count {
                statements.append(Statement(script, [queue] + rest.prefix(count).joined()))
                rest = rest.dropFirst(count)
            }
        }
        return statements
    }
}
