import AlertCore
import Glibc
import Linux
import SQLite

/// Replaces a queue with a backup; no store in this process may have the queue open.
package struct QueueRestore: Sendable {
    private let files: QueueFiles
    private let path: String
    private let clock: any AlertClock

    /// The current step, for progress reports.
    package enum Phase: Sendable {
        case copying
        case verifying
    }

    /// How the reason ends for which a queue with newer entries is not replaced without force.
    package static let lossReason = "not in the backup, and would leave the queue"

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
        // A backup that was copied over the queue can be made a queue where it is.
        let isInPlace =
            FileIdentity(path: path) == FileIdentity(path: files.database)
            && (try? DatabaseFile(files: files).isBackup()) == true
        guard isInPlace || !files.contain(path) else {
            throw .invalid("backup path", "\(path) is one of the queue's own files")
        }
    }

    /// Copies the backup to a file next to the queue, verifies the copy, and replaces the queue
    /// with it.
    ///
    /// If the process is killed at any moment, the queue is either still the old one, intact, or
    /// already the one from the backup.
    ///
    /// - Parameters:
    ///   - head: A head that must be part of the backup's log.
    ///   - force: Whether the queue may lose entries that are not in the backup, whether an
    ///     unreadable queue is replaced, and whether the backup's log may contradict alerts and
    ///     entries, which the new queue's log then names.
    ///   - caller: Who restores, for the audit log.
    /// - Throws: ``AlertError/invalid(_:_:)`` if the file is not a backup, or does not verify;
    ///   ``AlertError/notPermitted(path:_:)`` if the queue would lose entries;
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``.
    package nonisolated(nonsending) func run(
        expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport {
        let target = files.database + Self.draftEnding
        let name = QueueLocation.name(of: target)
        DraftFile.removeLeftovers(in: files.directory) { $0 == name }
        let draft = try DraftFile(for: target, mode: files.mode)
        // The worker thread may still reference it when this process ends.
        defer { draft.discard() }
        try await copy(to: draft, progress)
        guard draft.isAtItsPath else { throw DraftFile.wasExchanged(draft.path) }
        let verified = try await verify(
            draft, expecting: head, allowsProblems: force, by: caller, progress)
        guard !Task.isCancelled else { throw .busy("the restore was cancelled") }
        let swap = QueueSwap(
            files: files, draft: draft, verified: verified, force: force, caller: caller,
            clock: clock)
        // Waiting for a lock must not block a thread of Swift's tasks.
        let report = try await QueueConfined(swap, label: "alertq.restore").run {
            swap throws(AlertError) in try swap.run()
        }
        // Programs that have the old files open notice at once.
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
            try draft.mark(as: DatabaseFile.applicationID)
        }
    }

    /// Migrates the draft, and makes sure that its log verifies, or has only problems that an entry
    /// of the new queue's log can name.
    private nonisolated(nonsending) func verify(
        _ draft: DraftFile, expecting head: AuditHead?, allowsProblems: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        let report: AuditReport
        do throws(AlertError) {
            do throws(AlertError) {
                await
                    (try await SQLiteAlertStore.open(
                        path: draft.path, clock: clock, caller: caller)).close()
            } catch {
                // The verification says more of it.
                guard allowsProblems, case .inconsistent = error else { throw error }
            }
            if allowsProblems { try prepareForProblems(draft, expecting: head) }
            report = try await SQLiteAlertStore.verify(
                copyAt: draft.path, clock: clock, expecting: allowsProblems ? nil : head
            ) { progress(.verifying, $0, $1) }
        } catch {
            // A fault in the copy is a fault in the backup.
            guard case .inconsistent(_, let reason) = error else { throw error }
            throw .invalid("backup", "\(path) can't be trusted: \(reason)")
        }
        guard let problem = report.problems.first else { return report }
        let more = report.problems.count > 1 ? " (and \(report.problems.count - 1) more)" : ""
        let reason = "\(path) does not verify: \(problem.reason)\(more)"
        guard allowsProblems else { throw .invalid("backup", reason) }
        guard !report.isFull else {
            throw .invalid("backup", reason + ": these are too many to be named in the log")
        }
        if let nameless = report.problems.first(where: { $0.alertID == nil && $0.sequence == nil })
        {
            throw .invalid(
                "backup",
                "\(path) does not verify: \(nameless.reason); that is about the file, and no entry "
                    + "of the log can name it")
        }
        return report
    }

    /// Counts anew what waits in the draft, and makes sure that its log has a saved head.
    private func prepareForProblems(
        _ draft: DraftFile, expecting head: AuditHead?
    ) throws(AlertError) {
        let files = try QueueFiles(database: draft.path)
        let database = try DatabaseFile(files: files).openExisting(continuing: .start)
        let found = try storing("count what waits in the copy of the backup") {
            try database.handle.run(
                """
                UPDATE sources SET pending = (SELECT count(*) FROM alerts
                    JOIN sources AS source ON source.id = alerts.source_id
                    WHERE outcome IS NULL AND source.uid = sources.uid
                        AND (sources.name = '' OR source.id = sources.id))
                """)
            return try head.flatMap { try database.handle.auditHead(at: $0.sequence) }
        }
        guard found == head else {
            throw .invalid(
                "backup", "\(path) does not verify: its log does not have the saved head")
        }
    }
}

/// The result of a restore.
package struct RestoreReport: Sendable {
    /// The end of the restored queue's log.
    package let head: AuditHead
    /// The end of the backup's log.
    package let backup: AuditHead?
    /// The files in which the replaced queue is kept, its database first; none if there was no
    /// queue.
    package let kept: [String]
    /// The end of the replaced queue's log; `nil` if there was none, or it could not be read.
    package let replaced: AuditHead?
    /// How many entries of the replaced queue are not in the restored one; `nil` if it could not be
    /// read.
    package let left: Int64?
    /// Whether a backup had been copied over the queue before: what the queue had then is unknown.
    package let wasOverwritten: Bool
    /// The id that the next alert gets.
    package let nextAlert: Int64
    /// What the backup's log contradicts; empty if it verifies.
    package let problems: [AuditReport.Problem]
}
