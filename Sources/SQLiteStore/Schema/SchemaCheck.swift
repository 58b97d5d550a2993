import AlertCore
import Migrations
import SQLite

/// Makes sure that a connection works with our schema, and with nothing that was planted in it.
///
/// A process that can write the file can add triggers to it and remove ours, and a store that works
/// with them would say that it has stored what it has not. SQLite reads the schema once, and again
/// when the file's has changed; so it is compared once, and again whenever SQLite has read it anew.
/// Like its database it stays on one thread or queue.
final class SchemaCheck {
    private let db: Database
    private let path: String
    /// Which reading of the schema was found to be ours; the numbers only grow, so that a schema
    /// version that is set back in the file does not bring it back.
    ///
    /// Gain: a story takes 0.92 × the time (`alertq-bench story`, files in memory; against a
    /// comparison in each transaction).
    private var checked: Int?
    /// Whether there was a reading before.
    private var wasRead = false

    /// Begins with a database that has just been opened: nothing has been read through it yet.
    init(_ db: Database, path: String) {
        self.db = db
        self.path = path
    }

    /// Notes that the schema has been read already, so that it must be read anew to be checked.
    func noteReading() { wasRead = true }

    /// Checks the schema in a transaction of its own.
    func runAlone() throws {
        try db.reading { try run() }
    }

    /// Checks the schema within a transaction, before anything else is done in it.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` for a schema that is not ours,
    ///   ``AlertError/incompatible(path:_:)`` for one of another version.
    func run() throws {
        // First of all, because it needs no schema: from here on the transaction sees one state of
        // the file, and SQLite reads the schema from it.
        let version = try db.first("PRAGMA user_version") { Int($0.integer()) } ?? 0
        guard version == Migration.all.count else { throw AlertError.migrated(path, to: version) }
        if wasRead {
            guard try db.schemaGeneration() != checked else { return }
            try db.reloadSchema()
        }
        wasRead = true
        let reading = try db.schemaGeneration()
        if try !Schema.current.matches(db) {
            let expected = Schema.current.objects
            let faults = try SchemaComparison(of: db, with: expected).faults
            if let error = SchemaFault.error(faults) { throw error }
        }
        checked = reading
    }
}

extension AlertError {
    /// Another version has changed the file while it was open.
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
