import FoundationEssentials

// What any process can do with any alert by its id.
extension AlertManager {
    /// Answers an alert with one of its buttons, as a program does.
    ///
    /// ``Response/by`` is then ``ResolvedBy/program``: only a presenter that has shown the alert,
    /// or the command `alertq answer` in the foreground of its terminal, answers as a person.
    ///
    /// A gateway that carries questions to people elsewhere passes on who answered and what they
    /// had been shown:
    ///
    /// ```swift
    /// let record = try await manager.record(42)
    /// let ana = Caller(Account(uid: 1000, name: "ana"), via: "chat", process: .current)
    /// try await manager.answer(42, button: "Delete", by: ana, seen: record.seen)
    /// ```
    ///
    /// Delegates are notified that the alert leaves the screen, but not of a click.
    ///
    /// - Parameters:
    ///   - id: The alert; it may be any asker's.
    ///   - button: The button's id; ids are compared by their bytes.
    ///   - responder: On whose behalf the program acts; `nil` means this process. The log records
    ///     what the program says, unchecked.
    ///   - seen: The ``AlertRecord/seen`` of what was shown; the answer is refused if the alert
    ///     asks something else. `nil` means that this is not checked.
    ///   - input: The values of the alert's fields, and a note.
    /// - Returns: The record with its response, once that is on disk.
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/noSuchButton(_:button:known:)``,
    ///   ``AlertError/alreadyResolved(_:)``, ``AlertError/late(_:)``, ``AlertError/notAsSeen(_:)``,
    ///   ``AlertError/invalid(_:_:)`` for an impossible responder or digest, and for a value that
    ///   does not fit its field or is missing,
    ///   ``AlertError/inconsistent(_:_:)``, ``AlertError/busy(_:)``,
    ///   ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    @discardableResult
    public func answer(
        _ id: Alert.ID, button: String, by responder: Caller? = nil, seen: String? = nil,
        input: Alert.Input = Alert.Input()
    ) async throws(AlertError) -> AlertRecord {
        try await answer(id, button: button, as: .program, by: responder, seen: seen, input: input)
    }

    /// Answers an alert with the button at an index, as a program does; UIKit's
    /// `dismiss(withClickedButtonIndex:animated:)`.
    ///
    /// ```swift
    /// try await manager.answer(id, buttonAt: alert.firstOtherButtonIndex)
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert; it may be any asker's.
    ///   - index: The button's index, from 0.
    ///   - responder: On whose behalf the program acts; `nil` means this process.
    ///   - seen: The ``AlertRecord/seen`` of what was shown, or `nil`.
    ///   - input: The values of the alert's fields, and a note.
    /// - Returns: The record with its response, once that is on disk.
    /// - Throws: The errors of ``answer(_:button:by:seen:input:)``.
    @discardableResult
    public func answer(
        _ id: Alert.ID, buttonAt index: Int, by responder: Caller? = nil, seen: String? = nil,
        input: Alert.Input = Alert.Input()
    ) async throws(AlertError) -> AlertRecord {
        try await answer(id, .choose(button: index, .program, input), by: responder, seen: seen)
    }

    /// Answers an alert as a person in front of a screen, or as a program.
    @discardableResult
    package func answer(
        _ id: Alert.ID, button: String, as actor: Resolution.Actor, by responder: Caller? = nil,
        seen: String? = nil, input: Alert.Input = Alert.Input()
    ) async throws(AlertError) -> AlertRecord {
        try await answer(id, .chooseID(button, actor, input), by: responder, seen: seen)
    }

    private func answer(
        _ id: Alert.ID, _ resolution: Resolution, by responder: Caller?, seen: String?
    ) async throws(AlertError) -> AlertRecord {
        try responder?.validate()
        return try await resolve(
            id, resolution, seen: try seen.map(AlertRecord.digest), as: responder)
    }

    /// Withdraws an alert that no longer needs an answer.
    ///
    /// ```swift
    /// try await manager.withdraw(id)
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert.
    ///   - force: Whether to withdraw it even if another account asked it, which root may always
    ///     do; ``Response/by`` is then ``ResolvedBy/program``.
    ///   - reason: Why, at most 1 KiB; it is the response's ``Response/note``, which is
    ///     erased with the texts; the log keeps its hash.
    /// - Returns: The record with its response, once that is on disk.
    /// - Throws: The errors of ``answer(_:button:by:seen:input:)``, and
    ///   ``AlertError/notYours(_:owner:)``.
    @discardableResult
    public func withdraw(
        _ id: Alert.ID, force: Bool = false, because reason: String? = nil
    ) async throws(AlertError) -> AlertRecord {
        try await withdraw(id, force ? .forced(.program) : .own(.program), because: reason)
    }

    @discardableResult
    package func withdraw(
        _ id: Alert.ID, _ authority: Resolution.Authority,
        because reason: String? = nil
    ) async throws(AlertError) -> AlertRecord {
        try await resolve(id, .withdraw(authority, because: reason))
    }

    /// How many alerts are withdrawn in one transaction, while other callers wait.
    private static let withdrawalLimit = 500

    /// Withdraws alerts, hundreds of them in one transaction.
    ///
    /// - Parameter onlyIfOrphaned: Whether to leave alone those for which somebody waits by then.
    /// - Returns: For each of them, in their order, its record, or why it is not withdrawn. One that
    ///   was left alone has no response.
    /// - Throws: An error with which none of them is withdrawn.
    package func withdraw(
        _ ids: [Alert.ID], _ authority: Resolution.Authority, because reason: String? = nil,
        onlyIfOrphaned: Bool = false
    ) async throws(AlertError) -> [Result<AlertRecord, AlertError>] {
        let resolution = Resolution.withdraw(
            authority, because: reason, onlyIfOrphaned: onlyIfOrphaned)
        var results: [Result<AlertRecord, AlertError>] = []
        while results.count < ids.count {
            let part = ids[results.count...].prefix(Self.withdrawalLimit)
            do throws(AlertError) {
                let changes = part.map { Change.resolve($0, resolution) }
                for result in try await store.commit(changes, by: context.caller) {
                    if case .success(let receipt) = result, receipt.isNew {
                        passOn(receipt.record)
                    }
                    results.append(result.map(\.record))
                }
            } catch {
                guard !results.isEmpty else { throw error }
                results += ids[results.count...].map { _ in .failure(error) }
            }
        }
        return results
    }

    /// Lets an alert expire before its deadline because nobody has been there to see it: its
    /// default button is applied by policy.
    ///
    /// - Throws: The errors of ``answer(_:button:by:seen:input:)``, and ``AlertError/invalid(_:_:)`` for
    ///   an alert without a default button.
    @discardableResult
    package func expireUnattended(_ id: Alert.ID) async throws(AlertError) -> AlertRecord {
        try await resolve(id, .expireUnattended)
    }

    /// Returns the record of an alert with a response that is on disk, once an expiry is stored.
    ///
    /// - Throws: The errors of ``resolution(of:)``.
    package func settled(_ record: AlertRecord) async throws -> AlertRecord {
        record.isStored ? record : try await resolution(of: record.id)
    }

    /// Cancels an alert on behalf of the system.
    ///
    /// The delegate of the manager that shows it, in any process, may handle the cancel; otherwise
    /// the cancel button is simulated: its action runs, and the outcome is ``Outcome/cancelled``. A
    /// delegate has 5 seconds to respond. While no screen shows the alert, this manager's delegate
    /// is asked.
    ///
    /// ```swift
    /// let record = try await manager.cancel(id)
    /// if record.response?.cancelHandling == .handled { print("a delegate took care of it") }
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert.
    ///   - force: Whether to cancel it even if another account asked it, which root may always do;
    ///     ``Response/by`` is then ``ResolvedBy/program`` instead of ``ResolvedBy/system``.
    /// - Returns: The record with its response, once that is on disk.
    /// - Throws: The errors of ``withdraw(_:force:because:)``.
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
        // Checked before the delegate is asked.
        noteWaitInCallback()
        try authority.check(try await store.record(id), context.caller)
        let onScreen = try await cancelOnScreen(id, authority)
        if case .resolved(let record) = onScreen { return record }
        let record = try await store.record(id)
        var isHandled = false
        // Of one that has ended, the store says how.
        if case .notAsked = onScreen, record.response == nil {
            isHandled = await isCancelHandled(record)
        }
        return try await resolve(id, .cancel(handled: isHandled, authority))
    }

    /// Marks a response as taken by its asker, and returns once that is on disk.
    ///
    /// Repeating this has no effect: only the first time counts. A response that a named handler
    /// has not processed is marked all the same, and the handler no longer runs for it: this
    /// releases responses that nothing will ever handle. Only root may collect the response to
    /// another account's alert.
    ///
    /// ```swift
    /// for record in try await manager.history(HistoryFilter(uncollected: true)) {
    ///     print(record.alert.title, record.response?.button?.title ?? "-")
    ///     try await manager.collect(record.id)
    /// }
    /// ```
    ///
    /// - Parameter id: The alert that has the response.
    /// - Throws: ``AlertError/notFound(_:)`` for an alert that does not exist or has no response,
    ///   ``AlertError/notYours(_:owner:)``, ``AlertError/inconsistent(_:_:)``,
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``, ``AlertError/closed``.
    public func collect(_ id: Alert.ID) async throws(AlertError) {
        try await collect(id, because: nil)
    }

    /// Marks a response as taken; what it returns is new if nobody has done so before.
    ///
    /// - Parameter reason: Why it is not used, for the log.
    @discardableResult
    package func collect(
        _ id: Alert.ID, because reason: EntryReason?
    ) async throws(AlertError) -> Receipt {
        let receipt = try await store.commit(.collect(id, because: reason), by: context.caller)
        guard receipt.record.response != nil else { throw .notFound(id) }
        return receipt
    }

    /// Marks a stale response as taken, so that nobody else gets it; one that a named handler has yet
    /// to see is left to that.
    package nonisolated func collectStale(_ record: AlertRecord) async {
        guard record.response?.collectedAt == nil, record.alert.handler == nil,
            context.mayCollect(record)
        else { return }
        // If that fails, it is refused again the next time.
        _ = try? await store.commit(
            .collect(record.id, because: .stale), by: context.caller)
    }

    /// What a screen has made of a cancel.
    private enum ScreenCancel {
        case resolved(AlertRecord)
        /// Its delegate was asked, but did not respond in time.
        case unanswered
        /// No screen shows the alert and has a delegate, or it left the screen first.
        case notAsked
    }

    /// Lets the screen that shows an alert cancel it.
    private func cancelOnScreen(
        _ id: Alert.ID, _ authority: Resolution.Authority
    ) async throws(AlertError) -> ScreenCancel {
        if screen.shown == id, context.delegates[id] != nil {
            guard !screen.isClearing else { return .notAsked }
            feed(.cancel(id, authority))
        } else {
            guard await store.screens().hasDelegate(for: id) else { return .notAsked }
            try await store.requestCancel(id, authority, by: context.caller)
        }
        let clock = context.clock
        // The screen itself waits no longer for the delegate, and then needs a moment.
        let limit = clock.now().advanced(by: DelegateCalls.patience + .seconds(1))
        while !clock.now().isAtOrAfter(limit) {
            let position = store.position
            // In this order: a screen clears only after it has stored its result.
            var isOnScreen = screen.shown == id
            if !isOnScreen { isOnScreen = await store.screens().hasDelegate(for: id) }
            let record = try await store.record(id)
            if record.response != nil { return .resolved(record) }
            guard isOnScreen else { return .notAsked }
            // In a task of its own: in a cancelled one, this would return at once.
            await Task { await waitForChange(after: position) }.value
        }
        return .unanswered
    }

    private func resolve(
        _ id: Alert.ID, _ resolution: Resolution, seen: [UInt8]? = nil, as other: Caller? = nil
    ) async throws(AlertError) -> AlertRecord {
        let record = try await store.resolve(
            id, resolution, seen: seen, by: other ?? context.caller)
        passOn(record)
        return record
    }
}

// MARK: - Snoozing

extension AlertManager {
    /// Snoozes an alert: afterwards it has its old position in the list again, and is shown in its
    /// account's next round.
    ///
    /// ```swift
    /// try await manager.snooze(42, for: .seconds(3600))
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert; if it is on a screen, it leaves the screen.
    ///   - duration: More than zero, at most 100 years; `nil` means the alert's own snooze time.
    /// - Returns: The record of the waiting alert, with ``AlertRecord/snoozedUntil``.
    /// - Throws: The errors of ``answer(_:button:by:seen:input:)``, and ``AlertError/invalid(_:_:)``.
    @discardableResult
    public func snooze(
        _ id: Alert.ID, for duration: Duration? = nil
    ) async throws(AlertError) -> AlertRecord {
        try await snooze(id, until: duration.map(Alert.Deadline.after))
    }

    /// Snoozes an alert until a date, which follows the wall clock when that is set.
    ///
    /// ```swift
    /// try await manager.snooze(42, until: Date(timeIntervalSinceNow: 86_400))
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert; if it is on a screen, it leaves the screen.
    ///   - date: In the future, at most 100 years away.
    /// - Returns: The record of the waiting alert, with ``AlertRecord/snoozedUntil``.
    /// - Throws: The errors of ``answer(_:button:by:seen:input:)``, and ``AlertError/invalid(_:_:)``.
    @discardableResult
    public func snooze(_ id: Alert.ID, until date: Date) async throws(AlertError) -> AlertRecord {
        try await snooze(id, until: .at(date))
    }

    private func snooze(
        _ id: Alert.ID, until end: Alert.Deadline?
    ) async throws(AlertError) -> AlertRecord {
        let record = try await store.snooze(id, until: end, by: context.caller)
        feed(.snoozed(id))
        return record
    }
}

// MARK: - Claims

extension AlertManager {
    /// Says that somebody deals with an alert that waits, so that others need not.
    ///
    /// A claim answers nothing and gives no right: anybody who may answer still can. It lapses by
    /// itself, and ends with the alert. Claiming again sets a new end.
    ///
    /// ```swift
    /// let record = try await manager.claim(42, for: .seconds(3600))
    /// print(record.claim?.by.principal ?? "nobody")
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert.
    ///   - duration: More than zero, at most 100 years; 15 minutes unless it is given.
    ///   - claimant: On whose behalf the program acts; `nil` means this process.
    ///   - force: Whether to take over the claim of somebody else.
    /// - Returns: The record of the waiting alert, with ``AlertRecord/claim``.
    /// - Throws: The errors of ``answer(_:button:by:seen:input:)``, ``AlertError/claimed(_:_:)`` if
    ///   somebody else deals with it, and ``AlertError/invalid(_:_:)``.
    @discardableResult
    public func claim(
        _ id: Alert.ID, for duration: Duration = AlertClaim.length, by claimant: Caller? = nil,
        force: Bool = false
    ) async throws(AlertError) -> AlertRecord {
        try await claim(id, until: .after(duration), by: claimant, force: force)
    }

    /// Says likewise that somebody deals with an alert, until a date, which follows the wall clock
    /// when that is set.
    ///
    /// ```swift
    /// try await manager.claim(42, until: Date(timeIntervalSinceNow: 3600))
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert.
    ///   - date: In the future, at most 100 years away.
    ///   - claimant: On whose behalf the program acts; `nil` means this process.
    ///   - force: Whether to take over the claim of somebody else.
    /// - Returns: The record of the waiting alert, with ``AlertRecord/claim``.
    /// - Throws: The errors of ``claim(_:for:by:force:)``.
    @discardableResult
    public func claim(
        _ id: Alert.ID, until date: Date, by claimant: Caller? = nil, force: Bool = false
    ) async throws(AlertError) -> AlertRecord {
        try await claim(id, until: .at(date), by: claimant, force: force)
    }

    /// Claims an alert until an end, for the usual time if that is `nil`.
    @discardableResult
    package func claim(
        _ id: Alert.ID, until end: Alert.Deadline?, by claimant: Caller? = nil, force: Bool
    ) async throws(AlertError) -> AlertRecord {
        try claimant?.validate()
        return try await store.commit(
            .claim(id, until: end, isForced: force), by: claimant ?? context.caller
        ).record
    }

    /// Says that nobody deals with an alert any more; without a claim this has no effect.
    ///
    /// ```swift
    /// try await manager.release(42)
    /// ```
    ///
    /// - Parameters:
    ///   - id: The alert.
    ///   - claimant: On whose behalf the program acts; `nil` means this process.
    ///   - force: Whether to end the claim of somebody else.
    /// - Returns: The record of the waiting alert.
    /// - Throws: The errors of ``claim(_:for:by:force:)``.
    @discardableResult
    public func release(
        _ id: Alert.ID, by claimant: Caller? = nil, force: Bool = false
    ) async throws(AlertError) -> AlertRecord {
        try claimant?.validate()
        return try await store.commit(
            .release(id, isForced: force), by: claimant ?? context.caller
        ).record
    }
}

// MARK: - Commands that an answer allows to run

extension AlertManager {
    /// Uses an answer to start a command: marks it as collected, and logs the start.
    ///
    /// - Parameter allowsDefault: Whether a default button that was applied at the deadline is
    ///   enough.
    /// - Throws: The errors of ``collect(_:)``; the command must not start then.
    package func startRun(
        _ id: Alert.ID, allowsDefault: Bool
    ) async throws(AlertError) -> RunPermission {
        let receipt = try await store.commit(
            .run(id, .started(allowsDefault: allowsDefault)), by: context.caller)
        return receipt.isNew ? .granted : receipt.unused.map(RunPermission.unusable) ?? .used
    }

    /// Logs how a command ended that an answer allowed to start.
    ///
    /// - Throws: The errors of ``collect(_:)``.
    package func endRun(_ id: Alert.ID, _ end: RunStep) async throws(AlertError) {
        _ = try await store.commit(.run(id, end), by: context.caller)
    }
}
