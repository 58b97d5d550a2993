import AlertCore
import CLinux
import Glibc
import Linux

/// The lock under which every write and every checkpoint happens, in any process.
///
/// It is a flock(2) on a file next to the database. It replaces SQLite's busy back-off, which is
/// unfair and slow, and separates one connection's checkpoint from another's write, as SQLite
/// before 3.51.3 requires (<https://sqlite.org/wal.html#walresetbug>). One thread at a time uses
/// it.
final class WriterLock {
    private let path: String
    private let mode: mode_t
    private var descriptor: Descriptor?

    init(path: String, mode: mode_t) {
        self.path = path
        self.mode = mode
    }

    /// Takes the lock if it is free; returns whether it did.
    func tryAcquire() throws(AlertError) -> Bool {
        try acquire(LOCK_EX | LOCK_NB)
    }

    /// Takes the lock, however long that takes.
    func acquire() throws(AlertError) {
        while try !acquire(LOCK_EX) {}
    }

    /// Takes the lock, unless another process keeps it for longer than a time.
    func acquire(within time: Duration) throws(AlertError) {
        let limit = ContinuousClock.now + time
        while try !tryAcquire() {
            guard ContinuousClock.now < limit else {
                throw .locked(after: time, holder: FileLocks(path: path)?.flockHolder())
            }
            usleep(5000)
        }
    }

    /// Locks this byte of the file as well, or no longer, while the database is being rewritten: so
    /// others know why this lock is held for long, and have more patience.
    func mark(isRewriting: Bool) {
        // Without the mark, others only give up sooner.
        _ = descriptor?.tryLock(isRewriting ? F_WRLCK : F_UNLCK, Self.rewritingByte)
    }

    /// Whether a running process holds the lock at a path, and is rewriting the database.
    static func isHolderRewriting(path: String) -> Bool {
        guard Descriptor.openForReading(path)?.otherLock(on: rewritingByte) != nil else {
            return false
        }
        return FileLocks(path: path)?.flockHolder()?.isStopped != true
    }

    private static let rewritingByte = LockRange(start: 0, length: 1)

    /// Gives the file of the lock to those who may write the database, unless it is not this
    /// process's own.
    func takeRights(of status: stat) {
        var own = stat()
        guard let descriptor, fstat(descriptor.raw, &own) == 0, own.st_uid == geteuid(),
            own.st_nlink == 1
        else { return }
        descriptor.takeRights(of: status)
    }

    func release() {
        guard let descriptor else { return }
        _ = clinux_flock(descriptor.raw, LOCK_UN)
    }

    private func acquire(_ operation: Int32) throws(AlertError) -> Bool {
        while true {
            if descriptor == nil { descriptor = try Descriptor.open(path, mode: mode) }
            guard let descriptor else { return false }
            let isTaken = try AlertError.onFile(path) { () throws(LinuxError) in
                try descriptor.takeLock(operation, of: path)
            }
            guard isTaken else { return false }
            // A lock file that was deleted or replaced in the meantime would allow two holders.
            if descriptor.isStill(at: path) { return true }
            self.descriptor = nil
        }
    }
}
