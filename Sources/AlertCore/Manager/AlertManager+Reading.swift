import FoundationEssentials

// What is in the queue, its history and its log.
extension AlertManager {
    /// One alert, with everything that has become of it.
    ///
    /// ```swift
    /// let record = try await manager.record(42)
    /// print(record.alert.title, record.state)
    /// ```
    ///
    /// - Parameter id: The alert; any asker's.
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/inconsistent(_:_:)`` if the audit log
    ///   contradicts it, ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func record(_ id: Alert.ID) async throws(AlertError) -> AlertRecord {
        try await store.record(id)
    }

    /// The alert that this manager's ``source`` asked with a key, as this process's user.
    ///
    /// ```swift
    /// let record = try await manager.record(key: "update-2026-11")
    /// if let response = record.response { print(response.outcome) }
    /// ```
    ///
    /// - Parameter key: The key; keys are compared by their bytes.
    /// - Throws: ``AlertError/keyNotFound(_:)``, ``AlertError/inconsistent(_:_:)`` if the audit log
    ///   contradicts it, ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func record(key: String) async throws(AlertError) -> AlertRecord {
        try await store.find(
            .key(key, source: source, uid: context.caller.identity.uid)
        ).record
    }

    /// What waits, in the order in which it will be shown; snoozed alerts come last.
    ///
    /// Page by page it reaches all that waits. The order follows the time: what moves up, is
    /// snoozed or comes back between two pages may be missed or come again, and where that is the
    /// last one of the page before, so may others.
    ///
    /// ```swift
    /// for record in try await manager.pending(source: "backup", limit: 10) {
    ///     print(record.id, record.alert.title)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: The name of the asker; `nil` means all.
    ///   - after: The alert after which to go on; the last one of the page before, whether it still
    ///     waits or not.
    ///   - limit: How many at most, from 1 to 10,000; a number beyond that counts as the nearest of
    ///     these.
    /// - Throws: ``AlertError/notFound(_:)`` if there is no alert `after`, ``AlertError/closed``,
    ///   ``AlertError/storage(operation:_:)``.
    public func pending(
        source: String? = nil, after: Alert.ID? = nil, limit: Int = 100
    ) async throws(AlertError) -> [AlertRecord] {
        try await store.pending(source: source, after: after, limit: Self.clamped(limit))
    }

    /// How many alerts wait, snoozed ones included.
    ///
    /// ```swift
    /// if try await manager.pendingCount() > 100 { print("nobody answers") }
    /// ```
    ///
    /// - Throws: ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func pendingCount() async throws(AlertError) -> Int {
        try await store.pendingCount()
    }

    /// Responses, newest first, each in the record of its alert.
    ///
    /// ```swift
    /// let filter = HistoryFilter(outcome: .answered, by: .person)
    /// for record in try await manager.history(filter, limit: 10) {
    ///     print(record.alert.title, record.response?.button?.title ?? "-")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - filter: Which responses; all of them unless given.
    ///   - limit: How many at most, from 1 to 10,000; a number beyond that counts as the nearest of
    ///     these.
    ///   - after: The alert after whose response to go on; the last one of the page before.
    /// - Throws: ``AlertError/notFound(_:)`` if `after` has no response,
    ///   ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func history(
        _ filter: HistoryFilter = HistoryFilter(), limit: Int = 50, after: Alert.ID? = nil
    ) async throws(AlertError) -> [AlertRecord] {
        try await store.history(filter, limit: Self.clamped(limit), after: after)
    }

    /// What became of the alerts that were asked in some time, and how long people took.
    ///
    /// It looks at every alert, in short transactions and bounded memory: about two seconds for
    /// a million. Only answers by persons count for how long they took, not those of programs.
    ///
    /// ```swift
    /// let statistics = try await manager.statistics(source: "backup")
    /// print(statistics.total.asked)
    /// ```
    ///
    /// - Parameters:
    ///   - source: The name of the asker; `nil` means all.
    ///   - since: The earliest time of asking, inclusive; `nil` means from the beginning.
    ///   - until: The latest time of asking, exclusive; `nil` means until now.
    ///   - progress: Hears how many of how many alerts have been looked at.
    /// - Throws: ``AlertError/busy(_:)`` when the task is cancelled,
    ///   ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func statistics(
        source: String? = nil, since: Date? = nil, until: Date? = nil,
        progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) -> AlertStatistics {
        try await store.statistics(
            StatisticsQuery(source: source, since: since, until: until), progress)
    }

    /// Entries of the audit log after a sequence number, oldest first.
    ///
    /// ```swift
    /// for entry in try await manager.audit(of: 42) { print(entry.event.kind, entry.event.at) }
    /// ```
    ///
    /// - Parameters:
    ///   - sequence: The entry after which to begin; 0 for the first.
    ///   - id: The alert whose story to read; `nil` for all.
    ///   - limit: How many at most, from 1 to 10,000; a number beyond that counts as the nearest of
    ///     these.
    /// - Throws: ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func audit(
        after sequence: Int64 = 0, of id: Alert.ID? = nil, limit: Int = 100
    ) async throws(AlertError) -> [AuditEntry] {
        try await store.entries(after: sequence, of: id, limit: Self.clamped(limit))
    }

    /// The last entries of the audit log, of all or of one alert, oldest first.
    package func lastEntries(
        _ count: Int, of id: Alert.ID?, limit: Int
    ) async throws(AlertError) -> [AuditEntry] {
        try await store.entries(LogQuery(.last(count), of: id, limit: limit))
    }

    /// The end of the audit log, to be kept outside the database; `nil` while the log is empty.
    ///
    /// ```swift
    /// if let head = try await manager.auditHead() { print(head.sequence) }
    /// ```
    ///
    /// - Throws: ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func auditHead() async throws(AlertError) -> AuditHead? {
        try await store.auditHead()
    }

    /// Recomputes the chain of the audit log, and compares alerts and responses with it.
    ///
    /// ```swift
    /// let report = try await manager.verifyAudit()
    /// for problem in report.problems { print(problem) }
    /// ```
    ///
    /// - Parameter head: An end that was saved earlier, which must still be part of the log.
    /// - Returns: What was found; damage is in the report, not thrown.
    /// - Throws: ``AlertError/busy(_:)`` when the task is cancelled, ``AlertError/closed``,
    ///   ``AlertError/storage(operation:_:)``.
    public func verifyAudit(
        expecting head: AuditHead? = nil
    ) async throws(AlertError) -> AuditReport {
        try await store.verify(expecting: head)
    }

    /// Recomputes the chain, and tells how many of how many entries have been checked.
    ///
    /// - Throws: ``AlertError/busy(_:)`` when the task is cancelled, and what
    ///   ``verifyAudit(expecting:)`` throws.
    package func verifyAudit(
        expecting head: AuditHead?,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        try await store.verify(expecting: head, progress)
    }

    private static func clamped(_ limit: Int) -> Int { min(max(limit, 1), 10_000) }
}
