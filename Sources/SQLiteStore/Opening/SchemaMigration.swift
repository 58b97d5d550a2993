import AlertCore
import Migrations
import SQLite

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
        let faults = try SchemaComparison(of: db, with: expected).faults
        if let error = SchemaFault.error(faults) { throw error }
    }
}
