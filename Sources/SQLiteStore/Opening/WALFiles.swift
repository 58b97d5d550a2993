import AlertCore
import Linux

/// The files that SQLite has opened beside a database.
struct WALFiles: Equatable, Sendable {
    private let log: FileIdentity?
    private let sharedMemory: FileIdentity?

    init(of files: QueueFiles) {
        log = FileIdentity(path: files.wal)
        sharedMemory = FileIdentity(path: files.sharedMemory)
    }
}
