import AlertCore
import CLinux
import FoundationEssentials
import Glibc
import Linux
import Synchronization

/// Where a process that only reads a queue reads it: in place, or, where that is impossible, in a
/// copy, from then on.
final class ReadingCopy: Sendable {
    private let snapshot = Mutex<QueueSnapshot?>(nil)
    private let onCopy: @Sendable () -> Void

    /// - Parameter onCopy: Called before the queue is copied, which takes time and space.
    init(onCopy: @escaping @Sendable () -> Void) { self.onCopy = onCopy }

    func open(
        insteadOf file: DatabaseFile, continuing head: AuditHead?
    ) throws(AlertError) -> OpenDatabase {
        if snapshot.withLock({ $0 == nil }) {
            if let database = try file.openForReading(continuing: head) { return database }
            try make(of: file.files.database)
        }
        let path = snapshot.withLock { $0?.path } ?? file.files.database
        let copy = DatabaseFile(files: try QueueFiles(database: path))
        if head == nil, let database = try copy.openUnchecked() { return database }
        return try copy.openExisting(continuing: head ?? .start)
    }

    /// Copies the queue, unless that has been done.
    func make(of path: String) throws(AlertError) {
        try snapshot.withLock { snapshot throws(AlertError) in
            guard snapshot == nil else { return }
            onCopy()
            snapshot = try QueueSnapshot(of: path)
        }
    }

    /// Removes the copy, if there is one.
    func remove() { snapshot.withLock { $0 = nil } }
}

/// A copy of a queue in a temporary directory, which is removed with the last reference to it.
private final class QueueSnapshot: Sendable {
    /// The copy's database.
    let path: String
    private let directory: String

    /// Copies a queue into the directory for temporary files, which `TMPDIR` names.
    ///
    /// - Throws: ``AlertError/incompatible(path:_:)`` if it is not a queue;
    ///   ``AlertError/storage(operation:_:)``.
    init(of path: String) throws(AlertError) {
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
        let endings = ["", "-wal", "-journal"]
        let seen = endings.map { FileChange(path + $0) }
        for ending in endings where FileIdentity(path: path + ending) != nil {
            do {
                try? FileManager.default.removeItem(atPath: copy + ending)
                try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
            } catch {
                throw .storage(operation: "copy \(path + ending)", "\(error)")
            }
            chmod(copy + ending, 0o600)
        }
        guard seen == endings.map({ FileChange(path + $0) }) else {
            throw .busy("\(path) was written to while it was copied; try again")
        }
    }
}
