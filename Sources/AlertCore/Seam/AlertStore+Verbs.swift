import FoundationEssentials

// The store's changes and queries under their own names, as callers think of them.
extension AlertStore {
    /// Makes changes that have no name.
    package nonisolated(nonsending) func commit(
        _ changes: [Change], by caller: Caller, under epoch: Epoch? = nil
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        try await commit(changes, request: nil, by: caller, under: epoch)
    }

    /// Makes one change, and returns once it is on disk.
    ///
    /// - Throws: The errors that ``Change`` names; nothing of the change is stored then.
    package nonisolated(nonsending) func commit(
        _ change: Change, request: IdempotencyKey? = nil, by caller: Caller,
        under epoch: Epoch? = nil
    ) async throws(AlertError) -> Receipt {
        let results = try await commit([change], request: request, by: caller, under: epoch)
        guard let result = results.first else { throw .closed }
        return try result.get()
    }

    /// Stores an alert, or finds the one that its key belongs to.
    package nonisolated(nonsending) func enqueue(
        _ question: Question, request: IdempotencyKey? = nil, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        try await commit(.ask(question), request: request, by: caller)
    }

    /// Gives an alert its response.
    package nonisolated(nonsending) func resolve(
        _ id: Alert.ID, _ resolution: Resolution, seen: [UInt8]? = nil, by caller: Caller
    ) async throws(AlertError) -> AlertRecord {
        try await commit(.resolve(id, resolution, seen: seen), by: caller).record
    }

    package nonisolated(nonsending) func snooze(
        _ id: Alert.ID, until end: Alert.Deadline?, by caller: Caller
    ) async throws(AlertError) -> AlertRecord {
        try await commit(.snooze(id, until: end), by: caller).record
    }

    /// Marks a response as taken by its asker; returns whether it was not marked before.
    @discardableResult
    package nonisolated(nonsending) func collect(
        _ id: Alert.ID, by caller: Caller, under epoch: Epoch? = nil
    ) async throws(AlertError) -> Bool {
        try await commit(.collect(id), by: caller, under: epoch).isNew
    }

    package nonisolated(nonsending) func requestCancel(
        _ id: Alert.ID, _ authority: Resolution.Authority, by caller: Caller
    ) async throws(AlertError) {
        _ = try await commit(.requestCancel(id, authority), by: caller)
    }

    /// Takes the lease on the response of an alert, for its handler or an asker that takes it; `nil`
    /// while that is taken.
    package nonisolated(nonsending) func lease(
        _ id: Alert.ID
    ) async throws(AlertError) -> (any AlertLease)? {
        try await lease(id, for: .handling)
    }

    /// Returns one alert as readers see it.
    package nonisolated(nonsending) func record(
        _ id: Alert.ID
    ) async throws(AlertError) -> AlertRecord {
        try await find(.id(id)).record
    }

    /// Returns the records of a page, all of which have to be readable.
    private nonisolated(nonsending) func records(
        _ query: RecordQuery
    ) async throws(AlertError) -> [AlertRecord] {
        let page = try await page(query)
        if let id = page.unreadable.first {
            _ = try await find(.id(id))
            throw .inconsistent(id, "it was changed while it was read")
        }
        return page.records
    }

    /// Returns the waiting alerts, in the order in which they will be shown.
    package nonisolated(nonsending) func pending(
        source: String? = nil, orOverdue: Bool = false, after: Alert.ID? = nil, limit: Int
    ) async throws(AlertError) -> [AlertRecord] {
        let kind = RecordQuery.Kind.waiting(source: source, orOverdue: orOverdue)
        return try await records(RecordQuery(kind, after: after, limit: limit))
    }

    /// Returns responses, newest first.
    package nonisolated(nonsending) func history(
        _ filter: HistoryFilter, limit: Int, after: Alert.ID? = nil
    ) async throws(AlertError) -> [AlertRecord] {
        try await records(RecordQuery(.history(filter), after: after, limit: limit))
    }

    /// Returns entries of the audit log after one, oldest first.
    package nonisolated(nonsending) func entries(
        after head: AuditHead = .start, of id: Alert.ID? = nil, limit: Int
    ) async throws(AlertError) -> [AuditEntry] {
        try await entries(LogQuery(.after(head), of: id, limit: limit))
    }

    /// Returns entries of the audit log from a number on, oldest first.
    package nonisolated(nonsending) func entries(
        from number: Int64, of id: Alert.ID? = nil, limit: Int
    ) async throws(AlertError) -> [AuditEntry] {
        try await entries(LogQuery(.from(number), of: id, limit: limit))
    }

    /// Returns the end of the audit log; `nil` while it is empty.
    package nonisolated(nonsending) func auditHead() async throws(AlertError) -> AuditHead? {
        try await entries(LogQuery(.last(1), limit: 1)).last?.event.cursor
    }

    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?
    ) async throws(AlertError) -> AuditReport {
        try await verify(expecting: head) { _, _ in }
    }
}
