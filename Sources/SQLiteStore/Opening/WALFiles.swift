import AlertCore
import Linux

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
