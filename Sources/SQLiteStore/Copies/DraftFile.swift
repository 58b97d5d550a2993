import AlertCore
import CLinux
import Glibc
import Linux

/// A file that is made beside the path that it is to have, and moved there when it is complete.
///
/// Its maker holds a flock(2) on it, so that one that a killed process has left is told from one
/// that is still being made.
final class DraftFile: Sendable {
    let path: String
    /// Closed after SQLite has closed the file: that would lose SQLite's locks.
    private let descriptor: Descriptor

    /// Makes an empty file with a mode, under any umask; see open(2), `O_EXCL`.
    init(for target: String, mode: mode_t) throws(AlertError) {
        let path = Self.path(for: target)
        // Its maker had our process id, and is dead, or is in another container.
        Self.removeLeftover(path)
        let raw = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard raw >= 0 else {
            guard errno != EEXIST else {
                throw .busy("somebody else is at work on \(path); try again")
            }
            throw SystemError.current("create", path)
        }
        descriptor = Descriptor(owning: raw)
        self.path = path
        fchmod(raw, mode)
        guard clinux_flock(raw, LOCK_EX | LOCK_NB) == 0, descriptor.isStill(at: path) else {
            throw .busy("somebody else is at work on \(path); try again")
        }
    }

    deinit { discard() }

    /// Removes it, unless it has been moved to its path.
    func discard() {
        if descriptor.isStill(at: path) { Self.remove(path) }
    }

    /// Whether no other file stands at its path.
    var isAtItsPath: Bool { descriptor.isStill(at: path) }

    static func wasExchanged(_ path: String) -> AlertError {
        .notPermitted(path: path, "somebody else has put another file there meanwhile")
    }

    /// Gives it the owner, the group and the mode of another file, as far as this process may.
    func takeRights(of status: stat) {
        // Only root may give files away; the group is what a shared queue needs.
        if fchown(descriptor.raw, status.st_uid, status.st_gid) != 0 {
            fchown(descriptor.raw, .max, status.st_gid)
        }
        fchmod(descriptor.raw, status.st_mode & 0o777 | 0o600)
    }

    /// Puts its bytes on the disk.
    func sync() throws(AlertError) {
        guard fsync(descriptor.raw) == 0 else { throw SystemError.current("sync", path) }
    }

    /// Moves it to a path where there is no file; `false` if there is one.
    func move(to target: String) throws(AlertError) -> Bool {
        if clinux_rename_new(path, target) == 0 { return true }
        if errno == EEXIST { return false }
        // Not every file system can rename so, and not every one can link.
        guard link(path, target) == 0 else {
            if errno == EEXIST { return false }
            throw SystemError.current("create", target)
        }
        unlink(path)
        return true
    }

    /// Replaces the file at a path with it, if there is one; see rename(2).
    func replace(_ target: String) throws(AlertError) {
        guard rename(path, target) == 0 else { throw SystemError.current("replace", target) }
    }

    // MARK: - What killed processes leave

    private static func path(for target: String) -> String { "\(target)-new.\(getpid())" }

    /// Removes the drafts that killed processes have left in a directory.
    ///
    /// - Parameter isTarget: Whether a name is one of those for which drafts are made there.
    static func removeLeftovers(in directory: String, for isTarget: (String) -> Bool) {
        for name in LinuxFile.names(in: directory) {
            guard let end = name.ranges(of: "-new.").last,
                isTarget(String(name[..<end.lowerBound]))
            else { continue }
            let number = name[end.upperBound...].prefix { $0.isASCII && $0.isNumber }
            let draft = directory + "/" + name[..<number.endIndex]
            if !number.isEmpty { removeLeftover(draft) }
        }
    }

    /// Removes a draft, unless somebody is making it, or it is no draft but only named like one.
    private static func removeLeftover(_ draft: String) {
        let raw = open(draft, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else {
            // What was made beside one that is gone.
            if errno == ENOENT { for ending in QueueFiles.endings { unlink(draft + ending) } }
            return
        }
        let descriptor = Descriptor(owning: raw)
        var status = stat()
        var start = [UInt8](repeating: 0, count: databaseStart.count)
        guard clinux_flock(raw, LOCK_EX | LOCK_NB) == 0, descriptor.isStill(at: draft),
            fstat(raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_mode & 0o777 & ~0o660 == 0,
            status.st_size == 0
                || (pread(raw, &start, start.count, 0) == start.count && start == databaseStart)
        else { return }
        // The lock is held until it is gone.
        remove(draft)
    }

    /// How a database begins, see <https://sqlite.org/fileformat.html#magic_header_string>.
    private static let databaseStart = Array("SQLite format 3\0".utf8)

    /// Removes a draft, and what a store has made beside it.
    static func remove(_ draft: String) {
        for ending in QueueFiles.endings { unlink(draft + ending) }
        unlink(draft)
    }
}
