import AlertCore
import SQLite

/// The connection for reading, opened at the first read and again if the file was replaced.
struct Reader {
    let file: DatabaseFile
    /// What is read instead where the file can't be; `nil` in a process that also writes to it.
    private let copy: ReadingCopy?
    /// Whether a file with another schema, or with another log than the known one, is refused.
    private let checks: Bool
    private let known: LogTail
    private var database: OpenDatabase?
    private var lastVersion: Int64?
    private var isClosed = false
    private var headerCheck = HeaderCheck()
    private let whenMoved: @Sendable () -> Void

    init(
        file: DatabaseFile, known: LogTail, copy: ReadingCopy? = nil, checks: Bool = true,
        whenMoved: @escaping @Sendable () -> Void = {}
    ) {
        self.file = file
        self.copy = copy
        self.checks = checks
        self.known = known
        self.whenMoved = whenMoved
    }

    mutating func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        if let failure = known.readingFailure { throw failure }
        let database = try current()
        let result = Swift.Result {
            try database.handle.reading {
                guard checks else { return (AuditHead.start, try body(database.handle)) }
                try database.schema.run()
                return (try database.handle.lastHead(), try body(database.handle))
            }
        }
        // Without locks it must be closed before another part of this process takes some.
        if database.seen != nil { self.database = nil }
        guard database.isUnchanged else {
            try copy?.make(of: file.files.database)
            return try read(body)
        }
        do {
            let (head, value) = try result.get()
            known.raise(to: head)
            return value
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
        guard database.seen == nil else {
            self.database = nil
            return true
        }
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
        let opened =
            if let copy {
                try copy.open(insteadOf: file, continuing: checks ? known.head : nil)
            } else {
                try file.openExisting(continuing: known.head, .readOnly)
            }
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
