import AlertCore
import Glibc
import Linux

/// How much room the files of a queue take and leave, and who keeps the log from being emptied.
package struct QueueSpace: Sendable {
    /// At this size, in bytes, the write-ahead log has not been begun again for long: that happens
    /// at about 4 MiB.
    package static let longLog: Int64 = 16 << 20
    /// The room that is set aside for answers on a full disk, in bytes.
    package static let fullReserve = Int64(DiskReserve.size)

    /// The size of the write-ahead log in bytes.
    package let log: Int64
    /// What is left of the room set aside, in bytes; `nil` before the first alert.
    package let reserve: Int64?
    /// What this user may still use of the disk, in bytes; `nil` if it can't be told.
    package let free: Int64?
    private let sharedMemory: FileIdentity?

    /// Looks at the files beside a database.
    ///
    /// - Throws: what can be wrong with the path.
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

    /// Whether less than 1 MiB is left besides the room that is, or has to be, set aside.
    package var isFull: Bool {
        guard let free else { return false }
        return (reserve ?? 0) + free < Self.fullReserve + (1 << 20)
    }

    /// The other processes that are in a read transaction at this moment.
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
