import AlertCore
import Glibc
import Linux

/// The space that a queue's files take and leave, and the processes that block emptying its log.
package struct QueueSpace: Sendable {
    /// At this size, in bytes, the write-ahead log has not been restarted for a long time: that
    /// normally happens at about 4 MiB.
    package static let longLog: Int64 = 16 << 20
    /// The space that is reserved for answers on a full disk, in bytes.
    package static let fullReserve = Int64(DiskReserve.size)

    private let files: QueueFiles

    /// The space of the files next to a database.
    ///
    /// - Throws: The errors of an unusable path.
    package init(database: String) throws(AlertError) {
        files = try QueueFiles(database: database)
    }

    init(_ files: QueueFiles) { self.files = files }

    /// The size of the write-ahead log in bytes.
    package var log: Int64 { FileIdentity.size(of: files.wal) }

    /// What is left of the reserved space, in bytes; `nil` before the first alert.
    package var reserve: Int64? { FileIdentity(path: files.reserve)?.size }

    /// The disk space that this user may still use, in bytes; `nil` if it is unknown.
    package var free: Int64? {
        var system = statvfs()
        guard statvfs(files.database, &system) == 0 else { return nil }
        return Int64(clamping: system.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: system.f_frsize)
        ).partialValue
    }

    /// Whether less than 1 MiB is free beyond the space that is, or must be, reserved.
    package var isFull: Bool {
        guard let free else { return false }
        return (reserve ?? 0) + free < Self.fullReserve + (1 << 20)
    }

    /// The other processes that are currently in a read transaction.
    ///
    /// A reader holds a lock on one of five bytes of the shared memory; see
    /// <https://sqlite.org/walformat.html#wal_locks> and `/proc/locks` in proc(5).
    package func readers() -> Set<LinuxProcess> {
        let readers = FileLocks(path: files.sharedMemory)?.readers(from: Self.readLocks) ?? []
        return readers.filter { $0.pid != getpid() }
    }

    /// The bytes of SQLite's read locks in the shared memory.
    private static let readLocks = 123...127

    /// Makes sure that the database can be rewritten: its copy and the log, each as large as it is
    /// now, have to fit on its file system.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)``.
    func checkRoomToRewrite() throws(AlertError) {
        let size = FileIdentity.size(of: files.database)
        let needed = (size + log) / 5 * 11
        guard let free, free < needed else { return }
        throw .storage(
            operation: "rewrite \(files.database), as a purge does at its end",
            "\(needed >> 20) MiB have to be free on its file system, and \(free >> 20) MiB are")
    }
}
