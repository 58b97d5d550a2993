import AlertCore
import SQLite

/// The connection for reading, opened at the first read and again if the file was replaced.
struct Reader {
    let file: DatabaseFile
    private let known: LogTail
    private var database: OpenDatabase?
    private var lastVersion: Int64?
    private var isClosed = false
    private var headerCheck = HeaderCheck()
    private let whenMoved: @Sendable () -> Void

    init(
        file: DatabaseFile, known: LogTail, whenMoved: @escaping @Sendable () -> Void = {}
    ) {
        self.file = file
        self.known = known
        self.whenMoved = whenMoved
    }

    mutating func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        if let failure = known.readingFailure { throw failure }
        let database = try current()
        do {
            return try database.handle.reading {
                try database.schema.run()
                known.raise(to: try database.handle.lastHead())
                return try body(database.handle)
            }
        } catch let error as SQLiteError where error.isDamagedFile && database.isAtItsPath {
            let path = file.files.database
            // Whose pages are mixed with those of another file, looks damaged.
            if database.walFiles != nil, (try? headerCheck.run(database.handle)) == false {
                throw known.noteReplacement(LogTail.overwritten, path: path)
            }
            known.noteDamage("\(error)", path: path)
            throw error
        }
    }

    /// Whether any process has committed since the last call; see
    /// <https://sqlite.org/pragma.html#pragma_data_version>.
    mutating func hasChanged() -> Bool {
        guard known.readingFailure == nil else { return true }
        // If the file can't be read, try again in a second.
        guard let database = try? current(),
            let version = try? Self.version(of: database.handle)
        else { return true }
        defer { lastVersion = version }
        // Nobody can ring for a file that is no longer there.
        if database.walFiles != nil, (try? headerCheck.run(database.handle)) == false {
            known.noteReplacement(LogTail.overwritten, path: file.files.database)
            return true
        }
        return lastVersion != nil && version != lastVersion
    }

    mutating func close() {
        isClosed = true
        database = nil
    }

    /// Closes files that are no longer the queue's, so that the writer is not affected.
    mutating func leaveIfMoved() {
        if database?.isAtItsPath == false { database = nil }
    }

    private mutating func current() throws(AlertError) -> OpenDatabase {
        guard !isClosed else { throw .closed }
        if let database {
            if database.isAtItsPath { return database }
            self.database = nil
            headerCheck = HeaderCheck()
            // The writer uses the same files, and may not write for a long time.
            whenMoved()
        }
        let opened = try file.openExisting(continuing: known.head, isReadOnly: true)
        try file.syncLog()
        database = opened
        // Counted from the first read, so that earlier changes are noticed, too.
        if lastVersion == nil { lastVersion = try? Self.version(of: opened.handle) }
        return opened
    }

    private static func version(of handle: Database) throws -> Int64? {
        try handle.first("PRAGMA data_version") { $0.integer() }
    }
}
