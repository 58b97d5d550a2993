import FoundationEssentials
import TextFormats

// Maintenance of a queue: copies, the erasure of old texts, and its search index.
extension AlertManager {
    /// Copies the queue into one file, as it is at one moment, while others continue to write.
    ///
    /// The file appears under its name when it is complete, on disk and verified; only its owner may
    /// read it. It is marked as a backup: it can be read and restored, but nothing can be asked or
    /// answered in it.
    /// In a directory it gets a name such as `queue-2026-11-22T10-04-05Z.db`.
    ///
    /// What others write during the copy makes the database's log grow; once the log reaches 48
    /// MiB, new alerts are refused until the copy is done. When the task is cancelled, nothing of
    /// the copy remains.
    ///
    /// ```swift
    /// let report = try await manager.backUp(to: "/var/backups/alertq", keeping: 7)
    /// print(report.path)
    /// ```
    ///
    /// - Parameters:
    ///   - path: The file to create, or a directory to create it in.
    ///   - replacesFile: Whether to replace an existing file.
    ///   - count: In a directory, how many backups of this queue to keep: older ones are removed
    ///     once the new one is on disk. At least 1; `nil` keeps all.
    ///   - progress: Called with the number of pages copied and their total.
    /// - Throws: ``AlertError/storage(operation:_:)``, also if the file already exists;
    ///   ``AlertError/invalid(_:_:)`` for a path that is one of the queue's own files, a count
    ///   without a directory, or a copy that does not verify, which is kept under another name;
    ///   ``AlertError/notPermitted(path:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/inconsistent(_:_:)``, ``AlertError/closed``.
    public func backUp(
        to path: String, replacingFile replacesFile: Bool = false, keeping count: Int? = nil,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) -> BackupReport {
        guard let store = store as? any Backups else {
            throw .storage(operation: "back up \(self.path)", "its store can't be copied")
        }
        return try await store.backUp(
            to: path, replaces: replacesFile, keeping: count, progress)
    }

    /// Erases the texts of alerts that were resolved before a date: titles, messages, labels,
    /// fields, `userInfo`, values, notes, and ids that equal labels.
    ///
    /// Afterwards none of these texts is left in the database or in a file next to it, and the
    /// audit log records whose texts were erased and by whom; it still verifies. Copies elsewhere,
    /// in backups and file system snapshots, are not affected. Alerts whose responses have not been
    /// collected keep their texts, unless they were withdrawn or had no buttons, and name no
    /// handler: these need not be collected. Alerts of other accounts keep their texts too, unless
    /// this process runs as root of their machine. A key still finds its response and still belongs
    /// to what was asked: the log keeps a hash of that.
    ///
    /// Texts are erased in small transactions. Then the file is rewritten, so that nothing of them
    /// is left in places that are no longer used: a file of a gigabyte takes some 15 seconds.
    /// Meanwhile whatever is asked or answered waits, for up to two minutes; a choice on a screen
    /// stays marked until it is stored. On a PostgreSQL server `VACUUM` frees the space of the texts
    /// while others go on, and only the owner of the tables may purge. When the task is cancelled or
    /// the process is killed, erased texts stay erased, and the next purge completes the erasure.
    ///
    /// ```swift
    /// let yearAgo = Date(timeIntervalSinceNow: -365 * 86_400)
    /// let report = try await manager.purge(before: yearAgo)
    /// print(report.erased)
    /// ```
    ///
    /// - Parameters:
    ///   - date: Responses from this date on keep their texts; must not be in the future.
    ///   - dryRun: Whether to report only what would be erased.
    ///   - force: Whether to erase even if the wall clock may be wrong.
    ///   - rewritesFile: Whether the file is rewritten if anything was erased. Without that, erased
    ///     texts may stay in the files until a later purge rewrites them.
    ///   - progress: Called with the progress.
    /// - Throws: ``AlertError/busy(_:)`` if a program keeps reading the database, or a transaction or
    ///   a replication slot of a server is older than the erasure, so that erased texts are still in
    ///   its files: purge again then; and, unless `force` is given, if the wall
    ///   clock may be wrong: if it has been set ahead since the last alert of this boot was asked, or
    ///   if none was, nothing synchronises it, and all of the log is older than the date.
    ///   ``AlertError/storage(operation:_:)`` also if the file can't be rewritten, because less than
    ///   2.2 times its size is free on its file system; nothing has been erased then.
    ///   ``AlertError/invalid(_:_:)``, ``AlertError/inconsistent(_:_:)``, ``AlertError/closed``.
    public func purge(
        before date: Date, dryRun: Bool = false, force: Bool = false, rewritesFile: Bool = true,
        progress: @Sendable (PurgeProgress) -> Void = { _ in }
    ) async throws(AlertError) -> PurgeReport {
        // A date is rounded to a millisecond, which the clock may not have reached yet.
        guard Timestamp.milliseconds(date) <= time.wallMilliseconds + 1 else {
            throw .invalid("date", "\(LocalTime.text(date, .whole)) is in the future")
        }
        if !force, !dryRun, let doubt = try await doubtAboutClock(before: date) {
            throw .busy(doubt + "; nothing was erased")
        }
        guard let store = store as? any Erasing else {
            throw .storage(operation: "erase texts in \(path)", "its store can't erase texts")
        }
        let caller = context.caller
        if dryRun { return try await store.erasable(before: date, by: caller) }
        return try await store.erase(
            before: date, by: caller, rewritesFile: rewritesFile, progress: progress)
    }

    /// The time by which responses are dated, which is not this machine's on a server.
    package var time: ClockReading { (store as? any Erasing)?.time ?? context.clock.now() }

    /// How many entries of the log are looked through for one that tells about this boot.
    private static let clockEntries = 1000
    /// How far the clocks may part while nobody sets one: NTP speeds the wall clock up by at most
    /// one part in 2,000; see adjtimex(2).
    private static let drift = (start: Int64(60_000), part: Int64(2000))

    /// Why the wall clock may be ahead, so that what is older than a date by it is not old; `nil` if
    /// nothing says so.
    package func doubtAboutClock(before date: Date) async throws(AlertError) -> String? {
        let clock = context.clock
        let entries = try await lastEntries(
            Self.clockEntries, of: nil, limit: Self.clockEntries)
        // The queue's time on a server is not this machine's.
        guard let newest = entries.last, newest.boot != ClockReading.serverBoot else { return nil }
        let now = clock.now()
        let time = { LocalTime.text(Timestamp.date(milliseconds: $0), .whole) }
        let told = entries.reversed().lazy.compactMap { entry -> (AuditEntry, Int64)? in
            guard entry.event.kind == .asked, entry.boot.isIdentical(to: now.boot) else {
                return nil
            }
            return entry.asked.map { (entry, $0.bootMilliseconds) }
        }.first
        if let (entry, boot) = told {
            let passed = now.bootMilliseconds.subtractingBounded(boot)
            let expected = Timestamp.milliseconds(entry.event.at).addingBounded(passed)
            let allowed = Self.drift.start.addingBounded(passed / Self.drift.part)
            guard now.wallMilliseconds > expected.addingBounded(allowed) else { return nil }
            return "the clock says \(time(now.wallMilliseconds)), but by the time since entry "
                + "\(entry.event.sequence) of the log it is \(time(expected)): it has been set"
        }
        guard newest.event.at < date, !clock.isSynchronized else { return nil }
        return
            "the clock says \(time(now.wallMilliseconds)), which nothing has synchronised, and the "
            + "newest entry of the log is of \(time(Timestamp.milliseconds(newest.event.at))): it may be wrong"
    }

    /// Whether nothing is left of all that was erased so far, in no file or table.
    package func isErasureComplete() async throws(AlertError) -> Bool {
        try await (store as? any Erasing)?.isErasureComplete() ?? true
    }

    /// The store's maintenance, if it needs any.
    package nonisolated var maintenance: (any Maintenance)? { store as? any Maintenance }

    /// Rebuilds the search index.
    package func rebuildTextIndex(
        progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) {
        // A store without an index has nothing to rebuild.
        try await maintenance?.rebuildTextIndex(progress)
    }
}
