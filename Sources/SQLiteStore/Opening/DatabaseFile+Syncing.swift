import AlertCore
import Glibc
import Linux

extension DatabaseFile {
    /// Syncs the contents of the write-ahead log before they are returned to anyone.
    ///
    /// A process that was killed between writing its commit and syncing it leaves a commit that the
    /// next process to open the file recovers and reads, but that a power loss could still undo.
    /// Once this connection is open, no commit is visible before it has been synced.
    func syncLog() throws(AlertError) {
        guard let size = FileIdentity(path: files.wal)?.size, size > 0 else { return }
        // SQLite holds no locks on this file, so closing it here loses none.
        let raw = Glibc.open(files.wal, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard raw >= 0 else {
            // Just removed by a program that has copied all of it into the database.
            guard errno != ENOENT else { return }
            throw SystemError.current("open", files.wal)
        }
        defer { close(raw) }
        guard fdatasync(raw) == 0 else { throw SystemError.current("sync", files.wal) }
        try QueueLocation.sync(files.directory)
    }
}
