import AlertCore
import Glibc
import Linux
import SQLite

/// Replaces a queue with a backup, where no store has the queue open in this process.
package struct QueueRestore: Sendable {
    private let files: QueueFiles
    private let path: String
    private let clock: any AlertClock

    /// What is being done, to be told with how much of it.
    package enum Phase: Sendable {
        case copying
        case verifying
    }

    /// - Parameters:
    ///   - path: The backup.
    ///   - database: The queue's database, which need not exist.
    package init(
        of path: String, to database: String, clock: any AlertClock = .system
    ) throws(AlertError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .invalid("backup path", "is empty or contains a NUL character")
        }
        try QueueLocation.createUserDirectory(for: database)
        self.path = path
        self.clock = clock
        files = try QueueFiles(database: database)
        for other in [""] + QueueFiles.endings {
            guard let own = FileIdentity(path: files.database + other),
                own == FileIdentity(path: path)
            else { continue }
            throw .invalid("backup path", "\(path) is one of the queue's own files")
        }
    }

    /// Copies the backup beside the queue, verifies the copy, and replaces the queue with it.
    ///
    /// A process may be killed at any moment of it: then the queue is still the one that was
    /// there, whole, or already the one from the backup.
    ///
    /// - Parameters:
    ///   - head: A head that the backup must have.
    ///   - force: Whether entries that the backup does not have may leave the queue, and whether a
    ///     queue that can't be read is replaced.
    ///   - caller: Who restores, for the audit log.
    /// - Throws: ``AlertError/invalid(_:_:)`` for a file that is not a backup, or does not verify;
    ///   ``AlertError/notPermitted(path:_:)`` where entries would leave the queue;
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``.
    package nonisolated(nonsending) func run(
        expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport {
        let target = files.database + Self.draftEnding
        let name = QueueLocation.name(of: target)
        DraftFile.removeLeftovers(in: files.directory) { $0 == name }
        let draft = try DraftFile(for: target, mode: files.mode)
        // The thread of the work may still refer to it when this process ends.
        defer { draft.discard() }
        try await copy(to: draft, progress)
        guard draft.isAtItsPath else { throw DraftFile.wasExchanged(draft.path) }
        let end = try await verify(draft, expecting: head, by: caller, progress)
        guard !Task.isCancelled else { throw .busy("the restore was cancelled") }
        let swap = QueueSwap(
            files: files, draft: draft, end: end, force: force, caller: caller, clock: clock)
        // What waits for a lock does not hold a thread of the tasks.
        let report = try await QueueConfined(swap, label: "alertq.restore").run {
            swap throws(AlertError) in try swap.run()
        }
        // Programs that have the old files open look at once.
        Bell(path: files.bell, mode: files.mode).ring()
        return report
    }

    private static let draftEnding = "-restore"

    private nonisolated(nonsending) func copy(
        to draft: DraftFile,
        _ progress: @escaping @Sendable (Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) {
        try await QueueConfined(path, label: "alertq.restore").run {
            path, isCancelled throws(AlertError) in
            try BackupSource(path).copy(
                to: draft.path, { progress(.copying, $0, $1) }, isCancelled: isCancelled)
        }
    }

    /// Migrates the draft, and makes sure that its log verifies; returns the end of that.
    private nonisolated(nonsending) func verify(
        _ draft: DraftFile, expecting head: AuditHead?, by caller: Caller,
        _ progress: @escaping @Sendable (Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditHead {
        let report: AuditReport
        do throws(AlertError) {
            let store = try await SQLiteAlertStore.open(
                path: draft.path, clock: clock, caller: caller)
            let verified: Result<AuditReport, AlertError>
            do throws(AlertError) {
                verified = .success(
                    try await store.verify(expecting: head) { progress(.verifying, $0, $1) })
            } catch {
                verified = .failure(error)
            }
            await store.close()
            report = try verified.get()
        } catch {
            // What is wrong with a copy is wrong with the backup.
            guard case .inconsistent(_, let reason) = error else { throw error }
            throw .invalid("backup", "\(path) can't be trusted: \(reason)")
        }
        guard let problem = report.problems.first else { return report.head ?? .start }
        let more = report.problems.count > 1 ? " (and \(report.problems.count - 1) more)" : ""
        throw .invalid("backup", "\(path) does not verify: \(problem.reason)\(more)")
    }
}
