import AlertCore
import CLinux
import FoundationEssentials
import Glibc
import Linux
import SQLite
import Synchronization

/// The connection for reading, opened at the first read and again if the file was replaced.
struct Reader {
    let file: DatabaseFile
    /// What is read instead where the file can't be; `nil` in a process that also writes to it.
    private let copy: ReadingCopy?
    /// The end of the log that the file must have; `nil` if it may have any schema and any log.
    private let known: LogTail?
    private var database: OpenDatabase?
    private var lastVersion: Int64?
    private var isClosed = false
    private let whenMoved: @Sendable () -> Void

    init(
        file: DatabaseFile, known: LogTail?, copy: ReadingCopy? = nil,
        whenMoved: @escaping @Sendable () -> Void = {}
    ) {
        self.file = file
        self.copy = copy
        self.known = known
        self.whenMoved = whenMoved
    }

    mutating func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        if let failure = known?.readingFailure { throw failure }
        var database = try current()
        let result = Swift.Result {
            try database.handle.reading {
                guard known != nil else { return (AuditHead.start, try body(database.handle)) }
                try database.schema.run()
                return (try database.handle.lastHead(), try body(database.handle))
            }
        }
        // Without locks it must be closed before another part of this process takes some.
        if database.seen != nil { self.database = nil }
        guard database.isUnchanged else {
            try copy?.make(of: file)
            return try read(body)
        }
        do {
            let (head, value) = try result.get()
            known?.raise(to: head)
            return value
        } catch {
            throw database.noteDamage(error, in: known)
        }
    }

    /// Returns whether any process has committed since the last call; see
    /// <https://sqlite.org/pragma.html#pragma_data_version>.
    mutating func takeChange() -> Bool {
        guard known?.readingFailure == nil else { return true }
        // If the file can't be read, try again in a second.
        guard let database = try? current(),
            let version = try? Self.version(of: database.handle)
        else { return true }
        defer { lastVersion = version }
        guard database.seen == nil else {
            self.database = nil
            return true
        }
        // Nobody can ring for a file that is no longer there.
        let isReplaced = (try? self.database?.replacement(notedIn: known)) != nil
        return isReplaced || version != lastVersion
    }

    mutating func close() {
        isClosed = true
        database = nil
    }

    /// Closes files that are no longer the queue's, so that the writer is not affected.
    mutating func leaveIfMoved() {
        if database?.isAtItsPath == false { database = nil }
    }

    private mutating func current() throws -> OpenDatabase {
        guard !isClosed else { throw AlertError.closed }
        if let database {
            if database.isAtItsPath { return database }
            self.database = nil
            // The writer uses the same files, and may not write for a long time.
            whenMoved()
        }
        let opened =
            try copy?.open(insteadOf: file, continuing: known?.head)
            ?? file.openExisting(continuing: known?.head, .readOnly)
        try file.syncLog()
        database = opened
        // Counted from the first read, so that earlier changes are noticed, too.
        if lastVersion == nil { lastVersion = try? Self.version(of: opened.handle) }
        return opened
    }

    private static func version(of handle: Database) throws -> Int64? {
        try handle.first("PRAGMA data_version") { $0.integer() }
    }
}

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
        let isCopied = snapshot.withLock { $0 != nil }
        if !isCopied, let database = try file.openForReading(continuing: head) { return database }
        return try make(of: file).openExisting(continuing: head)
    }

    /// Copies the queue, unless that has been done, and returns the copy.
    @discardableResult
    func make(of file: DatabaseFile) throws(AlertError) -> DatabaseFile {
        try snapshot.withLock { snapshot throws(AlertError) in
            if let snapshot { return snapshot.file }
            onCopy()
            let made = try QueueSnapshot(of: file)
            snapshot = made
            return made.file
        }
    }

    /// Removes the copy, if there is one.
    func remove() { snapshot.withLock { $0 = nil } }
}

/// A copy of a queue in a temporary directory, which is removed with the last reference to it.
private final class QueueSnapshot: Sendable {
    let file: DatabaseFile
    private let directory: PrivateDirectory

    /// Copies a queue into the directory for temporary files.
    init(of source: DatabaseFile) throws(AlertError) {
        directory = try AlertError.onFile("a temporary directory") { () throws(LinuxError) in
            try PrivateDirectory()
        }
        file = DatabaseFile(files: try QueueFiles(database: directory.path + "/queue.db"))
        let copy = file.files.database
        // SQLite can read the database if its shared memory is there, or if there is no log.
        guard let database = try source.openForReading(continuing: nil) else {
            try Self.copyFiles(source.files, to: copy)
            return
        }
        close(open(copy, O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        try database.copy(to: copy) { _, _ in }
    }

    /// Copies a database and its log, which no process can have open that could change them: the
    /// shared memory is gone.
    private static func copyFiles(_ files: QueueFiles, to copy: String) throws(AlertError) {
        let path = files.database
        // The same files may be written through another mount; their lock can be shared here.
        let lock = Descriptor.openForReading(files.lock)
        let isFree = try AlertError.onFile(files.lock) { () throws(LinuxError) in
            try lock?.takeLock(LOCK_SH | LOCK_NB, of: files.lock) ?? true
        }
        guard isFree else { throw .busy("another process is writing to \(path); try again") }
        let seen = files.changes
        for file in [path, files.wal, files.journal] where FileIdentity(path: file) != nil {
            let target = copy + file.dropFirst(path.count)
            do {
                try FileManager.default.copyItem(atPath: file, toPath: target)
            } catch {
                throw .storage(operation: "copy \(file)", "\(error)")
            }
            chmod(target, 0o600)
        }
        withExtendedLifetime(lock) {}
        guard seen == files.changes else {
            throw .busy("\(path) was written to while it was copied; try again")
        }
    }
}
