import AlertCore
import Glibc
import Linux

/// The space that a queue's files take and leave, and the processes that block emptying its log.
///
/// Some is reserved so that a full disk does not prevent a person from answering. New alerts never
/// use it. It is released when an answer does not fit otherwise, and reserved again once there is
/// space; both under the writer lock only.
struct QueueSpace: Sendable {
    /// At this size, in bytes, the write-ahead log has not been restarted for a long time: that
    /// normally happens at about 4 MiB.
    private static let longLog: Int64 = 16 << 20
    /// The space that is reserved for answers on a full disk, in bytes: enough to answer about a
    /// hundred alerts, for their rows, their index pages and the log before them.
    private static let fullReserve: Int64 = 4 << 20
    /// How much is released at a time: no more than an answer may need, because other programs take
    /// free space on a full disk.
    private static let step: Int64 = 256 << 10

    private let files: QueueFiles
    /// Whether this process has reserved the space, and not released any since.
    private var hasReserved = false

    init(_ files: QueueFiles) { self.files = files }

    /// The size of the write-ahead log in bytes.
    var log: Int64 { FileIdentity.size(of: files.wal) }

    /// What is left of the reserved space, in bytes; `nil` before the first alert.
    var reserve: Int64? { FileIdentity(path: files.reserve)?.size }

    /// The disk space that this user may still use, in bytes; `nil` if it is unknown.
    private var free: Int64? {
        var system = statvfs()
        guard statvfs(files.database, &system) == 0 else { return nil }
        return Int64(clamping: system.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: system.f_frsize)
        ).partialValue
    }

    /// Whether less than 1 MiB is free beyond the space that is, or must be, reserved.
    private var isFull: Bool {
        guard let free else { return false }
        return (reserve ?? 0) + free < Self.fullReserve + (1 << 20)
    }

    /// The other processes that are currently in a read transaction.
    ///
    /// A reader holds a lock on one of five bytes of the shared memory; see
    /// <https://sqlite.org/walformat.html#wal_locks> and `/proc/locks` in proc(5).
    private func readers() -> Set<LinuxProcess> {
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

// MARK: - The reserve

extension QueueSpace {
    /// Reserves the space for answers, unless it is already reserved.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)`` if the disk is too full; what was reserved
    ///   remains so.
    mutating func allocateReserve() throws(AlertError) {
        if hasReserved, reserve ?? 0 >= Self.fullReserve { return }
        let path = files.reserve
        let descriptor = try Descriptor.open(path, mode: files.mode)
        let size = reserve ?? 0
        var code = EINTR
        while code == EINTR {
            code = posix_fallocate(descriptor.raw, 0, off_t(Self.fullReserve))
        }
        guard code == 0 else {
            // What is left of it is for the answers; the rest is free for everybody.
            ftruncate(descriptor.raw, off_t(size))
            throw .storage(
                operation: "set \(Self.fullReserve >> 20) MiB aside in \(path)",
                [ENOSPC, EDQUOT].contains(code) ? diskFullReason : String(cString: strerror(code)))
        }
        hasReserved = true
    }

    /// Whether reserved space has been released, by any process.
    var isReserveReleased: Bool { reserve.map { $0 < Self.fullReserve } ?? false }

    /// Releases some of the reserve; returns whether there was any.
    mutating func releaseReserve() -> Bool {
        hasReserved = false
        guard let size = reserve, size > 0,
            let descriptor = try? Descriptor.open(files.reserve, mode: files.mode)
        else { return false }
        return ftruncate(descriptor.raw, off_t(max(0, size - Self.step))) == 0
    }
}

/// What a caller can do about a full disk.
let diskFullReason =
    "the disk is full; new alerts need free space, and so do answers once the reserve is used up"

// MARK: - Findings

extension QueueSpace {
    /// Checks the space that the queue uses and has left.
    nonisolated(nonsending) func findings() async -> [Finding] { [disk, await logFinding()] }

    private var disk: Finding {
        let free = free.map { "; \(Self.mebibytes($0)) are free" } ?? ""
        guard !isFull else {
            let full = Self.mebibytes(Self.fullReserve)
            return Finding(
                check: "disk",
                problem: "\(Self.mebibytes(reserve ?? 0)) are left of the \(full) that are "
                    + "set aside for answers on a full disk\(free)",
                advice: "make room on the disk: new alerts are refused, and so are answers once "
                    + "that is used up",
                code: .inputOutput)
        }
        return Finding(check: "disk", detail: "there is room to answer on a full disk" + free)
    }

    /// For half a second it looks at who keeps reading, if the log is long.
    private nonisolated(nonsending) func logFinding() async -> Finding {
        let log = log
        let size = "the write-ahead log has \(Self.mebibytes(log))"
        guard log > Self.longLog else { return Finding(check: "log", detail: size) }
        var readers = readers()
        for _ in 0..<5 where !readers.isEmpty {
            // One that still reads after a while is no passer-by; a cancelled wait looks sooner.
            try? await Task.sleep(for: .milliseconds(100))
            readers.formIntersection(self.readers())
        }
        let names = readers.sorted { $0.pid < $1.pid }.map { "process \($0.name)" }
        guard !names.isEmpty else {
            return Finding(
                check: "log", detail: size,
                advice: "no process keeps it that long now; the next alert empties it")
        }
        return Finding(
            check: "log",
            problem: "\(size) and can't be emptied: \(names.joined(separator: ", ")) keeps reading "
                + "the database",
            advice: "end its transaction, or the process: new alerts are refused above 48 MiB",
            code: .busy)
    }

    /// A size as text, with one decimal.
    private static func mebibytes(_ bytes: Int64) -> String {
        let tenths = (bytes * 10) >> 20
        return "\(tenths / 10).\(tenths % 10) MiB"
    }
}
