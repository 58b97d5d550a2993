import AlertCore
import Glibc
import Linux

/// The processes that hold the locks of a queue, as far as they are visible.
package struct QueueLocks: Sendable {
    private let files: QueueFiles?

    /// Creates a view of the locks of the queue in a database file.
    package init(database: String) {
        // Problems with the path are reported when it is opened.
        files = try? QueueFiles(database: database)
    }

    /// The process that holds the writer lock while it writes; `nil` if the lock is free.
    package var writer: LinuxProcess? {
        files.flatMap { FileLocks(path: $0.lock)?.flockHolder() }.flatMap(other)
    }

    /// Whether that process is rewriting the database for a purge, which takes a while.
    package var isWriterRewriting: Bool {
        files.map { WriterLock.isHolderRewriting(path: $0.lock) } ?? false
    }

    /// A process with an attached screen, among those whose files this user may see.
    package var presenter: LinuxProcess? {
        files.flatMap { FileLocks(path: $0.slot)?.openFileHolders().first }.flatMap(other)
    }

    /// The processes that run handlers or hooks, or wait for a response, with the same restriction.
    package var handlers: [LinuxProcess] {
        files.flatMap { FileLocks(path: $0.handlers)?.openFileHolders() } ?? []
    }

    /// The existing files of screens, handlers and the bell that can't be used, with the reasons.
    package var unusable: [(path: String, error: AlertError)] {
        guard let files else { return [] }
        return [files.slot, files.handlers, files.bell].compactMap { path in
            // This creates nothing; a dangling link exists, too.
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            do throws(AlertError) {
                _ = try Descriptor.open(path, mode: files.mode)
                return nil
            } catch {
                return (path, error)
            }
        }
    }

    private func other(_ process: LinuxProcess) -> LinuxProcess? {
        process.pid == getpid() ? nil : process
    }
}
