import AlertCore
import Glibc
import Linux

/// Which processes hold the locks of a queue, as far as they can be seen.
package struct QueueLocks: Sendable {
    private let files: QueueFiles?

    /// Names the locks of the queue in a database file.
    package init(database: String) {
        // What is wrong with the path is told when it is opened.
        files = try? QueueFiles(database: database)
    }

    /// The process that holds the writer lock, for as long as it writes; `nil` if it is free.
    package var writer: LinuxProcess? {
        files.flatMap { FileLocks(path: $0.lock)?.flockHolder() }.flatMap(other)
    }

    /// A process that has a screen attached, among those whose files this user may see.
    package var presenter: LinuxProcess? {
        files.flatMap { FileLocks(path: $0.slot)?.openFileHolders().first }.flatMap(other)
    }

    /// The processes that run handlers or hooks, or wait for a response, likewise.
    package var handlers: [LinuxProcess] {
        files.flatMap { FileLocks(path: $0.handlers)?.openFileHolders() } ?? []
    }

    /// The files of screens, of handlers and of news that are there and can't be used, with the
    /// reason.
    package var unusable: [(path: String, error: AlertError)] {
        guard let files else { return [] }
        return [files.slot, files.handlers, files.bell].compactMap { path in
            // Looking creates nothing; a link that leads nowhere is there, too.
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
