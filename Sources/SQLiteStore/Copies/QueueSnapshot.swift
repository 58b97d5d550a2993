import AlertCore
import CLinux
import FoundationEssentials
import Glibc
import Linux

/// A copy of a queue in a temporary directory, for reading a queue next to which no file can be
/// written.
///
/// An open queue needs files next to its database: locks, and SQLite's shared memory. The copy is
/// removed with the last reference to it.
package final class QueueSnapshot: Sendable {
    /// The copy's database.
    package let path: String
    private let directory: String

    /// Whether a database is, or would be, on a file system that is mounted read-only; see
    /// statvfs(3), `ST_RDONLY`.
    package static func isNeeded(for path: String) -> Bool {
        var status = statvfs()
        // A backup is read as it is.
        if (try? DatabaseFile(files: QueueFiles(database: path)).isBackup()) == true {
            return false
        }
        let exists = statvfs(path, &status) == 0
        guard exists || statvfs(QueueLocation.directory(of: path), &status) == 0 else {
            return false
        }
        return status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Copies a queue into the directory for temporary files, which `TMPDIR` names.
    ///
    /// - Throws: ``AlertError/incompatible(path:_:)`` if it is not a queue;
    ///   ``AlertError/storage(operation:_:)``.
    package init(of path: String) throws(AlertError) {
        let temporary = Identity.environment("TMPDIR") ?? "/tmp"
        var template = Array("\(temporary)/alertq-XXXXXX".utf8CString)
        // Only its owner may enter it; see mkdtemp(3).
        guard mkdtemp(&template) != nil else {
            throw SystemError.current("create a directory in", temporary)
        }
        directory = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
        self.path = directory + "/queue.db"
        guard let database = realpath(path, nil) else { throw SystemError.current("open", path) }
        defer { free(database) }
        try Self.copy(String(cString: database), to: self.path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func copy(_ path: String, to copy: String) throws(AlertError) {
        do throws(AlertError) {
            // SQLite can read the database if its shared memory is there, or if there is no log.
            let source = try BackupSource(path)
            close(open(copy, O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
            try source.copy(to: copy, { _, _ in }, isCancelled: { Task.isCancelled })
        } catch .storage {
            try copyFiles(path, to: copy)
        } catch .invalid(_, let reason) {
            let isNamed = reason.hasPrefix(path + " ")
            throw .incompatible(
                path: path, isNamed ? String(reason.dropFirst(path.count + 1)) : reason)
        }
    }

    /// Copies a database and its log, which no process can have open that could change them: the
    /// shared memory is gone.
    private static func copyFiles(_ path: String, to copy: String) throws(AlertError) {
        // The same files may be written through another mount; their lock can be shared here.
        let lock = open(path + "-lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        defer { if lock >= 0 { close(lock) } }
        guard lock < 0 || clinux_flock(lock, LOCK_SH | LOCK_NB) == 0 else {
            throw .busy("another process is writing to \(path); try again")
        }
        for ending in ["", "-wal", "-journal"] where FileIdentity(path: path + ending) != nil {
            do {
                try? FileManager.default.removeItem(atPath: copy + ending)
                try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
            } catch {
                throw .storage(operation: "copy \(path + ending)", "\(error)")
            }
            chmod(copy + ending, 0o600)
        }
    }
}
