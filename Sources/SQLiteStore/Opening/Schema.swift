import AlertCore
import Migrations
import SQLite

/// The schema that this version of alertq works with.
enum Schema {
    /// The objects of an empty queue; they are only needed where a file has others.
    static let expected = Result { try SchemaObject.all(in: .model()) }

    /// All objects of a database in their order, as `Migrations/SQLite/schema.sql` lists them: the
    /// type, the name and the table of each, and its statement, unless SQLite wrote that itself.
    static let list = """
        SELECT group_concat(section, '') FROM (
            SELECT format('%s--- %s %s of %s%s', char(10), type, name, tbl_name, char(10))
                || CASE WHEN sql IS NULL OR \(SchemaObject.isMadeBySQLite) THEN ''
                    ELSE sql || ';' || char(10) END AS section
            FROM sqlite_schema ORDER BY rowid)
        """

    /// The beginning of the list in the file, after its comment.
    private static let start =
        Migration.schema.firstRange(of: Array("\n--- ".utf8))?.lowerBound ?? 0

    /// Whether a database has exactly these objects in this order, as every file has to which
    /// nothing was added and in which nothing was put back.
    static func matches(_ db: Database) throws -> Bool {
        try db.first(list) { row in
            Migration.schema[start...].withUnsafeBytes { row.raw(at: 0).holds($0) }
        } ?? false
    }
}

extension Database {
    /// An empty queue that these migrations make, in memory.
    static func model(of migrations: some Sequence<Migration> = Migration.all) throws -> Database {
        let model = try Database(path: ":memory:", access: .create)
        for migration in migrations { try model.execute(migration.sql) }
        return model
    }
}

/// A table, an index, a view or a trigger from the file's table `sqlite_schema`.
///
/// See <https://sqlite.org/schematab.html>.
package struct SchemaObject: Equatable, Sendable {
    /// `table`, `index`, `view` or `trigger`.
    package let type: String
    package let name: String
    /// The table or view that it belongs to; for a table or view itself, its own name.
    package let table: String
    /// The statement that creates it; `nil` for what SQLite creates by itself.
    package let sql: String?

    enum Column: Int, ColumnList {
        case type, name, tblName, statement

        var sql: String {
            self == .statement ? "iif(\(SchemaObject.isMadeBySQLite), NULL, sql)" : snakeCased
        }
    }

    static let query = "SELECT \(Column.list) FROM sqlite_schema ORDER BY rowid"

    init(_ row: borrowing Row) {
        type = row.text(Column.type)
        name = row.text(Column.name)
        table = row.text(Column.tblName)
        sql = row.optionalText(Column.statement)
    }

    /// The SQL condition for an object whose statement SQLite wrote: it differs between versions.
    static let isMadeBySQLite =
        "substr(name, 1, 7) = 'sqlite_' OR substr(name, 1, 11) = 'text_index_'"

    /// Byte by byte: texts that only look alike are not the same statement.
    package static func == (one: SchemaObject, other: SchemaObject) -> Bool {
        one.type.isIdentical(to: other.type) && one.name.isIdentical(to: other.name)
            && one.table.isIdentical(to: other.table) && one.sql.isIdentical(to: other.sql)
    }

    /// All objects of a database, oldest first.
    static func all(in db: Database) throws -> [SchemaObject] {
        try db.rows(query) { SchemaObject($0) }
    }

    /// Its unique key: triggers have a separate namespace, and case is ignored.
    var key: Key { Key(isTrigger: type == "trigger", name: name.asciiLowercased) }

    struct Key: Hashable {
        let isTrigger: Bool
        let name: String
    }

    /// Whether it goes and comes with the search index.
    package var isPartOfTextIndex: Bool { name.hasPrefix("text_index_") && type == "table" }

    /// Its name in messages.
    package var subject: String {
        let suffix = type == "index" || type == "trigger" ? " on “\(SafeText.line(table))”" : ""
        return "the \(type) “\(SafeText.line(name))”" + suffix
    }
}

extension String {
    /// The name as SQLite compares it: only A to Z are converted to lower case.
    var asciiLowercased: String {
        String(
            decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}

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
        let gone = expected.filter { missing[$0.key] != nil }
        let tablesGone = Set(gone.filter { $0.type == "table" }.map(\.name))
        // A table takes its indexes and triggers with it.
        faults +=
            gone.filter { $0.type == "table" || !tablesGone.contains($0.table) }
            .map { .missing($0) } + foreign
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

/// An object that a file's schema lacks, or must not have in that form.
package enum SchemaFault: Equatable, Sendable {
    case missing(SchemaObject)
    /// The object is not as alertq creates it.
    case changed(SchemaObject, found: SchemaObject)
    /// A trigger that another program added to one of alertq's tables or views: it could change
    /// what is stored, or prevent it from being stored, without an error.
    case foreignTrigger(SchemaObject)
    /// An index that another program added to one of alertq's tables and that is unique, or has an
    /// expression or a condition: it may refuse rows that should be stored.
    case foreignIndex(SchemaObject)

    /// The object, as it must be or as it was found.
    package var object: SchemaObject {
        switch self {
        case .missing(let object), .changed(let object, _), .foreignTrigger(let object),
            .foreignIndex(let object):
            object
        }
    }

    /// The statement that removes another program's object; `nil` for alertq's own.
    package var removal: String? {
        switch self {
        case .missing, .changed: nil
        case .foreignTrigger(let object): "DROP TRIGGER \(object.name.sqlQuoted)"
        case .foreignIndex(let object): "DROP INDEX \(object.name.sqlQuoted)"
        }
    }

    /// The statements that put alertq's own object back; `nil` for a table, whose rows are gone or
    /// may not fit, except for the search index, and for another program's object.
    package var restoration: String? {
        switch self {
        case .missing(let object) where object.type != "table" || object.name == "text_index":
            object.sql.map { $0 + ";" }
        case .changed(let object, let found) where object.type == found.type:
            object.type == "table"
                ? nil
                : object.sql.map {
                    "DROP \(found.type.uppercased()) \(found.name.sqlQuoted);\n\($0);"
                }
        default: nil
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
        removal.map { "remove it: " + SafeText.line($0) } ?? "alertq doctor says what to do"
    }

    /// The error for which the file is refused, and what to do.
    static func error(_ faults: [SchemaFault]) -> AlertError? {
        guard let first = faults.first else { return nil }
        let others = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        return .inconsistent(nil, "\(first.description)\(others); \(first.advice)")
    }
}

/// The schema of a queue's file, for code that examines it without a store.
package struct QueueSchema: Sendable {
    private let files: QueueFiles

    package init(database path: String) throws(AlertError) {
        files = try QueueFiles(database: path)
    }

    /// The result of examining the schema.
    package struct Report: Sendable {
        package let version: Int
        /// The faults for which the file is refused.
        package let faults: [SchemaFault]
        /// Objects added by other programs that are allowed.
        package let additions: [SchemaObject]
    }

    /// Compares the schema with the one that this version makes; nothing is written.
    ///
    /// - Returns: `nil` if there is no queue in the file yet.
    package nonisolated(nonsending) func report() async throws(AlertError) -> Report? {
        let file = DatabaseFile(files: files)
        if let refusal = try file.refusalIfBackup() { throw refusal }
        let reader = Reader(
            file: file, known: LogTail(), copy: ReadingCopy(onCopy: {}), checks: false)
        return try await QueueConfined(reader, label: "alertq.schema").run {
            reader throws(AlertError) in
            try storing("read the schema") { try reader.read { try Self.report(on: $0) } }
        }
    }

    private static func report(on db: Database) throws -> Report? {
        db.setDefensive(false)
        // Objects that SQLite can't parse must be reported, too.
        try db.execute("PRAGMA writable_schema = ON")
        let version = try db.first("PRAGMA user_version") { Int($0.integer()) } ?? 0
        guard version > 0 else { return nil }
        let found = try SchemaComparison(of: db, with: Schema.expected.get())
        return Report(version: version, faults: found.faults, additions: found.additions)
    }
}

extension Database {
    /// The faults that SQLite finds in the file, and rows whose counterparts are gone.
    func structuralDamage() throws -> [String] {
        // As <https://sqlite.org/pragma.html#pragma_foreign_key_check> has them.
        enum Stray: Int, ColumnList { case table, rowid, parent, fkid }
        let strays = try rows("PRAGMA foreign_key_check") { row in
            let (table, parent) = (row.text(Stray.table), row.text(Stray.parent))
            return "a row of \(table) belongs to a row of \(parent) that is gone"
        }
        return try integrityFaults() + strays.prefix(10)
    }
}
