import PostgreSQL
import StoreChecks
import Testing

/// A random change of a cell or a row, which the owner of the tables can make; the same seed gives
/// the same edit.
struct RandomRowEdit: CustomStringConvertible {
    /// What a source without alerts is called, the order, the words of a search, the count of silent
    /// changes and the server on which the queue was last are no part of the proof.
    private static let tables = [
        "alerts", "alerts", "alerts", "alerts", "alerts", "audit", "audit", "sources", "heads",
    ]
    private static let excluded = [
        "queue", "queued_seq", "words", "changes", "cluster", "timeline",
    ]

    let seed: UInt64
    private(set) var statement = ""
    private var random: SeededRandom

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
    }

    var description: String { "ALERTQ_EDIT_SEED=\(seed): \(statement)" }

    /// Changes the rows of the queue; returns whether the server has let it.
    mutating func apply(to db: Connection, _ queue: Value) throws -> Bool {
        let table = Self.tables.randomElement(using: &random) ?? "alerts"
        let columns = try db.rows(
            """
            SELECT quote_ident(attname), atttypid::regtype::text FROM pg_attribute
            WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum
            """, .text(table)
        ) { (name: $0.optionalText(at: 0) ?? "", type: $0.optionalText(at: 1) ?? "") }
        .filter { !Self.excluded.contains($0.name) }
        let rows = try db.rows(
            "SELECT ctid::text FROM \(table) WHERE queue = $1 ORDER BY ctid", queue
        ) { $0.text() }
        let column = try #require(columns.randomElement(using: &random))
        let row = try #require(rows.randomElement(using: &random))
        let other = try #require(rows.randomElement(using: &random))
        let value = value(of: column.name, column.type, in: table, other)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: statement = "DELETE FROM \(table) WHERE queue = $1 AND ctid = '\(row)'"
        case 1:
            let values = columns.map { name, _ in
                name == column.name || name == columns[0].name ? value : name
            }
            let names = columns.map(\.name).joined(separator: ", ")
            statement = """
                INSERT INTO \(table) (queue, \(names)\(table == "alerts" ? ", queued_seq" : ""))
                SELECT queue, \(values.joined(separator: ", "))\(table == "alerts" ? ", 9" : "")
                FROM \(table) WHERE queue = $1 AND ctid = '\(row)'
                """
        default:
            statement = """
                UPDATE \(table) SET \(column.name) = \(value)
                WHERE queue = $1 AND ctid = '\(row)'
                    AND \(column.name) IS DISTINCT FROM \(value)
                """
        }
        return ((try? db.run(statement, queue))?.changes ?? 0) > 0
    }

    /// An expression for a column's new value.
    private mutating func value(
        of column: String, _ type: String, in table: String, _ other: String
    ) -> String {
        if Int.random(in: 0..<8, using: &random) == 0 { return "NULL" }
        if Int.random(in: 0..<4, using: &random) == 0 {
            return "(SELECT \(column) FROM \(table) AS other WHERE other.ctid = '\(other)')"
        }
        let values: [String]
        switch type {
        case "bytea": values = ["sha256('x')", "sha256(\(column))", "decode('00', 'hex')"]
        case "text":
            values = [
                "''", "'x'", "'Yes'", "'resolved'", "'expired'", "'answered'", "'[]'", "'{}'",
                "'person'", "'presented'", "\(column) || ' '", "upper(\(column))",
                "left(\(column), -1)", "replace(\(column), 'Yes', 'No')",
            ]
        default:
            let distance = Int64.random(in: -4_000_000_000...4_000_000_000, using: &random)
            values = [
                "\(column) + 1", "\(column) - 1", "\(column) + \(distance)", "-1", "0", "1",
                "2",
                "7", "4294967296", "9223372036854775807",
            ]
        }
        return values.randomElement(using: &random) ?? "NULL"
    }
}
