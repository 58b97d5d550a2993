import AlertCore
import SQLite

/// A comparison of a file's schema with the expected one.
struct SchemaComparison {
    /// The faults for which the file is refused, alertq's own objects first.
    private(set) var faults: [SchemaFault] = []
    /// Allowed additions by other programs: tables, views, and indexes that refuse nothing.
    private(set) var additions: [SchemaObject] = []

    init(of db: Database, with expected: [SchemaObject]) throws {
        var missing = Dictionary(
            expected.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let tables = Set(
            expected.filter { $0.type == "table" || $0.type == "view" }
                .map(\.name.asciiLowercased))
        var foreign: [SchemaFault] = []
        for object in try SchemaObject.all(in: db) {
            if let ours = missing.removeValue(forKey: object.key) {
                if ours != object { faults.append(.changed(ours, found: object)) }
                continue
            }
            guard tables.contains(object.table.asciiLowercased) else {
                additions.append(object)
                continue
            }
            switch object.type {
            case "trigger": foreign.append(.foreignTrigger(object))
            case "index" where try !db.isPlainIndex(object):
                foreign.append(.foreignIndex(object))
            default: additions.append(object)
            }
        }
        faults += expected.filter { missing[$0.key] != nil }.map { .missing($0) } + foreign
    }
}

extension Database {
    /// Whether an index only finds rows: evaluating an expression may fail, and then a row is
    /// refused. An index that SQLite can't describe may do more.
    fileprivate func isPlainIndex(_ index: SchemaObject) throws -> Bool {
        let isPlain = try first(
            """
            SELECT "unique" = 0 AND partial = 0 AND NOT EXISTS (
                SELECT 1 FROM pragma_index_info(?2) WHERE cid = -2)
            FROM pragma_index_list(?1) WHERE lower(name) = lower(?2)
            """, .text(index.table), .text(index.name)
        ) { $0.integer() == 1 }
        return isPlain == true
    }
}

extension String {
    /// The text as a quoted name in a statement.
    var sqlQuoted: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }
}
