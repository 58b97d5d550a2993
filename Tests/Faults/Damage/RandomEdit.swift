import SQLite
import SQLiteStore
import StoreChecks

/// A random change of a few cells or rows, or of the schema, which any account that may write the
/// file can make; the same seed gives the same edit.
struct RandomEdit: CustomStringConvertible {
    /// The tables whose cells matter, and `upkeep`, of whose cells only the next id does.
    private static let tables = [
        "alerts", "alerts", "alerts", "alerts", "alerts", "audit", "audit", "sources", "upkeep",
    ]

    let seed: UInt64
    private(set) var statements: [String] = []
    private var random: SeededRandom

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
    }

    var description: String { "ALERTQ_EDIT_SEED=\(seed): \(statements.joined(separator: "; "))" }

    /// Applies the edit, with the triggers removed; returns whether it changed anything.
    mutating func apply(to db: Database) throws -> Bool {
        db.setDefensive(false)
        try db.execute(
            """
            PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;
            PRAGMA synchronous = OFF; BEGIN IMMEDIATE
            """)
        enum Trigger: Int, ColumnList { case name, sql }
        let triggers = try db.rows(
            "SELECT \(Trigger.list) FROM sqlite_schema WHERE type = 'trigger'"
        ) { ($0.text(Trigger.name), $0.text(Trigger.sql)) }
        for (name, _) in triggers { try db.execute("DROP TRIGGER \(name)") }
        let before = try rows(of: db)
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let statement = try next(in: db)
            // A forger can't make an edit that SQLite refuses without changing the schema.
            if (try? db.execute(statement)) != nil { statements.append(statement) }
        }
        let isChanged = try rows(of: db) != before
        for (_, sql) in triggers { try db.execute(sql) }
        try db.execute("COMMIT")
        guard Int.random(in: 0..<12, using: &random) == 0 else { return isChanged }
        let statement = try schemaEdit(in: db)
        guard (try? db.execute(statement)) != nil else { return isChanged }
        statements.append(statement)
        return true
    }

    /// The contents of the tables, so that replacing a value with itself does not count as an edit.
    private func rows(of db: Database) throws -> [String] {
        try Set(Self.tables).sorted().flatMap { table in
            let columns = try db.rows("SELECT name FROM pragma_table_info('\(table)')") {
                "quote(\($0.text()))"
            }
            let row = columns.joined(separator: " || ',' || ")
            return try db.rows("SELECT rowid || ',' || \(row) FROM \(table)") { $0.text() }
        }
    }

    private mutating func next(in db: Database) throws -> String {
        let table = Self.tables.randomElement(using: &random) ?? "alerts"
        let columns = try db.rows("SELECT name FROM pragma_table_info('\(table)')") { $0.text() }
        let ids = try db.rows("SELECT rowid FROM \(table)") { $0.integer() }
        guard let id = ids.randomElement(using: &random),
            let other = ids.randomElement(using: &random),
            let column = columns.randomElement(using: &random)
        else { return "SELECT 1" }
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return "DELETE FROM \(table) WHERE rowid = \(id)"
        case 1, 2:
            let values = columns.map { name in
                name == column || name == columns[0] ? value(of: name, other, table) : name
            }
            return """
                INSERT INTO \(table) (\(columns.joined(separator: ", "))) \
                SELECT \(values.joined(separator: ", ")) FROM \(table) WHERE rowid = \(id)
                """
        case 3:
            return """
                UPDATE \(table) SET \(column) = (SELECT \(column) FROM \(table) AS other \
                WHERE other.rowid = CASE \(table).rowid WHEN \(id) THEN \(other) ELSE \(id) END) \
                WHERE rowid IN (\(id), \(other))
                """
        case 4:
            return """
                UPDATE \(table) SET rowid = -rowid - 1000 WHERE rowid IN (\(id), \(other)); \
                UPDATE \(table) SET rowid = CASE rowid WHEN -\(id) - 1000 THEN \(other) \
                ELSE \(id) END WHERE rowid < -999
                """
        case 5: return "UPDATE \(table) SET \(column) = \(value(of: column, other, table))"
        default:
            return """
                UPDATE \(table) SET \(column) = \(value(of: column, other, table)) \
                WHERE rowid = \(id)
                """
        }
    }

    /// A statement that changes the queue's own schema, or adds something to it.
    private mutating func schemaEdit(in db: Database) throws -> String {
        enum Object: Int, ColumnList { case type, name }
        let objects = try db.rows(
            "SELECT \(Object.list) FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        ) { ($0.text(Object.type), $0.text(Object.name)) }
        let table = Self.tables.dropLast().randomElement(using: &random) ?? "alerts"
        let columns = try db.rows("SELECT name FROM pragma_table_info('\(table)')") { $0.text() }
        guard let (type, name) = objects.randomElement(using: &random),
            let column = columns.randomElement(using: &random)
        else { return "SELECT 1" }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return "DROP \(type) \(name)"
        case 1:
            let event = ["INSERT", "UPDATE", "DELETE"].randomElement(using: &random) ?? "INSERT"
            return """
                CREATE TRIGGER planted BEFORE \(event) ON \(table) \
                BEGIN SELECT RAISE(IGNORE); END
                """
        case 2: return "CREATE UNIQUE INDEX planted ON \(table) (\(column))"
        case 3: return "CREATE INDEX planted ON \(table) (\(column)); ANALYZE"
        case 4: return "CREATE TABLE planted (x); CREATE VIEW seen AS SELECT * FROM planted"
        case 5: return "ALTER TABLE \(table) ADD COLUMN planted"
        case 6: return "ALTER TABLE \(table) RENAME COLUMN \(column) TO planted"
        case 7: return "PRAGMA user_version = \(Int.random(in: 0...9, using: &random))"
        case 8: return "DROP TABLE \(table)"
        default:
            let word = ["NOT NULL", "UNIQUE", "CHECK", "WHERE", "SELECT", "id"]
                .randomElement(using: &random)
            return """
                PRAGMA writable_schema = ON; \
                UPDATE sqlite_schema SET sql = replace(sql, '\(word ?? "")', '') \
                WHERE name = '\(name)'
                """
        }
    }

    /// An expression for a column's new value.
    private mutating func value(of column: String, _ other: Int64, _ table: String) -> String {
        let texts = [
            "''", "'x'", "'Yes'", "'no'", "'resolved'", "'expired'", "'answered'", "'dismissed'",
            "'[]'", "'{}'", "'[{}]'", "'person'", "'edited'", "'manual'", "'presented'",
        ]
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1: return "NULL"
        case 2: return "\(column) + 1"
        case 3: return "\(column) - 1"
        case 4:
            let distance = Int64.random(in: -4_000_000_000...4_000_000_000, using: &random)
            return "\(column) + \(distance)"
        case 5:
            let number = [-1, 0, 1, 2, 7, 4_294_967_296, Int64.max].randomElement(using: &random)
            return "\(number ?? 0)"
        case 6: return texts.randomElement(using: &random) ?? "''"
        case 7: return "\(column) || ' '"
        case 8: return "zeroblob(32)"
        case 9: return "substr(\(column), 1, length(\(column)) - 1)"
        case 10: return "upper(\(column))"
        case 11: return "replace(\(column), 'Yes', 'No')"
        default:
            return "(SELECT \(column) FROM \(table) AS other WHERE other.rowid = \(other))"
        }
    }
}
