import AlertCore
import SQLite

/// The connection that reads, opened at the first read and again when the file was replaced.
struct Reader {
    let file: DatabaseFile
    private let known: LogTail
    private var database: OpenDatabase?
    private var lastVersion: Int64?
    private var isClosed = false
    private let whenMoved: @Sendable () -> Void

    init(
        file: DatabaseFile, known: LogTail, whenMoved: @escaping @Sendable () -> Void = {}
    ) {
        self.file = file
        self.known = known
        self.whenMoved = whenMoved
    }

    mutating func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let database = try current()
        return try database.handle.reading {
            try database.schema.run()
            known.raise(to: try database.handle.lastHead())
            return try body(database.handle)
        }
    }

    /// Whether any process has committed since the last call; see
    /// <https://sqlite.org/pragma.html#pragma_data_version>.
    mutating func hasChanged() -> Bool {
        // A file that can't be read now is looked at again a second later.
        guard let handle = try? current().handle, let version = try? Self.version(of: handle)
        else { return true }
        defer { lastVersion = version }
        return lastVersion != nil && version != lastVersion
    }

    mutating func close() {
        isClosed = true
        database = nil
    }

    /// Lets go of files that are no longer the queue's, for the writer's sake.
    mutating func leaveIfMoved() {
        if database?.isAtItsPath == false { database = nil }
    }

    private mutating func current() throws(AlertError) -> OpenDatabase {
        guard !isClosed else { throw .closed }
        if let database {
            if database.isAtItsPath { return database }
            self.database = nil
            // The writer uses the same files, and may have nothing to write for long.
            whenMoved()
        }
        let opened = try file.openExisting(continuing: known.head, isReadOnly: true)
        try file.syncLog()
        database = opened
        // From the first read on: what comes before the first look is a change, too.
        if lastVersion == nil { lastVersion = try? Self.version(of: opened.handle) }
        return opened
    }

    private static func version(of handle: Database) throws -> Int64? {
        try handle.first("PRAGMA data_version") { $0.integer() }
    }
}
