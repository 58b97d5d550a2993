import AlertCore
import Linux
import SQLite

/// Makes sure that no other file has been copied over a database: SQLite would not notice, go on
/// with the pages that it has in memory, and copy the log into that file.
struct HeaderCheck {
    /// The change counter in the header of the file when it was last looked at.
    private var changeCounter: UInt32?

    /// Returns whether the file still begins with the header of this queue; that of an earlier
    /// state has an earlier counter.
    mutating func run(_ db: Database) throws -> Bool {
        guard let header = try db.headerInFile(),
            header.applicationID == DatabaseFile.applicationID,
            changeCounter.map({ Int32(bitPattern: header.changeCounter &- $0) >= 0 }) != false
        else { return false }
        changeCounter = header.changeCounter
        return true
    }
}

/// A database with its files' identities, so that a replacement is noticed.
struct OpenDatabase {
    let handle: Database
    let schema: SchemaCheck
    let identity: FileIdentity
    let files: QueueFiles
    let walFiles: WALFiles?
    /// The state of the files when they were opened without locks; `nil` if SQLite's locks protect
    /// what is read, or no process writes the file, which is marked as a backup.
    var seen: [FileChange?]?

    /// Whether what was read from it is one state of the file.
    var isUnchanged: Bool { seen.map { $0 == files.changes } ?? true }

    /// Whether all of its files are still at their paths.
    ///
    /// Deleting the log or the shared memory divides the processes into those that still use them
    /// and those that create new ones: they would overwrite each other's commits
    /// (<https://sqlite.org/howtocorrupt.html>, 4.3).
    var isAtItsPath: Bool { logSizeAtItsPath != nil }

    /// The size of its log in bytes; `nil` unless all of its files are still at their paths.
    var logSizeAtItsPath: Int64? {
        guard identity == FileIdentity(path: files.database) else { return nil }
        let found = WALFiles(of: files)
        return walFiles == nil || walFiles == found ? found.logSize : nil
    }
}

/// The files that SQLite has opened next to a database.
struct WALFiles: Equatable, Sendable {
    private let log: FileIdentity?
    private let sharedMemory: FileIdentity?

    /// The size of the log in bytes at the time of the lookup.
    var logSize: Int64 { log?.size ?? 0 }

    init(of files: QueueFiles) {
        log = FileIdentity(path: files.wal)
        sharedMemory = FileIdentity(path: files.sharedMemory)
    }
}
