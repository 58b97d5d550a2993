import AlertCore
import CLinux
import Glibc
import Linux
import SQLite
import TextFormats

/// Replaces a queue with a backup; no store in this process may have the queue open.
struct QueueRestore: Sendable {
    private let files: QueueFiles
    private let path: String
    private let clock = SystemClock()

    /// - Parameters:
    ///   - path: The backup.
    ///   - database: The queue's database, which need not exist.
    init(of path: String, to database: String) throws(AlertError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .invalid("backup path", "is empty or contains a NUL character")
        }
        self.path = path
        files = try QueueFiles(database: database)
        // A backup that was copied over the queue can be made a queue where it is.
        let isInPlace =
            FileIdentity(path: path) == FileIdentity(path: files.database)
            && (try? DatabaseFile(files: files).refusalIfBackup()) != nil
        guard isInPlace || !files.contain(path) else {
            throw .invalid("backup path", "\(path) is one of the queue's own files")
        }
    }

    /// Copies the backup to a file next to the queue, verifies the copy, and replaces the queue
    /// with it; see ``QueueAdministration/restore(_:expecting:force:by:_:)``.
    nonisolated(nonsending) func run(
        expecting head: AuditHead?, force: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> RestoreReport {
        let target = files.database + "-restore"
        let name = FilePath.name(of: target)
        DraftFile.removeLeftovers(in: files.directory) { $0 == name }
        let draft = try DraftFile(for: target, mode: files.mode)
        // The worker thread may still reference it when this process ends.
        defer { draft.discard() }
        try await QueueConfined(draft, label: "alertq.restore").run {
            draft throws(AlertError) in try copy(to: draft) { progress(.copying, $0, $1) }
        }
        let verified = try await verify(
            draft, expecting: head, allowsProblems: force, by: caller, progress)
        guard !Task.isCancelled else { throw .cancelled("the restore") }
        let swap = QueueSwap(
            files: files, draft: draft, verified: verified, force: force, caller: caller)
        // Waiting for a lock must not block a thread of Swift's tasks.
        let report = try await QueueConfined(swap, label: "alertq.restore").run {
            swap throws(AlertError) in try swap.run()
        }
        // Programs that have the old files open notice at once.
        Bell(path: files.bell, mode: files.mode).ring()
        return report
    }

    /// Copies the backup, whoever owns it: what is in the copy is verified.
    private func copy(
        to draft: DraftFile, _ progress: (_ done: Int, _ total: Int) -> Void
    ) throws(AlertError) {
        let source = DatabaseFile(files: try QueueFiles(database: path, isSource: true))
        do throws(AlertError) {
            guard let database = try source.openForReading(continuing: nil) else {
                throw .storage(operation: "read \(path)", "the log next to it can't be opened")
            }
            try database.copy(to: draft.path, progress)
        } catch .incompatible(_, let reason) {
            throw .invalid("backup", "\(path) \(reason)")
        }
        try draft.mark(as: DatabaseFile.applicationID)
    }

    /// Migrates the draft, and makes sure that its log verifies, or has only problems that an entry
    /// of the new queue's log can name.
    private nonisolated(nonsending) func verify(
        _ draft: DraftFile, expecting head: AuditHead?, allowsProblems: Bool, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        let report: AuditReport
        do throws(AlertError) {
            do throws(AlertError) {
                try await QueueConfined(draft, label: "alertq.restore").run {
                    draft throws(AlertError) in try migrate(draft, allowsMoved: allowsProblems)
                }
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
        let nameless = report.problems.first { $0.alertID == nil && $0.sequence == nil }
        let more = report.problems.count > 1 ? " (and \(report.problems.count - 1) more)" : ""
        let reason: String? =
            if !allowsProblems {
                problem.reason + more
            } else if report.isFull {
                "\(problem.reason)\(more): these are too many to be named in the log"
            } else if let nameless {
                "\(nameless.reason); that is about the file, and no entry of the log can name it"
            } else {
                nil
            }
        if let reason { throw .invalid("backup", "\(path) does not verify: \(reason)") }
        return report
    }

    /// Gives the draft the schema of this version.
    private func migrate(_ draft: DraftFile, allowsMoved: Bool) throws(AlertError) {
        let files = try QueueFiles(database: draft.path)
        let database = try DatabaseFile(files: files).openForWriting {}
        let end = try performing("read the audit log of \(path)") {
            try database.handle.logEnd()
        }
        guard let place = end.move?.place, !allowsMoved else { return }
        throw .invalid(
            "backup",
            "\(path) is of a queue that has moved to \(place), where its alerts go on; with --force "
                + "it becomes another queue with the same alerts")
    }

    /// Counts anew what waits in the draft, and makes sure that its log has a saved head.
    private func prepareForProblems(
        _ draft: DraftFile, expecting head: AuditHead?
    ) throws(AlertError) {
        let files = try QueueFiles(database: draft.path)
        let database = try DatabaseFile(files: files).openExisting(continuing: .start)
        let found = try performing("count what waits in the copy of the backup") {
            try database.handle.run(
                """
                UPDATE sources SET pending = (SELECT count(*) FROM alerts
                    JOIN sources AS source ON source.id = alerts.source_id
                    WHERE outcome IS NULL
                        AND source.principal = sources.principal
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

/// The last part of a restore, under the writer's lock: the verified draft replaces the queue.
struct QueueSwap: Sendable {
    let files: QueueFiles
    let draft: DraftFile
    /// What was found in the draft, problems that the log will name included.
    let verified: AuditReport
    let force: Bool
    let caller: Caller
    private let clock = SystemClock()

    /// What is at the queue's path.
    private enum Present {
        case nothing
        /// A queue with its log emptied into the database file.
        ///
        /// No process writes to it: the writer's lock is held, and also SQLite's write lock,
        /// against programs that don't use the former.
        case queue(OpenDatabase, AuditHead, lastID: Alert.ID)
        /// A backup that somebody has copied over the queue, of which a log may be left.
        case backup
        case unreadable
    }

    func run() throws(AlertError) -> RestoreReport {
        let lock = WriterLock(path: files.lock, mode: files.mode)
        try lock.acquire(within: GroupCommit.busyTime)
        defer { lock.release() }
        let present = try present()
        var report = try performing("complete the copy of the backup") {
            try complete(replacing: present)
        }
        for ending in QueueFiles.endings { unlink(draft.path + ending) }
        try draft.sync()
        report.kept = try put(replacing: present)
        withExtendedLifetime(present) {}
        return report
    }

    /// Opens the queue, and empties its log.
    ///
    /// - Throws: ``AlertError/busy(_:)`` while a program reads or writes it,
    ///   ``AlertError/notPermitted(path:_:)``; without force also why it can't be read.
    private func present() throws(AlertError) -> Present {
        do throws(AlertError) {
            try files.checkOwners(isLocked: true)
            let sizes = [
                try QueueFiles.present(files.database)?.size,
                try QueueFiles.present(files.journal)?.size,
            ]
            guard sizes.contains(where: { $0 ?? 0 > 0 }) else { return .nothing }
            let database = try DatabaseFile(files: files).openExisting(continuing: nil)
            return try performing("read \(files.database)") {
                try emptyLog(of: database.handle)
                return .queue(
                    database, try database.handle.lastHead(), lastID: try database.handle.lastID())
            }
        } catch {
            switch error {
            case .busy, .notPermitted, .storage(_, diskFullReason): throw error
            case .backup:
                let log = try QueueFiles.present(files.wal)?.size ?? 0
                guard force || log == 0 else {
                    throw .notPermitted(
                        path: files.wal,
                        "a backup was copied over the queue, and this log has commits that are "
                            + RestoreReport.lossReason)
                }
                return .backup
            default:
                guard force else { throw error }
                return .unreadable
            }
        }
    }

    private func emptyLog(of db: Database) throws {
        // Before its first read, a connection does not know the log.
        _ = try db.first("SELECT 1 FROM sqlite_schema LIMIT 1") { $0.integer() }
        // It waits for a program that reads an old state, but not as long as other processes wait
        // for the lock that is held here.
        db.busyMilliseconds = 2500
        let busy = AlertError.busy(
            "a program keeps reading or writing the queue; end that program, then try again")
        guard try db.checkpoint(.truncate) else { throw busy }
        try db.run("BEGIN IMMEDIATE")
        guard FileIdentity.size(of: files.wal) == 0 else { throw busy }
    }

    /// Makes ids jump in the draft, records it in the log, and makes it one complete file.
    private func complete(replacing present: Present) throws -> RestoreReport {
        let copy = DatabaseFile(files: try QueueFiles(database: draft.path))
        let end = verified.head ?? .start
        let database = try copy.openExisting(continuing: end)
        let db = database.handle
        var report = RestoreReport(backup: verified.head, problems: verified.problems)
        var (replaced, knownID) = (RestoredQueue.Replaced.nothing, Alert.ID?.none)
        switch present {
        case .nothing: break
        case .backup: report.wasOverwritten = true
        case .unreadable: (replaced, report.left) = (.unreadable, nil)
        case .queue(let queue, let head, let lastID):
            (replaced, report.replaced) = (.queue(head), head)
            report.left = try queue.handle.entries(missingIn: db)
            // No queue comes that far: somebody has changed the number.
            knownID = lastID < .max / 2 ? lastID : nil
        }
        if let left = report.left, left > 0, !force {
            throw AlertError.notPermitted(
                path: files.database,
                "\(left == 1 ? "1 entry" : "\(left) entries") of its audit log "
                    + "\(left == 1 ? "is" : "are") \(RestoreReport.lossReason)")
        }
        try db.run("BEGIN IMMEDIATE")
        try database.schema.run()
        let last = max(try db.lastID(), knownID ?? 0)
        // If the queue is unreadable, the earlier jumps are unknown and the jump is random: two
        // restores of the same backup must not assign the same ids.
        let jump = RestoredQueue.jump * (knownID == nil ? Int64.random(in: 1...4096) : 1)
        guard last < .max - 2 * jump else { throw AlertError.usedUp("alerts") }
        let restored = RestoredQueue(
            backup: end, replaced: replaced, firstAlert: last + jump + 1,
            problems: verified.entriesWithoutAlert)
        report.nextAlert = restored.firstAlert
        try db.change("UPDATE upkeep SET first_id = ?", .integer(restored.firstAlert))
        let context = try WriteContext(db: db, of: copy.files, now: clock.now())
        var entry = AuditDraft(kind: .restored)
        entry.detail = .restored(restored)
        try context.append(entry, by: caller, concernsOthers: false)
        for (id, problems) in verified.contradictedAlerts {
            try context.append(
                AuditDraft(contradicted: id, by: problems[0].sequence), by: caller,
                concernsOthers: false)
        }
        try db.run("COMMIT")
        report.head = context.head
        let isWhole = try db.checkpoint(.truncate)
        guard isWhole, FileIdentity.size(of: copy.files.wal) == 0 else {
            throw AlertError.busy("\(draft.path) is in use by another program")
        }
        return report
    }

    // MARK: - The files

    static let keptEnding = "-replaced-"

    /// Replaces the queue with the draft; returns the files in which the old one is kept.
    private func put(replacing present: Present) throws(AlertError) -> [String] {
        var status = stat()
        let exists = lstat(files.database, &status) == 0
        if exists { draft.takeRights(of: status) } else { draft.leaveToOwner() }
        let now = Timestamp.date(milliseconds: clock.now().wallMilliseconds)
        let kept = files.database + Self.keptEnding + DraftFile.nameText(now)
        var names: [String] = []
        switch present {
        case .nothing where exists:
            guard status.st_size == 0 else {
                throw .busy("another program has written \(files.database); try again")
            }
            try removeWALFiles()
            try draft.replace(files.database)
        case .nothing:
            try removeWALFiles()
            guard try draft.move(to: files.database) else {
                throw .busy("another process has created \(files.database); try again")
            }
        case .queue:
            let name = Self.free(kept)
            names = try exchange(name) ? [name] : try link(name, [])
        case .backup, .unreadable: names = try link(Self.free(kept), [files.wal, files.journal])
        }
        // A reader of the old database may have created these when it found its log missing, and
        // would see commits to the new database there. Nothing has been committed to it yet.
        if FileIdentity.size(of: files.wal) == 0 { try removeWALFiles() }
        try files.syncDirectory()
        return names
    }

    /// Exchanges the names of both files in one step, so that at no moment the queue has two names
    /// or none; `false` if the file system can't do this; see rename(2), `RENAME_EXCHANGE`.
    private func exchange(_ kept: String) throws(AlertError) -> Bool {
        // Everything in the log is in the database and on disk. The new database must never be
        // seen together with that log, even after a power loss.
        try removeWALFiles()
        try files.syncDirectory()
        guard try draft.move(to: kept) else {
            throw .busy("another process has created \(kept); try again")
        }
        guard clinux_exchange(kept, files.database) != 0 else { return true }
        let code = errno
        let error = SystemError.current("replace", files.database)
        guard rename(kept, draft.path) == 0, [EINVAL, ENOSYS, EOPNOTSUPP].contains(code) else {
            throw error
        }
        return false
    }

    /// Links the old files to second names, and then moves the new file to its name.
    private func link(_ kept: String, _ walFiles: [String]) throws(AlertError) -> [String] {
        var names: [String] = []
        for file in [files.database] + walFiles {
            guard let found = try QueueFiles.present(file), found.size > 0 || file == files.database
            else { continue }
            let name = kept + file.dropFirst(files.database.count)
            guard Glibc.link(file, name) == 0 else { throw SystemError.current("create", name) }
            names.append(name)
        }
        try files.syncDirectory()
        try removeWALFiles()
        try files.syncDirectory()
        try draft.replace(files.database)
        return names
    }

    private func removeWALFiles() throws(AlertError) {
        for file in [files.wal, files.sharedMemory, files.journal] {
            guard unlink(file) == 0 || errno == ENOENT else {
                throw SystemError.current("remove", file)
            }
        }
    }

    /// A name that no file of a queue has, made from this one.
    private static func free(_ name: String) -> String {
        let names = [name] + (2...1000).map { "\(name)-\($0)" }
        return names.first { name in
            ([""] + QueueFiles.endings).allSatisfy { FileIdentity(path: name + $0) == nil }
        } ?? name
    }
}

extension AuditReport {
    /// The entries that are wrong and are about no alert.
    fileprivate var entriesWithoutAlert: [Int64] {
        Set(problems.filter { $0.alertID == nil }.compactMap(\.sequence)).sorted()
    }

    /// The alerts that the log contradicts, each with its problems.
    fileprivate var contradictedAlerts: [(key: Alert.ID, value: [Problem])] {
        Dictionary(grouping: problems.filter { $0.alertID != nil }) { $0.alertID ?? 0 }
            .sorted { $0.key < $1.key }
    }
}

extension Database {
    /// How many entries of this log another one does not have.
    fileprivate func entries(missingIn other: Database) throws -> Int64 {
        let last = try lastHead().sequence
        var (common, limit) = (Int64(0), min(last, try other.lastHead().sequence))
        // Each hash covers all earlier entries: if it is equal, they are equal.
        while common < limit {
            let middle = common + (limit - common + 1) / 2
            if try auditHead(at: middle) == other.auditHead(at: middle) {
                common = middle
            } else {
                limit = middle - 1
            }
        }
        return last - common
    }
}
