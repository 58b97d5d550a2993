import AlertCore
import CLinux
import Glibc
import Linux
import SQLite

/// The last part of a restore, under the writer's lock: the verified draft replaces the queue.
struct QueueSwap: Sendable {
    let files: QueueFiles
    let draft: DraftFile
    /// What was found in the draft, problems that the log will name included.
    let verified: AuditReport
    let force: Bool
    let caller: Caller
    let clock: any AlertClock

    /// The end of the draft's log.
    private var end: AuditHead { verified.head ?? .start }

    func run() throws(AlertError) -> RestoreReport {
        let lock = WriterLock(path: files.lock, mode: files.mode)
        try lock.acquire(within: GroupCommit.busyTime)
        defer { lock.release() }
        var present: ReplacedQueue?
        var (isUnreadable, isBackup) = (false, false)
        let copy = DatabaseFile(files: try QueueFiles(database: draft.path))
        do throws(AlertError) {
            present = try ReplacedQueue.open(files)
        } catch {
            switch error {
            case .busy, .notPermitted, .storage(_, diskFullReason): throw error
            case .backup:
                // Somebody has copied it over the queue, of which a log may be left.
                isBackup = true
                guard force || FileIdentity(path: files.wal)?.size ?? 0 == 0 else {
                    throw .notPermitted(
                        path: files.wal,
                        "a backup was copied over the queue, and this log has commits that are "
                            + QueueRestore.lossReason)
                }
            default:
                guard force else { throw error }
                (present, isUnreadable) = (nil, true)
            }
        }
        let left = try missing(in: copy, from: present)
        if let left, left > 0, !force {
            throw .notPermitted(
                path: files.database,
                "\(left == 1 ? "1 entry" : "\(left) entries") of its audit log "
                    + "\(left == 1 ? "is" : "are") \(QueueRestore.lossReason)")
        }
        let replaced: RestoredQueue.Replaced =
            isUnreadable ? .unreadable : present.map { .queue($0.head) } ?? .nothing
        let (head, restored) = try complete(copy, present, replaced)
        let kept = try put(hasPresent: present != nil, isUnreadable || isBackup)
        withExtendedLifetime(present) {}
        return RestoreReport(
            head: head, backup: verified.head, kept: kept,
            replaced: present?.head, left: isUnreadable ? nil : left ?? 0,
            wasOverwritten: isBackup, nextAlert: restored.firstAlert,
            problems: verified.problems)
    }

    private func missing(
        in copy: DatabaseFile, from present: ReplacedQueue?
    ) throws(AlertError) -> Int64? {
        guard let present else { return nil }
        let backup = try copy.openExisting(continuing: end, .readOnly)
        return try storing("compare the audit logs") {
            try present.entries(missingIn: backup.handle)
        }
    }

    /// Makes ids jump in the draft, records it in the log, and makes it one complete
    /// file.
    private func complete(
        _ copy: DatabaseFile, _ present: ReplacedQueue?, _ replaced: RestoredQueue.Replaced
    ) throws(AlertError) -> (AuditHead, RestoredQueue) {
        let completed = try storing("complete the copy of the backup") {
            let database = try copy.openExisting(continuing: end)
            let db = database.handle
            try db.run("BEGIN IMMEDIATE")
            try database.schema.run()
            // No queue comes that far: somebody has changed the number.
            let known = present.map(\.lastID).flatMap { $0 < .max / 2 ? $0 : nil }
            let last = max(try db.lastID(), known ?? 0)
            // If the queue is unreadable, the earlier jumps are unknown and the jump is random: two
            // restores of the same backup must not assign the same ids.
            let jump = RestoredQueue.jump * (known == nil ? Int64.random(in: 1...4096) : 1)
            guard last < .max - 2 * jump else { throw AlertError.usedUp("alerts") }
            let restored = RestoredQueue(
                backup: end, replaced: replaced, firstAlert: last + jump + 1,
                problems: verified.entriesWithoutAlert)
            try db.change("UPDATE upkeep SET first_id = ?", .integer(restored.firstAlert))
            let context = try WriteContext(db: db, now: clock.now())
            try context.audit(AuditDraft(restored: restored), by: caller)
            for (id, problems) in verified.contradictedAlerts {
                try context.audit(
                    AuditDraft(contradicted: id, because: problems[0].reason), by: caller)
            }
            try context.finish()
            try db.run("COMMIT")
            guard try db.checkpoint(.truncate) else {
                throw AlertError.busy("\(draft.path) is in use by another program")
            }
            return (context.head, restored)
        }
        guard FileIdentity(path: copy.files.wal)?.size ?? 0 == 0 else {
            throw .busy("\(draft.path) is in use by another program")
        }
        for ending in QueueFiles.endings { unlink(draft.path + ending) }
        try draft.sync()
        return completed
    }

    // MARK: - The files

    static let keptEnding = "-replaced-"

    /// Replaces the queue with the draft; returns the files in which the old one is kept.
    private func put(hasPresent: Bool, _ isUnreadable: Bool) throws(AlertError) -> [String] {
        var status = stat()
        let exists = lstat(files.database, &status) == 0
        if exists { draft.takeRights(of: status) }
        guard hasPresent || isUnreadable else {
            try removeWALFiles()
            if exists {
                try draft.replace(files.database)
            } else {
                guard try draft.move(to: files.database) else {
                    throw .busy("another process has created \(files.database); try again")
                }
            }
            try QueueLocation.sync(files.directory)
            return []
        }
        let kept = freeName()
        if !isUnreadable, try exchange(kept) { return [kept] }
        return try link(kept, isUnreadable ? [files.wal, files.journal] : [])
    }

    /// Exchanges the names of both files in one step, so that at no moment the queue has two names
    /// or none; `false` if the file system can't do this; see rename(2), `RENAME_EXCHANGE`.
    private func exchange(_ kept: String) throws(AlertError) -> Bool {
        guard try draft.move(to: kept) else {
            throw .busy("another process has created \(kept); try again")
        }
        do throws(AlertError) {
            // Everything in the log is in the database and on disk. The new database must never be
            // seen together with that log, even after a power loss.
            try removeWALFiles()
            try QueueLocation.sync(files.directory)
            guard clinux_exchange(kept, files.database) == 0 else {
                throw SystemError.current("replace", files.database)
            }
        } catch {
            let isUnknown = [EINVAL, ENOSYS, EOPNOTSUPP].contains {
                error.isReason(of: $0)
            }
            guard rename(kept, draft.path) == 0, isUnknown else { throw error }
            return false
        }
        try leaveNoneBehind()
        return true
    }

    /// Links the old files to second names, and then moves the new file to its name.
    private func link(_ kept: String, _ walFiles: [String]) throws(AlertError) -> [String] {
        var names: [String] = []
        let logs = walFiles.filter { (FileIdentity(path: $0)?.size ?? 0) > 0 }
        for file in [files.database] + logs where FileIdentity(path: file) != nil {
            let name = kept + file.dropFirst(files.database.count)
            guard Glibc.link(file, name) == 0 else { throw SystemError.current("create", name) }
            names.append(name)
        }
        try QueueLocation.sync(files.directory)
        try removeWALFiles()
        try QueueLocation.sync(files.directory)
        try draft.replace(files.database)
        try leaveNoneBehind()
        return names
    }

    /// Removes the files that a reader of the old database created when it found its log missing.
    ///
    /// That reader would see commits to the new database there. Nothing has been committed to it
    /// yet.
    private func leaveNoneBehind() throws(AlertError) {
        if FileIdentity(path: files.wal)?.size ?? 0 == 0 { try removeWALFiles() }
        try QueueLocation.sync(files.directory)
    }

    private func removeWALFiles() throws(AlertError) {
        for file in [files.wal, files.sharedMemory, files.journal] {
            guard unlink(file) == 0 || errno == ENOENT else {
                throw SystemError.current("remove", file)
            }
        }
    }

    private func freeName() -> String {
        let now = Timestamp.text(Timestamp.date(milliseconds: clock.now().wallMilliseconds))
        let time = now.prefix { $0 != "." }.replacing(":", with: "-") + "Z"
        let name = files.database + Self.keptEnding + time
        let isFree = { (name: String) in
            ([""] + QueueFiles.endings).allSatisfy { FileIdentity(path: name + $0) == nil }
        }
        if isFree(name) { return name }
        return (2...1000).map { "\(name)-\($0)" }.first(where: isFree) ?? name
    }
}

extension AlertError {
    /// Whether it was caused by this error of the system.
    fileprivate func isReason(of code: Int32) -> Bool {
        guard case .storage(_, let reason) = self else { return false }
        return reason == String(cString: strerror(code))
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

extension AuditDraft {
    /// A restore concerns the whole queue; its detail names the backup.
    fileprivate init(restored: RestoredQueue) {
        self.init(kind: .restored)
        detail = restored.detail
    }
}
