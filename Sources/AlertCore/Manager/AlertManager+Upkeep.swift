import FoundationEssentials

// Maintenance of a queue: its search index, and the erasure of old texts.
extension AlertManager {
    /// Prepares the queue for a search by ``HistoryFilter/text``.
    ///
    /// A search does this itself, and so does every presenter from time to time. The first search
    /// in a queue of a million responses takes the better part of a minute: call this first to
    /// report progress. When the task is cancelled, the work done so far is kept.
    ///
    /// ```swift
    /// try await manager.prepareTextSearch()
    /// let found = try await manager.history(HistoryFilter(text: "snapshots"))
    /// print(found.map(\.alert.title))
    /// ```
    ///
    /// - Parameter progress: Called with the number of responses indexed and their total.
    /// - Throws: ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``,
    ///   ``AlertError/closed``.
    public func prepareTextSearch(
        progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) {
        // A store without an index has nothing to prepare.
        try await maintenance?.indexTexts(progress)
    }

    /// Erases the texts of alerts that were resolved before a date: titles, messages, labels and
    /// `userInfo`, and ids that equal labels.
    ///
    /// Afterwards none of these texts is left in the database or in a file next to it, and the
    /// audit log records whose texts were erased and by whom; it still verifies. Copies elsewhere,
    /// in backups and file system snapshots, are not affected. Alerts whose responses have not been
    /// collected keep their texts, unless they were withdrawn or had no buttons, and name no
    /// handler: these need not be collected. Alerts of other accounts keep their texts too, unless
    /// this process is root's. A key still finds its response and still belongs to what was asked:
    /// the log keeps a hash of that.
    ///
    /// It works in small transactions. When the task is cancelled or the process is killed, erased
    /// texts stay erased, and the next purge completes the erasure.
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
    ///   - progress: Called with the progress.
    /// - Throws: ``AlertError/busy(_:)`` if a program keeps reading the database, so that erased
    ///   texts are still in its log: purge again then. ``AlertError/invalid(_:_:)``,
    ///   ``AlertError/inconsistent(_:_:)``, ``AlertError/storage(operation:_:)``,
    ///   ``AlertError/closed``.
    public func purge(
        before date: Date, dryRun: Bool = false,
        progress: @Sendable (PurgeProgress) -> Void = { _ in }
    ) async throws(AlertError) -> PurgeReport {
        // A date is rounded to a millisecond, which the clock may not have reached yet.
        guard Timestamp.milliseconds(date) <= context.clock.now().wallMilliseconds + 1 else {
            throw .invalid("date", "\(LocalTime.text(date, .whole)) is in the future")
        }
        guard let store = store as? any Erasing else {
            throw .storage(operation: "erase texts in \(path)", "its store can't erase texts")
        }
        let caller = context.caller
        if dryRun { return try await store.erasable(before: date, by: caller) }
        return try await store.erase(before: date, by: caller, progress: progress)
    }

    /// The store's maintenance, if it needs any.
    package nonisolated var maintenance: (any Maintenance)? { store as? any Maintenance }

    /// Rebuilds the search index.
    package func rebuildTextIndex(
        progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) {
        try await maintenance?.emptyTextIndex()
        try await maintenance?.indexTexts(progress)
    }
}
