import SQLite

/// What a file's schema has that it must not have, or lacks.
package enum SchemaFault: Equatable, Sendable {
    case missing(SchemaObject)
    /// It is not as alertq makes it.
    case changed(SchemaObject, found: SchemaObject)
    /// A trigger of somebody else's on one of our tables or views could change what is stored, or
    /// keep it from being stored, without an error.
    case foreignTrigger(SchemaObject)
    /// An index of somebody else's on one of our tables that is unique, or has an expression or a
    /// condition, refuses rows that ought to be stored.
    case foreignIndex(SchemaObject)

    /// The object, as it must be or as it was found.
    package var object: SchemaObject {
        switch self {
        case .missing(let object), .changed(let object, _), .foreignTrigger(let object),
            .foreignIndex(let object):
            object
        }
    }

    /// The statement that removes an object of somebody else's; `nil` for ours.
    package var removal: String? {
        switch self {
        case .missing, .changed: nil
        case .foreignTrigger(let object): "DROP TRIGGER \(object.name.sqlQuoted)"
        case .foreignIndex(let object): "DROP INDEX \(object.name.sqlQuoted)"
        }
    }

    package var description: String {
        let subject = object.subject
        switch self {
        case .missing: return "\(subject) is missing"
        case .changed(let object, let found):
            let isOther = found.type != object.type
            return subject + (isOther ? " is a \(found.type) now" : " is not as alertq makes it")
        case .foreignTrigger: return "\(subject) is not alertq's"
        case .foreignIndex: return "\(subject) may refuse rows, and is not alertq's"
        }
    }

    private var advice: String {
        removal.map { "remove it: " + SafeText.line($0) } ?? "put it right: alertq doctor --repair"
    }

    /// Why the file is refused, and what to do.
    static func error(_ faults: [SchemaFault]) -> AlertError? {
        guard let first = faults.first else { return nil }
        let others = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        return .inconsistent(nil, "\(first.description)\(others); \(first.advice)")
    }
}

/// A file's schema, compared with what it must be.
struct SchemaComparison {
    /// What is refused, ours first.
    private(set) var faults: [SchemaFault] = []
    /// What somebody else has added, and may: tables, views, and indexes that refuse nothing.
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
    /// Whether an index only finds rows: an expression may fail, and then a row is refused. What
    /// SQLite does not know may do more.
    fileprivate func isPlainIndex(_ index: SchemaObject) throws -> Bool {
        let isPlain = try first(
            """
            SELECT "unique" = 0 AND partial = 0 AND NOT EXISTS (
                SELECT 1 FROM pragma_index_info(?2) WHERE cid = -2)
            FROM pragma_index_list(?1) WHERE lower(name) = lower(?2)
            """, .text(index.table), .text(index.name)
        ) { $0.integer(0) == 1 }
        return isPlain == true
    }
}

extension String {
    /// A name within a statement.
    var sqlQuoted: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }
}
