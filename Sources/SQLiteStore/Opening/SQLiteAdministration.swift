import AlertCore
import Glibc
import Linux
import TextFormats

/// The administration of a queue in a database file.
package struct SQLiteAdministration: QueueAdministration {
    private let path: String
    private let files: QueueFiles?

    package init(path: String) {
        self.path = path
        // Problems with the path are reported when it is opened.
        files = try? QueueFiles(database: path)
    }

    package var unknownLeader: LinuxProcess? {
        get async {
            guard let files else { return nil }
            let slot = SlotFile(path: files.slot, mode: files.mode)
            // Its entry in the slot file is missing or overwritten.
            guard await slot.settledRoster().leader == .unreadable else { return nil }
            return FileLocks(path: files.slot)?.openFileHolders().first?.unlessOwn
        }
    }

    package func isOwnFile(_ path: String) -> Bool { files?.contain(path) ?? false }

    package nonisolated(nonsending) func findings() async -> [Finding] {
        guard let files else { return [] }
        let lock = await LockCheckup(files: files).finding()
        // Nothing else is known of a queue that is still to be made.
        guard FileIdentity.size(of: files.database) > 0 else { return [lock] }
        return [lock] + mount(files) + unusableFiles(files) + access(files)
            + stoppedHandlers(files) + (await QueueSpace(files).findings())
    }

    package nonisolated(nonsending) func schema() async throws(AlertError) -> [Finding] {
        try await Schema.findings(at: path)
    }

    package nonisolated(nonsending) func restore(
        _ backup: String, expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport {
        try await QueueRestore(of: backup, to: path).run(
            expecting: head, force: force, by: caller, progress)
    }
}

// MARK: - Findings

extension SQLiteAdministration {
    /// What could not be checked: a database that is a mount of its own is refused.
    private func mount(_ files: QueueFiles) -> [Finding] {
        guard let file = FileIdentity(path: files.database), file.isMountRoot == nil else {
            return []
        }
        return [
            Finding(
                check: "mount",
                detail: "this kernel, older than Linux 5.8, does not tell whether the database is "
                    + "a mount of its own, whose log would be lost",
                advice: "make sure that this prints nothing: findmnt "
                    + ShellText.quoted(files.database), isNote: true)
        ]
    }

    /// The existing files of screens, leases and the bell that can't be used.
    private func unusableFiles(_ files: QueueFiles) -> [Finding] {
        [files.slot, files.leases, files.bell].compactMap { file in
            // This creates nothing; a dangling link exists, too.
            var status = stat()
            guard lstat(file, &status) == 0 else { return nil }
            do throws(AlertError) {
                _ = try Descriptor.open(file, mode: files.mode)
                return nil
            } catch {
                if case .notPermitted = error { return Finding(check: "files", failure: error) }
                // It holds nothing permanent.
                return Finding(
                    check: "files", failure: error,
                    advice: "to have it created again: "
                        + ShellText.line(["mv", file, file + "-old"]))
            }
        }
    }

    private func access(_ files: QueueFiles) -> [Finding] {
        do throws(AlertError) {
            try files.checkWriteAccess()
            return []
        } catch {
            return [Finding(check: "permissions", failure: error)]
        }
    }

    /// The stopped processes whose responses no other process takes over, because they still live.
    private func stoppedHandlers(_ files: QueueFiles) -> [Finding] {
        let handlers = FileLocks(path: files.leases)?.openFileHolders() ?? []
        return handlers.filter(\.isStopped).map { process in
            Finding(
                check: "handlers",
                problem: process.subject
                    + " holds responses that no other process handles meanwhile",
                advice: "resume it: kill -CONT \(process.pid); or end it: kill -KILL "
                    + "\(process.pid)",
                code: .busy)
        }
    }
}

extension QueueFiles {
    /// The other process that keeps all others from writing.
    var lockHolder: LockHolder? {
        guard let process = writer?.unlessOwn else { return nil }
        return LockHolder(
            process: process, isRewriting: WriterLock.isHolderRewriting(path: lock))
    }

    /// The process that holds what every write needs: a program that does not know our lock has
    /// only SQLite's own, and then a process of ours may hold the other one and wait.
    var writer: LinuxProcess? {
        let holder = FileLocks(path: lock)?.flockHolder()
        let writers =
            (FileLocks(path: sharedMemory)?.writers(from: Self.logLocks) ?? [])
            .union(FileLocks(path: database)?.writers(from: Self.databaseLocks) ?? [])
        if let holder, writers.contains(holder) { return holder }
        return writers.min { $0.pid < $1.pid } ?? holder
    }

    /// The bytes that SQLite locks in the shared memory to write, to copy the log into the database
    /// and to recover it; see <https://sqlite.org/walformat.html#wal_locks>.
    private static let logLocks = 120...122
    /// Those in the database: the “pending” and the “reserved” byte, and the “shared” ones; see
    /// SQLite's `os.h`.
    private static let databaseLocks = 0x4000_0000...0x4000_0200
}

extension LinuxProcess {
    /// The process, if it is another one than this.
    fileprivate var unlessOwn: LinuxProcess? { pid == getpid() ? nil : self }
}
