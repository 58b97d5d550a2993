import AlertCore
import Migrations
import SQLite
import TextFormats

/// The schema that this version of alertq works with.
enum Schema {
    /// The objects of an empty queue; they are only needed where a file has others.
    static let expected = Result { try objects(of: .model()) }

    /// The search index, which stores its contents in tables of its own.
    static let virtualTable = "text_index"

    /// All objects of a database, oldest first.
    static func objects(of db: Database) throws -> [SchemaObject] {
        try SchemaObject.all(in: db, virtualTable: virtualTable)
    }

    /// All objects of a database in their order, as `Migrations/SQLite/schema.sql` lists them: the
    /// type, the name and the table of each, and its statement, unless SQLite wrote that itself.
    static let list = """
        SELECT group_concat(section, ''), count(*) FROM (
            SELECT format('%s--- %s %s of %s%s', char(10), type, name, tbl_name, char(10))
                || CASE WHEN sql IS NULL OR \(SchemaObject.isMadeBySQLite(for: virtualTable)) THEN ''
                    ELSE sql || ';' || char(10) END AS section
            FROM sqlite_schema ORDER BY rowid)
        """

    /// Where the sections of the list begin in the file, after its comment.
    ///
    /// Each process needs them once, and a search for a text costs as much as all the rest of a verb.
    private static let starts: [Int] = {
        let (bytes, mark) = (Migration.schema, Array("\n--- ".utf8))
        return bytes.indices.filter { bytes[$0] == mark[0] && bytes[$0...].starts(with: mark) }
    }()

    /// Whether a database has exactly these objects in this order, as every file has to which
    /// nothing was added and in which nothing was put back.
    ///
    /// They are counted, too: a statement may go on with what looks like other objects.
    static func matches(_ db: Database) throws -> Bool {
        try db.first(list) { row in
            Migration.schema[(starts.first ?? 0)...].withUnsafeBytes { row.holds($0, at: 0) }
                && row.integer(at: 1) == starts.count
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

extension Schema {
    /// Compares the schema in a file with the one that this version makes; nothing is written.
    ///
    /// - Returns: Nothing if there is no queue in the file yet.
    nonisolated(nonsending) static func findings(
        at path: String
    ) async throws(AlertError) -> [Finding] {
        let file = DatabaseFile(files: try QueueFiles(database: path))
        if let refusal = try file.refusalIfBackup() { throw refusal }
        let reader = Reader(
            file: file, known: nil, copy: ReadingCopy(onCopy: {}))
        return try await QueueConfined(reader, label: "alertq.schema").run {
            reader throws(AlertError) in
            try performing("read the schema") {
                try reader.read { db in
                    db.setDefensive(false)
                    // Objects that SQLite can't parse must be reported, too.
                    try db.execute("PRAGMA writable_schema = ON")
                    return try findings(on: db, at: path)
                }
            }
        }
    }

    private static func findings(on db: Database, at path: String) throws -> [Finding] {
        let version = try db.first("PRAGMA user_version") { Int($0.integer()) } ?? 0
        guard version > 0 else { return [] }
        let comparison = try SchemaComparison(on: db, with: expected.get())
        // The tables of the search index come back with it.
        let hasIndex = !comparison.faults.contains { $0.object.name == virtualTable }
        let faults = comparison.faults.filter { hasIndex || !$0.object.isPartOfTextIndex }
        return Finding.schema(
            version, faults: faults.map { $0.finding(at: path) },
            additions: comparison.additions.map(\.subject))
    }
}

extension SchemaComparison {
    /// Compares the schema of a database with the objects that it must have.
    fileprivate init(on db: Database, with expected: [SchemaObject]) throws {
        try self.init(of: Schema.objects(of: db), in: db, with: expected)
    }

    /// - Throws: ``AlertError/inconsistent(_:_:)`` with what to do, if there is a fault.
    fileprivate func check() throws(AlertError) {
        guard let first = faults.first else { return }
        let advice = first.removal.map { "remove it: " + SafeText.line($0) }
        let others = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
        throw .inconsistent(
            nil,
            "\(first.description)\(others); \(advice ?? "alertq doctor says what to do")")
    }
}

extension SchemaObject {
    /// Whether it goes and comes with the search index.
    fileprivate var isPartOfTextIndex: Bool {
        name.hasPrefix(Schema.virtualTable + "_") && type == "table"
    }

    /// Its name in messages.
    fileprivate var subject: String {
        let suffix = type == "index" || type == "trigger" ? " on “\(SafeText.line(table))”" : ""
        return "the \(type) “\(SafeText.line(name))”" + suffix
    }
}

extension SchemaFault {
    fileprivate func finding(at path: String) -> Finding {
        let file = ShellText.quoted(path)
        let advice: String
        if let removal {
            advice = "remove it: sqlite3 \(file) \(ShellText.quoted(removal))"
        } else if restoration != nil {
            advice =
                "put it back with the statements below: sqlite3 \(file)"
                + (object.name == Schema.virtualTable ? ", then: alertq doctor --reindex" : "")
        } else {
            // Rows are gone, or may not fit.
            advice = "go back to a backup: alertq restore BACKUP"
        }
        return Finding(
            check: "schema", problem: description,
            advice: "find out who may write the file, then " + advice, code: .badData,
            sql: removal == nil ? restoration : nil)
    }

    fileprivate var description: String {
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
            try SchemaComparison(on: db, with: Schema.expected.get()).check()
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
        let version = try performing("read the schema version of \(path)") {
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
        try db.execute("PRAGMA synchronous = EXTRA")
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
        try db.execute("PRAGMA journal_mode = WAL")
    }

    /// Makes sure that a migration finds the schema that it was written for, and fires no foreign
    /// trigger.
    private func check(_ version: Int) throws {
        try db.reloadSchema()
        let expected = try Schema.objects(of: .model(of: steps.prefix(version)))
        try SchemaComparison(on: db, with: expected).check()
    }
}
