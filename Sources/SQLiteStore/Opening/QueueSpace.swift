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

    /// The size of the write-ahead log in bytes.
    package let log: Int64
    /// What is left of the reserved space, in bytes; `nil` before the first alert.
    package let reserve: Int64?
    /// The disk space that this user may still use, in bytes; `nil` if it is unknown.
    package let free: Int64?
    private let sharedMemory: FileIdentity?

    /// Examines the files next to a database.
    ///
    /// - Throws: The errors of an unusable path.
    package init(database: String) throws(AlertError) {
        let files = try QueueFiles(database: database)
        log = FileIdentity(path: files.wal)?.size ?? 0
        reserve = FileIdentity(path: files.reserve)?.size
        sharedMemory = FileIdentity(path: files.sharedMemory)
        var system = statvfs()
        free =
            statvfs(files.database, &system) == 0
            ? Int64(clamping: system.f_bavail).multipliedReportingOverflow(
                by: Int64(clamping: system.f_frsize)
            ).partialValue : nil
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
        guard let sharedMemory else { return [] }
        return FileLocks(sharedMemory).readers(from: Self.readLocks).filter { $0.pid != getpid() }
    }

    /// The bytes of SQLite's read locks in the shared memory.
    private static let readLocks = 123...127
}
