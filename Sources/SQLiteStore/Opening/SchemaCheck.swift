import AlertCore
import Migrations
import SQLite

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

    /// Checks the schema in a separate transaction.
    func runAlone() throws {
        try db.reading { try run() }
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
            let faults = try SchemaComparison(of: db, with: Schema.expected.get()).faults
            if let error = SchemaFault.error(faults) { throw error }
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
