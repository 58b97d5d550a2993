import AlertCore
import SQLite

/// The schema of a queue's file, for code that looks at it where no store opens the file.
package struct QueueSchema: Sendable {
    private let files: QueueFiles

    package init(database path: String) throws(AlertError) {
        files = try QueueFiles(database: path)
    }

    /// What a look at the schema found.
    package struct Report: Sendable {
        package let version: Int
        /// Because of these the file is refused.
        package let faults: [SchemaFault]
        /// Objects of somebody else's that are allowed.
        package let additions: [SchemaObject]
    }

    /// Compares the schema with what it must be in the version that the file has.
    ///
    /// - Returns: `nil` where there is no queue in the file yet.
    package nonisolated(nonsending) func report() async throws(AlertError) -> Report? {
        try await confined { file throws(AlertError) in
            guard let (db, version) = try Self.open(file), version > 0 else { return nil }
            return try storing("read the schema") {
                db.setDefensive(false)
                // What SQLite does not understand has to be named, too.
                try db.execute("PRAGMA writable_schema = ON")
                let expected = try SchemaObject.expected(at: version)
                let found = try db.reading { try SchemaComparison(of: db, with: expected) }
                return Report(version: version, faults: found.faults, additions: found.additions)
            }
        }
    }

    /// Puts back what is missing or was changed of ours.
    ///
    /// - Returns: What was put right; what is still refused then, is not ours.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` where anything of ours can't be put right; then
    ///   nothing at all has changed. ``AlertError/busy(_:)`` if the queue stays locked.
    package nonisolated(nonsending) func repair() async throws(AlertError) -> [SchemaFault] {
        try await confined { file throws(AlertError) in
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

    /// Works with the file where nothing but that waits for it.
    private nonisolated(nonsending) func confined<Result: Sendable>(
        _ body: @escaping @Sendable (DatabaseFile) throws(AlertError) -> Result
    ) async throws(AlertError) -> Result {
        try await QueueConfined(DatabaseFile(files: files), label: "alertq.schema").run {
            file throws(AlertError) in try body(file)
        }
    }
}

extension Database {
    /// What SQLite finds wrong with the file, and rows whose counterparts are gone.
    func structuralDamage() throws -> [String] {
        // As <https://sqlite.org/pragma.html#pragma_foreign_key_check> has them.
        enum Stray: Int32, ColumnList { case table, rowid, parent, fkid }
        let strays = try rows("PRAGMA foreign_key_check") { row in
            let (table, parent) = (row.text(Stray.table), row.text(Stray.parent))
            return "a row of \(table) belongs to a row of \(parent) that is gone"
        }
        return try integrityFaults(isThorough: true) + strays.prefix(10)
    }
}
