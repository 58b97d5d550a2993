import AlertCore
import Glibc
import Linux

/// The administration of a queue in a database file.
package struct SQLiteAdministration: QueueAdministration {
    private let path: String
    private let files: QueueFiles?

    package init(path: String) {
        self.path = path
        // Problems with the path are reported when it is opened.
        files = try? QueueFiles(database: path)
    }

    package var lockHolder: LockHolder? { files?.lockHolder }

    package var unknownLeader: LinuxProcess? {
        get async {
            guard let files else { return nil }
            let slot = SlotFile(path: files.slot, mode: files.mode)
            // Its entry in the slot file is missing or overwritten.
            guard await slot.settledRoster().leader == .unreadable else { return nil }
            return FileLocks(path: files.slot)?.openFileHolders().first?.unlessOwn
        }
    }

    package var handlers: [LinuxProcess] {
        files.flatMap { FileLocks(path: $0.claims)?.openFileHolders() } ?? []
    }

    package var unusableFiles: [(path: String, error: AlertError)] {
        guard let files else { return [] }
        return [files.slot, files.claims, files.bell].compactMap { path in
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

    package func isOwnFile(_ path: String) -> Bool { files?.contain(path) ?? false }

    package func checkWriteAccess() throws(AlertError) {
        try QueueFiles(database: path).checkWriteAccess()
    }

    package nonisolated(nonsending) func schema() async throws(AlertError) -> SchemaReport? {
        try await SchemaReport.read(from: path)
    }

    package nonisolated(nonsending) func space() async -> SpaceReport? {
        guard let files else { return nil }
        return await QueueSpace(files).report()
    }

    package nonisolated(nonsending) func restore(
        _ backup: String, expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport {
        try await QueueRestore(of: backup, to: path).run(
            expecting: head, force: force, by: caller, progress)
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
