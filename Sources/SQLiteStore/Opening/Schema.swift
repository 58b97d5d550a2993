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
        enum Column: Int, ColumnList {
            case type, name, tblName, statement

            var sql: String {
                self == .statement ? "iif(\(SchemaObject.isMadeBySQLite), NULL, sql)" : snakeCased
            }
        }
        return try db.rows("SELECT \(Column.list) FROM sqlite_schema ORDER BY rowid") { row in
            SchemaObject(
                type: row.text(Column.type), name: row.text(Column.name),
                table: row.text(Column.tblName), sql: row.optionalText(Column.statement))
        }
    }

    /// Its unique key: case is ignored, and triggers have a separate namespace, which begins with a
    /// character that no name contains.
    var key: String { (type == "trigger" ? "\0" : "") + name.asciiLowercased }

    /// Whether it goes and comes with the search index.
    package var isPartOfTextIndex: Bool { name.hasPrefix("text_index_") && type == "table" }

    /// The statement that removes it.
    fileprivate var removal: String {
        // Byte by byte: a quotation mark may be the beginning of a longer character.
        let mark = UInt8(ascii: "\"")
        let quoted = name.utf8.flatMap { $0 == mark ? [mark, mark] : [$0] }
        return "DROP \(type.uppercased()) \"\(String(decoding: quoted, as: UTF8.self))\""
    }

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
package struct SchemaReport: Sendable {
    package private(set) var version = 0
    /// The faults for which the file is refused, alertq's own objects first.
    package private(set) var faults: [SchemaFault] = []
    /// Allowed additions by other programs: tables, views, and indexes that refuse nothing.
    package private(set) var additions: [SchemaObject] = []

    /// Compares the schema in a file with the one that this version makes; nothing is written.
    ///
    /// - Returns: `nil` if there is no queue in the file yet.
    package nonisolated(nonsending) static func read(
        from path: String
    ) async throws(AlertError) -> SchemaReport? {
        let file = DatabaseFile(files: try QueueFiles(database: path))
        if let refusal = try file.refusalIfBackup() { throw refusal }
        let reader = Reader(
            file: file, known: nil, copy: ReadingCopy(onCopy: {}))
        let report = try await QueueConfined(reader, label: "alertq.schema").run {
            reader throws(AlertError) in
            try storing("read the schema") {
                try reader.read { db in
                    db.setDefensive(false)
                    // Objects that SQLite can't parse must be reported, too.
                    try db.execute("PRAGMA writable_schema = ON")
                    return try SchemaReport(on: db, comparedWith: Schema.expected.get())
                }
            }
        }
        return report.version > 0 ? report : nil
    }

    init(on db: Database, comparedWith expected: [SchemaObject]) throws {
        version = try db.first("PRAGMA user_version") { Int($0.integer()) } ?? 0
        var missing = Dictionary(
            expected.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let tables = Set(
            expected.filter { $0.type == "table" || $0.type == "view" }
                .map(\.name.asciiLowercased))
        var foreign: [SchemaFault] = []
        for object in try SchemaObject.all(in: db) {
            if let ours = missing.removeValue(forKey: object.key) {
                if ours != object {
                    faults.append(SchemaFault(object: ours, kind: .changed(object)))
                }
            } else if try tables.contains(object.table.asciiLowercased) && !db.isHarmless(object) {
                foreign.append(SchemaFault(object: object, kind: .foreign))
            } else {
                additions.append(object)
            }
        }
        let gone = expected.filter { missing[$0.key] != nil }
        let tablesGone = Set(gone.filter { $0.type == "table" }.map(\.name))
        // A table takes its indexes and triggers with it.
        faults +=
            gone.filter { $0.type == "table" || !tablesGone.contains($0.table) }
            .map { SchemaFault(object: $0, kind: .missing) } + foreign
    }

    /// - Throws: ``AlertError/inconsistent(_:_:)`` with what to do, if there is a fault.
    func check() throws(AlertError) {
        guard let first = faults.first else { return }
        let advice = first.removal.map { "remove it: " + SafeText.line($0) }
        let others = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        throw .inconsistent(
            nil,
            "\(first.description)\(others); \(advice ?? "alertq doctor says what to do")")
    }
}

extension Database {
    /// Whether another program's object leaves the rows of its table alone.
    ///
    /// A trigger could change what is stored, or prevent it from being stored, without an error. An
    /// index that does more than find rows may refuse some: evaluating an expression may fail. One
    /// that SQLite can't describe may do more.
    fileprivate func isHarmless(_ object: SchemaObject) throws -> Bool {
        guard object.type == "index" else { return object.type != "trigger" }
        let isPlain = try first(
            """
            SELECT "unique" = 0 AND partial = 0 AND NOT EXISTS (
                SELECT 1 FROM pragma_index_info(?2) WHERE cid = -2)
            FROM pragma_index_list(?1) WHERE lower(name) = lower(?2)
            """, .text(object.table), .text(object.name)
        ) { $0.integer() == 1 }
        return isPlain == true
    }
}

/// An object that a file's schema lacks, or must not have in that form.
package struct SchemaFault: Equatable, Sendable {
    enum Kind: Equatable {
        case missing
        /// It is not as alertq creates it, but like this.
        case changed(SchemaObject)
        /// A trigger or an index that another program added to one of alertq's tables or views.
        case foreign
    }

    /// The object, as it must be or as it was found.
    package let object: SchemaObject
    let kind: Kind

    /// The statement that removes another program's object; `nil` for alertq's own.
    package var removal: String? { kind == .foreign ? object.removal : nil }

    /// The statements that put alertq's own object back; `nil` for a table, whose rows are gone or
    /// may not fit, except for the search index, and for another program's object.
    package var restoration: String? {
        switch kind {
        case .missing where object.type != "table" || object.name == "text_index":
            object.sql.map { $0 + ";" }
        case .changed(let found) where object.type == found.type && object.type != "table":
            object.sql.map { "\(found.removal);\n\($0);" }
        default: nil
        }
    }

    package var description: String {
        switch kind {
        case .missing: "\(object.subject) is missing"
        case .changed(let found) where found.type != object.type:
            "\(object.subject) is a \(found.type) now"
        case .changed: "\(object.subject) is not as alertq makes it"
        case .foreign where object.type == "index":
            "\(object.subject) may refuse rows, and is not alertq's"
        case .foreign: "\(object.subject) is not alertq's"
        }
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

/// Makes sure that a connection works with alertq's schema, and with nothing planted in it.
///
/// A process that can write the file can add triggers to it and remove alertq's own; a store that
/// works with them would claim to have stored changes that it has not. SQLite reads the schema
/// once, and again when the file's schema has changed; so it is compared once, and again whenever
/// SQLite has read it again. Like its database it stays on one thread or queue.
final class SchemaCheck {
    private let db: Database
    private let path: String
    /// The reading of the schema that was last found correct; the numbers only grow, so that a
    /// schema version that is set back in the file does not make an old reading valid again.
    private var checked: Int?
    /// Whether there was an earlier reading.
    private var wasRead = false

    /// Creates a check for a database that has just been opened: nothing has been read through it
    /// yet.
    init(_ db: Database, path: String) {
        self.db = db
        self.path = path
    }

    /// Records that the schema has already been read, so that it must be read again to be checked.
    func noteReading() { wasRead = true }

    /// Checks the schema in a transaction, before anything else is done in it.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the schema is not alertq's,
    ///   ``AlertError/incompatible(path:_:)`` if it is of another version.
    func run() throws {
        // This comes first because it needs no schema: from here on the transaction sees one state
        // of the file, and SQLite reads the schema from it.
        let version = try db.first("PRAGMA user_version") { Int($0.integer()) } ?? 0
        guard version == Migration.all.count else { throw AlertError.migrated(path, to: version) }
        if wasRead {
            guard try db.schemaGeneration() != checked else { return }
            try db.reloadSchema()
        }
        wasRead = true
        let reading = try db.schemaGeneration()
        if try !Schema.matches(db) {
            try SchemaReport(on: db, comparedWith: Schema.expected.get()).check()
        }
        checked = reading
    }
}

extension AlertError {
    /// The error if another version has changed the file while it was open.
    fileprivate static func migrated(_ path: String, to version: Int) -> AlertError {
        let (known, consequence) = (Migration.all.count, "nothing was returned or stored")
        return .incompatible(
            path: path,
            version > known
                ? "has been migrated by a newer version of alertq (to schema \(version), this one "
                    + "knows \(known)); \(consequence): start this program again, in that version"
                : "has gone back to schema \(version), and this program needs \(known); "
                    + "\(consequence): start it again")
    }
}

/// Migrates a file's schema to the version that this program knows.
struct SchemaMigration {
    let db: Database
    let path: String
    /// Every migration, oldest first.
    var steps = Migration.all

    /// Refuses a version that this program does not know.
    static func check(
        _ version: Int, of path: String, known: Int = Migration.all.count
    ) throws(AlertError) {
        guard version <= known else {
            throw .incompatible(
                path: path,
                "was made by a newer version of alertq (schema \(version), this one knows "
                    + "\(known)); it was not touched")
        }
    }

    /// The file's version, which this program knows.
    func version() throws(AlertError) -> Int {
        let version = try storing("read the schema version of \(path)") {
            try db.first("PRAGMA user_version") { Int($0.integer()) } ?? 0
        }
        try Self.check(version, of: path, known: steps.count)
        return version
    }

    /// Runs the missing migrations; the first one before the file is in WAL mode, so that its
    /// header has the application id from the first commit on.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the file does not match its version.
    func run() throws {
        // A commit and the name of the file in its directory must both survive a power loss.
        try db.execute("PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = OFF")
        let start = try version()
        for migration in steps.dropFirst(start) {
            try db.execute("BEGIN IMMEDIATE")
            do {
                // A new file has nothing yet that a trigger could change.
                if start > 0 { try check(migration.version - 1) }
                try db.execute(migration.sql)
                try db.execute("PRAGMA application_id = \(DatabaseFile.applicationID)")
                try db.execute("PRAGMA user_version = \(migration.version)")
                try db.execute("COMMIT")
            } catch {
                // The first error is the one to report.
                if db.isInTransaction { try? db.execute("ROLLBACK") }
                throw error
            }
        }
        try db.execute("PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL")
    }

    /// Makes sure that a migration finds the schema that it was written for, and fires no foreign
    /// trigger.
    private func check(_ version: Int) throws {
        try db.reloadSchema()
        let expected = try SchemaObject.all(in: .model(of: steps.prefix(version)))
        try SchemaReport(on: db, comparedWith: expected).check()
    }
}
