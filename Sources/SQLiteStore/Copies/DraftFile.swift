import AlertCore
import CLinux
import FoundationEssentials
import Glibc
import Linux
import SQLite
import TextFormats

/// A database that is created next to its target path, and moved there when it is complete.
///
/// Its creator holds a flock(2) on it, which distinguishes a file left by a killed process from one
/// that is still being written.
final class DraftFile: Sendable {
    let path: String
    /// Closed after SQLite has closed the file: closing it earlier would lose SQLite's locks.
    private let descriptor: Descriptor

    /// Creates an empty file with a mode, regardless of the umask; see open(2), `O_EXCL`.
    init(for target: String, mode: mode_t) throws(AlertError) {
        let path = "\(target)-new.\(getpid())"
        // Its creator had our process id, and is dead or in another container.
        Self.removeLeftover(path)
        let raw = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard raw >= 0 else {
            let error = SystemError.current("create", path)
            guard errno == EEXIST, let other = Descriptor.openForReading(path) else { throw error }
            guard try other.isFree(at: path) else { throw Self.isBusy(path) }
            throw .storage(
                operation: "create \(path)",
                "another file is there, which no process is writing; move it away")
        }
        descriptor = Descriptor(owning: raw)
        self.path = path
        fchmod(raw, mode)
        guard try descriptor.isFree(at: path), descriptor.isStill(at: path) else {
            throw Self.isBusy(path)
        }
    }

    private static func isBusy(_ path: String) -> AlertError {
        .busy("another process is working on \(path); try again")
    }

    deinit { discard() }

    /// A date in the name of a file.
    static func nameText(_ date: Date) -> String {
        Timestamp.text(date).prefix { $0 != "." }.replacing(":", with: "-") + "Z"
    }

    /// Removes it unless it has been moved to its target.
    func discard() {
        if descriptor.isStill(at: path) { Self.remove(path) }
    }

    /// Leaves it to the owner of its directory, if root has created it there.
    func leaveToOwner() { Descriptor.leave(descriptor.raw, toOwnerOf: path) }

    /// Gives it the owner, the group and the mode of another file, as far as this process may.
    func takeRights(of status: stat) { descriptor.takeRights(of: status) }

    /// Syncs its contents to disk.
    func sync() throws(AlertError) {
        guard fsync(descriptor.raw) == 0 else { throw SystemError.current("sync", path) }
    }

    /// Marks the database in it as a queue or as a backup, and makes it one file without a log; it
    /// is not synced.
    func mark(as applicationID: UInt32) throws(AlertError) {
        try performing("write \(path)") {
            // In a directory that others may write, the name may lead elsewhere by now.
            let database = try Database(path: path, access: .readWriteNoFollow)
            try database.execute(
                """
                PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF;
                PRAGMA application_id = \(applicationID)
                """)
        }
        guard descriptor.isStill(at: path) else {
            throw .notPermitted(path: path, "another file has been put there in the meantime")
        }
    }

    /// Moves it to a path that has no file; `false` if there is one.
    func move(to target: String) throws(AlertError) -> Bool {
        if clinux_rename_new(path, target) == 0 { return true }
        if errno == EEXIST { return false }
        // Not every file system supports this rename, and not every one supports links.
        guard link(path, target) == 0 else {
            if errno == EEXIST { return false }
            throw SystemError.current("create", target)
        }
        unlink(path)
        return true
    }

    /// Moves it to a path, replacing a file there, if any; see rename(2).
    func replace(_ target: String) throws(AlertError) {
        guard rename(path, target) == 0 else { throw SystemError.current("replace", target) }
    }

    // MARK: - Leftovers of killed processes

    /// Removes the drafts that killed processes have left in a directory.
    ///
    /// - Parameter isTarget: Whether drafts for this name are created there.
    static func removeLeftovers(in directory: String, for isTarget: (String) -> Bool) {
        for name in LinuxFile.names(in: directory) {
            // The files that SQLite creates next to a draft have an ending.
            guard let parts = name.wholeMatch(of: /(.*)-new\.([0-9]+)[^0-9]*/)?.output,
                isTarget(String(parts.1))
            else { continue }
            removeLeftover("\(directory)/\(parts.1)-new.\(parts.2)")
        }
    }

    /// Removes a draft, unless it is still being written, or is not a draft but only named like
    /// one.
    private static func removeLeftover(_ draft: String) {
        let raw = open(draft, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else {
            // Files that were created next to one that is gone.
            if errno == ENOENT { for ending in QueueFiles.endings { unlink(draft + ending) } }
            return
        }
        let descriptor = Descriptor(owning: raw)
        var status = stat()
        var start = [UInt8](repeating: 0, count: DatabaseHeader.byteCount)
        pread(raw, &start, start.count, 0)
        guard clinux_flock(raw, LOCK_EX | LOCK_NB) == 0, descriptor.isStill(at: draft),
            fstat(raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o777 & ~0o660 == 0,
            // SQLite writes the first page last.
            DatabaseHeader(start) != nil || start.allSatisfy({ $0 == 0 })
        else { return }
        // The lock is held until it is gone.
        remove(draft)
    }

    /// Removes a draft and the files that a store has created next to it.
    static func remove(_ draft: String) {
        for ending in QueueFiles.endings { unlink(draft + ending) }
        unlink(draft)
    }
}

extension Descriptor {
    /// Takes the lock of a draft, which no other process may hold.
    fileprivate func isFree(at path: String) throws(AlertError) -> Bool {
        try AlertError.onFile(path) { () throws(LinuxError) in
            try takeLock(LOCK_EX | LOCK_NB, of: path)
        }
    }

    /// Gives a file the owner, the group and the mode of another one, as far as this process may.
    func takeRights(of status: stat) {
        // Only root may change the owner; a shared queue needs only the group.
        if fchown(raw, status.st_uid, status.st_gid) != 0 { fchown(raw, .max, status.st_gid) }
        fchmod(raw, status.st_mode & 0o777 | 0o600)
    }
}
