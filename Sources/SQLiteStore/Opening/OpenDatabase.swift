import AlertCore
import Linux
import SQLite

/// A database with its files' identities, so that a replacement is noticed.
struct OpenDatabase {
    let handle: Database
    let schema: SchemaCheck
    let identity: FileIdentity
    let files: QueueFiles
    let walFiles: WALFiles?

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
