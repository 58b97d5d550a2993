import FoundationEssentials

// What keeps a queue fit: its index of words, and the erasure of old texts.
extension AlertManager {
    /// Gets everything ready for a search by ``HistoryFilter/text``.
    ///
    /// A search does this itself, and so does every presenter now and then. The first search in a
    /// queue of a million responses takes the better part of a minute: call this before it to tell
    /// somebody how far it has come. When the task is cancelled, nothing that is done is lost.
    ///
    /// ```swift
    /// try await manager.prepareTextSearch()
    /// let found = try await manager.history(HistoryFilter(text: "snapshots"))
    /// print(found.map(\.alert.title))
    /// ```
    ///
    /// - Parameter progress: Hears how many of how many responses are done.
    /// - Throws: ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``,
    ///   ``AlertError/closed``.
    public func prepareTextSearch(
        progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) {
        // A store without an index has nothing to prepare.
        try await maintenance?.indexTexts(progress)
    }

    /// Erases the texts of alerts that were resolved before a date: titles, messages, labels and
    /// `userInfo`, and the ids that are labels.
    ///
    /// Afterwards none of them stands in the database or in a file beside it, and the audit log
    /// says whose texts were erased by whom; it still verifies. Copies elsewhere, in backups and
    /// snapshots of file systems, are out of reach. What nobody has collected keeps its texts,
    /// unless it was withdrawn or had no buttons, and names no handler: then nobody has to. What
    /// other accounts asked keeps its texts too, unless this process is root's. A key still finds
    /// its response, and still belongs to what was asked: the log keeps a hash of that.
    ///
    /// It works in small transactions. When the task is cancelled, or the process killed, what is
    /// erased stays erased, and the next purge completes it.
    ///
    /// ```swift
    /// let yearAgo = Date(timeIntervalSinceNow: -365 * 86_400)
    /// let report = try await manager.purge(before: yearAgo)
    /// print(report.erased)
    /// ```
    ///
    /// - Parameters:
    ///   - date: Responses from this time on keep their texts; not in the future.
    ///   - dryRun: Whether only to report what would be done.
    ///   - progress: Hears how far it has come.
    /// - Throws: ``AlertError/busy(_:)`` while a program keeps reading the database, so that erased
    ///   texts are still in its log: purge again then. ``AlertError/invalid(_:_:)``,
    ///   ``AlertError/inconsistent(_:_:)``, ``AlertError/storage(operation:_:)``,
    ///   ``AlertError/closed``.
    public func purge(
        before date: Date, dryRun: Bool = false,
        progress: @Sendable (PurgeProgress) -> Void = { _ in }
    ) async throws(AlertError) -> PurgeReport {
        // A date is rounded to a millisecond, which the clock may not have reached yet.
        guard Timestamp.milliseconds(date) <= context.clock.now().wallMilliseconds + 1 else {
            throw .invalid("date", "\(LocalTime.text(date, .whole)) lies in the future")
        }
        guard let store = store as? any Erasing else {
            throw .storage(operation: "erase texts in \(path)", "its store can't erase any")
        }
        let caller = context.caller
        if dryRun { return try await store.erasable(before: date, by: caller) }
        return try await store.erase(before: date, by: caller, progress: progress)
    }

    /// What keeps the store fit, where it needs that.
    package nonisolated var maintenance: (any Maintenance)? { store as? any Maintenance }

    /// Rebuilds the index of words.
    package func rebuildTextIndex(
        progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) {
        try await maintenance?.emptyTextIndex()
        try await maintenance?.indexTexts(progress)
    }
}
