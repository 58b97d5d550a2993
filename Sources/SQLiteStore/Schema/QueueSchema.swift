import AlertCore
import SQLite

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

    /// Compares the schema with that of the file's version.
    ///
    /// - Returns: `nil` if there is no queue in the file yet.
    package nonisolated(nonsending) func report() async throws(AlertError) -> Report? {
        try await confined { file throws(AlertError) in
            guard let (db, version) = try Self.open(file), version > 0 else { return nil }
            return try storing("read the schema") {
                db.setDefensive(false)
                // Objects that SQLite can't parse must be reported, too.
                try db.execute("PRAGMA writable_schema = ON")
                let expected = try SchemaObject.expected(at: version)
                let found = try db.reading { try SchemaComparison(of: db, with: expected) }
                return Report(version: version, faults: found.faults, additions: found.additions)
            }
        }
    }

    /// Restores alertq's own objects that are missing or were changed.
    ///
    /// - Returns: The repaired faults; any remaining ones concern other programs' objects.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if anything of alertq's own can't be repaired;
    ///   then nothing has changed at all. ``AlertError/busy(_:)`` if the queue stays locked.
    package nonisolated(nonsending) func repair() async throws(AlertError) -> [SchemaFault] {
        try await confined { file throws(AlertError) in
            // A file that is no queue gets no lock file next to it.
            if let refusal = try file.refusalIfBackup() { throw refusal }
            let lock = WriterLock(path: file.files.lock, mode: file.files.mode)
            try lock.acquire(within: GroupCommit.busyTime)
            defer { lock.release() }
            guard let (db, version) = try Self.open(file), version > 0 else { return [] }
            return try storing("repair the schema") {
                try SchemaRepair(of: db, to: version).run()
            }
        }
    }

    private static func open(_ file: DatabaseFile) throws(AlertError) -> (Database, Int)? {
        guard let db = try file.openUnchecked()?.handle else { return nil }
        return (db, try SchemaMigration(db: db, path: file.files.database).version())
    }

    /// Runs work on the file on a queue where only that work waits for the file.
    private nonisolated(nonsending) func confined<Result: Sendable>(
        _ body: @escaping @Sendable (DatabaseFile) throws(AlertError) -> Result
    ) async throws(AlertError) -> Result {
        try await QueueConfined(DatabaseFile(files: files), label: "alertq.schema").run {
            file throws(AlertError) in try body(file)
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
        return try integrityFaults(isThorough: true) + strays.prefix(10)
    }
}
