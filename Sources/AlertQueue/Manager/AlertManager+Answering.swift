import FoundationEssentials

// What any process can do with any alert, by its id.
extension AlertManager {
    /// Answers an alert with one of its buttons, as a program does.
    ///
    /// ``Response/by`` is then ``ResolvedBy/program``: only a presenter that has shown the alert
    /// answers as a person, or the command `alertq answer` in the foreground of its terminal.
    ///
    /// - Parameters:
    ///   - id: The alert, whoever asked it.
    ///   - button: The button's id; ids are compared by their bytes.
    /// - Returns: The record with its response, once that is on disk.
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/noSuchButton(_:button:known:)``,
    ///   ``AlertError/alreadyResolved(_:)``, ``AlertError/late(_:)``,
    ///   ``AlertError/inconsistent(_:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    @discardableResult
    public func answer(
        _ id: Alert.ID, button: String
    ) async throws(AlertError) -> AlertRecord {
        try await answer(id, button: button, as: .program)
    }

    /// Answers an alert as a person in front of a screen, or as a program.
    @discardableResult
    package func answer(
        _ id: Alert.ID, button: String, as actor: Resolution.Actor
    ) async throws(AlertError) -> AlertRecord {
        try await resolve(id, .chooseID(button, actor))
    }

    /// Takes an alert back that nobody needs to answer any more.
    ///
    /// - Parameters:
    ///   - id: The alert.
    ///   - force: Whether to take it back though another account asked it, which root always may;
    ///     ``Response/by`` is then ``ResolvedBy/program``.
    /// - Returns: The record with its response, once that is on disk.
    /// - Throws: what ``answer(_:button:)`` throws, and ``AlertError/notYours(_:owner:)``.
    @discardableResult
    public func withdraw(
        _ id: Alert.ID, force: Bool = false
    ) async throws(AlertError) -> AlertRecord {
        try await withdraw(id, force ? .forced(.program) : .own(.program))
    }

    @discardableResult
    package func withdraw(
        _ id: Alert.ID, _ authority: Resolution.Authority
    ) async throws(AlertError) -> AlertRecord {
        try await resolve(id, .withdraw(authority))
    }

    /// Lets an alert expire before its deadline, because nobody has been there to see it: its
    /// default button is applied by policy.
    ///
    /// - Throws: what ``answer(_:button:)`` throws, and ``AlertError/invalid(_:_:)`` for an alert
    ///   without a default button.
    @discardableResult
    package func expireUnattended(_ id: Alert.ID) async throws(AlertError) -> AlertRecord {
        try await resolve(id, .expireUnattended)
    }

    /// The record of an alert with a response that is on disk: an expiry that nobody has stored yet
    /// is stored first.
    ///
    /// - Throws: what ``answer(_:button:)`` throws.
    package func settled(_ record: AlertRecord) async throws(AlertError) -> AlertRecord {
        guard record.response?.outcome == .expired, record.response?.collectedAt == nil else {
            return record
        }
        // What is stored need not wait for the lock.
        let stored = try await store.found(record.id).record
        return stored.response == nil ? try await store.expire(record.id) : stored
    }

    /// Cancels an alert in the name of the system.
    ///
    /// The delegate of the manager that shows it may handle that, in any process; otherwise the
    /// cancel button is simulated: its action runs, and the outcome is ``Outcome/cancelled``. A
    /// delegate is given 5 seconds.
    ///
    /// - Parameters:
    ///   - id: The alert.
    ///   - force: Whether to cancel it though another account asked it, which root always may;
    ///     ``Response/by`` is then ``ResolvedBy/program`` instead of ``ResolvedBy/system``.
    /// - Returns: The record with its response, once that is on disk.
    /// - Throws: what ``withdraw(_:force:)`` throws.
    @discardableResult
    public func cancel(
        _ id: Alert.ID, force: Bool = false
    ) async throws(AlertError) -> AlertRecord {
        try await cancel(id, force ? .forced(.program) : .own(.program))
    }

    @discardableResult
    package func cancel(
        _ id: Alert.ID, _ authority: Resolution.Authority
    ) async throws(AlertError) -> AlertRecord {
        // Before the delegate is asked.
        try authority.check(try await store.record(id), caller)
        let isShown = showing?.id == id
        if let record = try await cancelOnScreen(id, authority) { return record }
        let record = try await store.record(id)
        if let response = record.response { throw .alreadyResolved(response) }
        // The delegate has been asked already if the alert was on this manager's screen.
        let isHandled = !isShown && delegate?.cancel(record) == .handled
        return try await resolve(
            id, .cancel(handled: isHandled, authority))
    }

    /// Marks a response as taken by its asker, and returns once that is on disk.
    ///
    /// Doing so again changes nothing: the first time counts. A response that a named handler has
    /// not worked on is marked all the same, and the handler does not run for it any more: this is
    /// the way to release what nobody will ever handle.
    ///
    /// - Parameter id: The alert that has the response.
    /// - Throws: ``AlertError/notFound(_:)`` for an alert that does not exist or has no response,
    ///   ``AlertError/inconsistent(_:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func collect(_ id: Alert.ID) async throws(AlertError) {
        guard try await store.record(id).response != nil else { throw .notFound(id) }
        _ = try await store.collectNow(id, by: caller)
    }

    /// Has the screen that shows an alert cancel it; `nil` if none with a delegate does.
    private func cancelOnScreen(
        _ id: Alert.ID, _ authority: Resolution.Authority
    ) async throws(AlertError) -> AlertRecord? {
        if showing?.id == id {
            cancelShown(id, authority)
        } else {
            guard let holder = store.slotHolder(), holder.alert == id, holder.hasDelegate else {
                return nil
            }
            try await store.requestCancel(id, authority, by: caller)
        }
        let limit = clock.now().advanced(by: .seconds(5))
        while !clock.now().isAtOrAfter(limit) {
            let seen = store.changeCount
            // In this order: a screen clears only after it has stored what it did.
            let isOnScreen = showing?.id == id || store.slotHolder()?.alert == id
            let record = try await store.record(id)
            if record.response != nil { return record }
            // Nobody will handle the cancel any more.
            guard isOnScreen else { return nil }
            await store.waitForChange(after: seen)
        }
        return nil
    }

    private func resolve(
        _ id: Alert.ID, _ resolution: Resolution
    ) async throws(AlertError) -> AlertRecord {
        let record = try await store.resolve(id, resolution, by: caller)
        noteResolved(record)
        return record
    }
}

// MARK: - Reading

extension AlertManager {
    /// One alert, with everything that has become of it.
    ///
    /// - Parameter id: The alert, whoever asked it.
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/inconsistent(_:_:)`` if the audit log
    ///   contradicts it, ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func record(_ id: Alert.ID) async throws(AlertError) -> AlertRecord {
        try await store.record(id)
    }

    /// The alert that this manager's ``source`` asked with a key, as this process's user.
    ///
    /// - Parameter key: The key; keys are compared by their bytes.
    /// - Throws: ``AlertError/keyNotFound(_:)``, ``AlertError/inconsistent(_:_:)`` if the audit log
    ///   contradicts it, ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func record(key: String) async throws(AlertError) -> AlertRecord {
        try await store.record(key: key, source: source, of: caller)
    }

    /// What waits, in the order in which it will be shown; snoozed alerts come last.
    ///
    /// Page by page it reaches all that waits. The order follows the time: alerts that wait long
    /// move up, and one that does so between two pages may be missed or come again.
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
    /// - Throws: ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func pendingCount() async throws(AlertError) -> Int {
        try await store.pendingCount()
    }

    /// Responses, newest first, each in the record of its alert.
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
        await sweepForReading()
        return try await store.history(filter, limit: Self.clamped(limit), after: after)
    }

    /// Overdue alerts belong to the history, and this is a writer: it stores them first.
    private func sweepForReading() async {
        // If they can't be stored now, what is stored can still be read.
        try? await storeOverdue()
    }

    /// What became of the alerts that were asked in some time, and how long people took.
    ///
    /// It looks at every alert, in short transactions and bounded memory: about two seconds for
    /// a million. Only answers by persons count for how long they took, not those of programs.
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
        await sweepForReading()
        return try await store.statistics(source: source, since: since, until: until, progress)
    }

    /// Entries of the audit log after a sequence number, oldest first.
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
        try await store.audit(after: sequence, of: id, limit: Self.clamped(limit))
    }

    /// The sequence number after which the last entries begin, of all or of one alert.
    package func auditPlace(
        beforeLast count: Int, of id: Alert.ID?
    ) async throws(AlertError) -> Int64 {
        try await store.auditPlace(beforeLast: count, of: id)
    }

    /// The end of the audit log, to be kept outside the database; `nil` while the log is empty.
    ///
    /// - Throws: ``AlertError/closed``, ``AlertError/storage(operation:_:)``.
    public func auditHead() async throws(AlertError) -> AuditHead? {
        try await store.auditHead()
    }

    /// Recomputes the chain of the audit log, and compares alerts and responses with it.
    ///
    /// - Parameter head: An end that was saved earlier, which must still be part of the log.
    /// - Returns: What was found; damage is in the report, not thrown.
    /// - Throws: ``AlertError/busy(_:)`` when the task is cancelled, ``AlertError/closed``,
    ///   ``AlertError/storage(operation:_:)``.
    public func verifyAudit(
        expecting head: AuditHead? = nil
    ) async throws(AlertError) -> AuditReport {
        try await store.verifyAudit(expecting: head) { _, _ in }
    }

    /// Recomputes the chain, and tells how many of how many entries have been checked.
    ///
    /// - Throws: ``AlertError/busy(_:)`` when the task is cancelled, and what
    ///   ``verifyAudit(expecting:)`` throws.
    package func verifyAudit(
        expecting head: AuditHead?,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        try await store.verifyAudit(expecting: head, progress)
    }

    /// What is wrong with the database file as such: ten sentences at most, none if it is whole.
    package func structuralDamage() async throws(AlertError) -> [String] {
        try await store.structuralDamage()
    }

    private static func clamped(_ limit: Int) -> Int { min(max(limit, 1), 10_000) }
}
