import FoundationEssentials

// The contents of the queue, its history and its log.
extension AlertManager {
    /// Returns one alert, with everything that has happened to it.
    ///
    /// ```swift
    /// let record = try await manager.record(42)
    /// print(record.alert.title, record.state)
    /// ```
    ///
    /// - Parameter id: The alert; it may be any asker's.
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/inconsistent(_:_:)`` if the audit log
    ///   contradicts it, ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func record(_ id: Alert.ID) async throws(AlertError) -> AlertRecord {
        try await store.record(id)
    }

    /// Returns the alert that this manager's ``source`` asked with a key, as this process's user.
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
        try await record(key: key, of: source)
    }

    /// Returns the waiting alerts, in the order in which they will be shown; snoozed ones come
    /// last.
    ///
    /// All waiting alerts can be read page by page. The order depends on the time: an alert that
    /// moves up, is snoozed or returns between two pages may be missed or repeated; if it was the
    /// last one of the previous page, this may affect others, too.
    ///
    /// ```swift
    /// for record in try await manager.pending(source: "backup", limit: 10) {
    ///     print(record.id, record.alert.title)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - source: The name of the asker; `nil` means all.
    ///   - after: The alert after which to continue: the last one of the previous page, even if it
    ///     no longer waits.
    ///   - limit: The maximum number, from 1 to 10,000; values outside are clamped.
    /// - Throws: ``AlertError/notFound(_:)`` if there is no alert `after`, ``AlertError/closed``,
    ///   ``AlertError/storage(operation:_:)``.
    public func pending(
        source: String? = nil, after: Alert.ID? = nil, limit: Int = 100
    ) async throws(AlertError) -> [AlertRecord] {
        try await store.pending(source: source, after: after, limit: Self.clamped(limit))
    }

    /// Returns a page, on which there may be alerts whose records can't be read.
    package func page(_ query: RecordQuery) async throws(AlertError) -> RecordPage {
        try await store.page(query)
    }

    /// Returns how many alerts wait, snoozed ones included.
    ///
    /// ```swift
    /// if try await manager.pendingCount() > 100 { print("nobody answers") }
    /// ```
    ///
    /// - Throws: ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func pendingCount() async throws(AlertError) -> Int {
        try await store.pendingCount()
    }

    /// Returns responses, newest first, each in the record of its alert.
    ///
    /// ```swift
    /// let filter = HistoryFilter(outcome: .answered, by: .person)
    /// for record in try await manager.history(filter, limit: 10) {
    ///     print(record.alert.title, record.response?.button?.title ?? "-")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - filter: Which responses; all by default.
    ///   - limit: The maximum number, from 1 to 10,000; values outside are clamped.
    ///   - after: The alert after whose response to continue: the last one of the previous page.
    /// - Throws: ``AlertError/notFound(_:)`` if `after` has no response,
    ///   ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func history(
        _ filter: HistoryFilter = HistoryFilter(), limit: Int = 50, after: Alert.ID? = nil
    ) async throws(AlertError) -> [AlertRecord] {
        try await store.history(filter, limit: Self.clamped(limit), after: after)
    }

    /// Counts the alerts asked in some period and how they ended, and how long people took to
    /// answer.
    ///
    /// It reads every alert, in short transactions and bounded memory: about two seconds for a
    /// million. Only answers by people count for how long they took, not those by programs.
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
    ///   - days: When each of the days begins that ``AlertStatistics/days`` counts, and when the
    ///     last one ends, in order: whole quarters of an hour, as midnight is in every time zone.
    ///   - progress: Called with the number of alerts read and their total.
    /// - Throws: ``AlertError/cancelled(_:)`` when the task is cancelled,
    ///   ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func statistics(
        source: String? = nil, since: Date? = nil, until: Date? = nil, days: [Date] = [],
        progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) -> AlertStatistics {
        try await store.statistics(
            StatisticsQuery(source: source, since: since, until: until, days: days), progress)
    }

    /// Returns entries of the audit log after one, oldest first.
    ///
    /// ```swift
    /// for entry in try await manager.audit(of: 42) { print(entry.event.kind, entry.event.at) }
    /// ```
    ///
    /// - Parameters:
    ///   - cursor: The ``AlertEvent/cursor`` of the entry after which to begin; by default the
    ///     beginning of the log.
    ///   - id: The alert whose entries to read; `nil` for all.
    ///   - limit: The maximum number, from 1 to 10,000; values outside are clamped.
    /// - Throws: ``AlertError/unknownCursor(_:end:)`` if the log doesn't have that entry,
    ///   ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func audit(
        after cursor: AuditHead = .start, of id: Alert.ID? = nil, limit: Int = 100
    ) async throws(AlertError) -> [AuditEntry] {
        try await store.entries(after: cursor, of: id, limit: Self.clamped(limit))
    }

    /// Returns the entry of the audit log with a number.
    ///
    /// - Throws: ``AlertError/unknownCursor(_:end:)`` if there is none.
    package func auditEntry(_ number: Int64) async throws(AlertError) -> AuditEntry {
        if let entry = try await store.entries(from: number, limit: 1).first,
            entry.event.sequence == number
        {
            return entry
        }
        let end = try await auditHead()?.sequence ?? 0
        throw .unknownCursor(AuditHead(sequence: number, hash: []), end: end)
    }

    /// Returns the last entries of the audit log, of all alerts or of one, oldest first.
    package func lastEntries(
        _ count: Int, of id: Alert.ID?, limit: Int
    ) async throws(AlertError) -> [AuditEntry] {
        try await store.entries(LogQuery(.last(count), of: id, limit: limit))
    }

    /// Where the queue goes on, as the last entry of its log says; `nil` if it has not moved.
    package func movedTo() async throws(AlertError) -> String? {
        try await lastEntries(1, of: nil, limit: 1).last?.move?.place
    }

    /// Returns the end of the audit log, to be kept outside of the database; `nil` while it is
    /// empty.
    ///
    /// ```swift
    /// if let head = try await manager.auditHead() { print(head.sequence) }
    /// ```
    ///
    /// - Throws: ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func auditHead() async throws(AlertError) -> AuditHead? {
        try await store.auditHead()
    }

    /// Returns a receipt of an alert.
    ///
    /// ```swift
    /// print(try await manager.receipt(of: 42).text())
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert, which still has its texts.
    ///   - head: A head that was kept elsewhere, with which the receipt ends; otherwise it ends with
    ///     the last entry about the alert.
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/unknownCursor(_:end:)`` if the log doesn't
    ///   have the head, ``AlertError/invalid(_:_:)`` if the head is older than the alert or the texts
    ///   have been erased, ``AlertError/inconsistent(_:_:)`` if the log was changed,
    ///   ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func receipt(
        of id: Alert.ID, through head: AuditHead? = nil
    ) async throws(AlertError) -> AlertReceipt {
        try await receipt(of: id, through: head, atMost: .max)
    }

    /// Returns a receipt of an alert, of at most `limit` entries.
    package func receipt(
        of id: Alert.ID, through head: AuditHead?, atMost limit: Int64
    ) async throws(AlertError) -> AlertReceipt {
        let found = try await store.find(.id(id))
        let part = "receipt of alert \(id)"
        guard let salt = found.record.salt else {
            throw .invalid(part, "can't be made: the texts of the alert have been erased")
        }
        // The record has nothing of what has come since.
        let newest = min(found.head.sequence, head?.sequence ?? .max)
        var own: [AuditEntry] = []
        while true {
            let last = own.last?.event.cursor ?? .start
            let page = try await store.entries(after: last, of: id, limit: Self.receiptPage)
            own += page.filter { $0.event.sequence <= newest }
            guard page.count == Self.receiptPage, own.last?.hash == page.last?.hash else { break }
        }
        guard let first = own.first, let last = own.last else {
            throw .invalid(part, "can't end with an entry that is older than the alert")
        }
        let end = head?.sequence ?? last.event.sequence
        guard end - first.event.sequence < limit else {
            throw .invalid(
                part,
                "has a chain of more than \(limit) entries: use alertq receipt on the host "
                    + "of the queue")
        }
        var chain = AlertReceipt.Chain(of: id, from: first)
        while chain.head.sequence < end {
            let left = end - chain.head.sequence
            let page = try await store.entries(
                after: chain.head, limit: Int(min(left, Int64(Self.receiptPage))))
            for entry in page {
                try chain.add(entry)
                if let head, entry.event.sequence == head.sequence, entry.hash != head.hash {
                    throw .unknownCursor(head, end: found.head.sequence)
                }
            }
            guard !page.isEmpty else {
                throw .unknownCursor(head ?? last.event.cursor, end: found.head.sequence)
            }
        }
        let receipt = AlertReceipt(of: found.record, salt: salt, chain)
        try receipt.check(expecting: head)
        return receipt
    }

    private static let receiptPage = 1000

    /// Recomputes the chain of the audit log, and compares alerts and responses with it.
    ///
    /// ```swift
    /// let report = try await manager.verifyAudit()
    /// for problem in report.problems { print(problem) }
    /// ```
    ///
    /// - Parameter head: A head that was saved earlier and must still be part of the log.
    /// - Returns: The result; damage is reported, not thrown.
    /// - Throws: ``AlertError/cancelled(_:)`` when the task is cancelled, ``AlertError/closed``,
    ///   ``AlertError/storage(operation:_:)``.
    public func verifyAudit(
        expecting head: AuditHead? = nil
    ) async throws(AlertError) -> AuditReport {
        try await store.verify(expecting: head)
    }

    /// Recomputes the chain, and reports how many entries have been checked, and their total.
    ///
    /// - Throws: ``AlertError/cancelled(_:)`` when the task is cancelled, and the errors of
    ///   ``verifyAudit(expecting:)``.
    package func verifyAudit(
        expecting head: AuditHead?,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        try await store.verify(expecting: head, progress)
    }

    private static func clamped(_ limit: Int) -> Int { min(max(limit, 1), 10_000) }
}

extension AlertManager {
    /// Calls a function for each alert that waits, in no particular order and in bounded memory; an
    /// alert may come twice, or be missed, if the order changes meanwhile.
    package func forEachWaiting(
        source: String? = nil, _ body: (AlertRecord) -> Void
    ) async throws(AlertError) {
        let pageLength = 1000
        var page: [AlertRecord] = []
        repeat {
            page = try await pending(source: source, after: page.last?.id, limit: pageLength)
            page.forEach(body)
        } while page.count == pageLength
    }
}
