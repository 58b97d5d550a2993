import AlertCore
import Linux
import SQLite

/// A database together with its files' identities, so that one that was replaced is noticed.
struct OpenDatabase {
    let handle: Database
    let schema: SchemaCheck
    let identity: FileIdentity
    let files: QueueFiles
    let walFiles: WALFiles?

    /// Whether all of its files still stand at their paths.
    ///
    /// Somebody who deletes the log or the shared memory divides the processes into those that
    /// still use them and those that make new ones: they would overwrite each other's commits
    /// (<https://sqlite.org/howtocorrupt.html>, 4.3).
    var isAtItsPath: Bool {
        identity == FileIdentity(path: files.database)
            && (walFiles == nil || walFiles == WALFiles(of: files))
    }
}
