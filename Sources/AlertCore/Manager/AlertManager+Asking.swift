import TextFormats

// Asking, with and without waiting for the response.
extension AlertManager {
    /// Asks without waiting: stores the alert, and runs its buttons' actions and the handler once
    /// it has its response.
    ///
    /// Actions and the handler run in this process, concurrently with the queue, after the response
    /// is on disk; those of one alert run one after another. They run at least once and must be
    /// idempotent: the response counts as collected only when they have all returned without
    /// throwing. If ``Alert/handler`` names a handler, that runs after them, even if one throws,
    /// and it alone collects the response. The closure `handler` gets the index of the chosen
    /// button, or −1 if no button was chosen. Errors are reported to ``onError(_:)``.
    ///
    /// ```swift
    /// let sheet = Alert.sheet("Item", cancel: "Cancel", destructive: "Delete", others: ["Copy"])
    /// try await manager.show(sheet) { sheet, index in
    ///     if index == sheet.destructiveButtonIndex { await deleteEverything() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - alert: What to ask. With a ``Alert/key`` that was used before, the call joins that
    ///     alert: its closures run too, unless the response has already been collected.
    ///   - presenters: The names of the presenters that may show it; `nil` means those that the
    ///     alert names.
    ///   - delegate: The delegate for this alert instead of the manager's; held weakly.
    ///   - handler: Code that runs for any button.
    /// - Returns: The alert's id, once the alert is on disk.
    /// - Throws: ``AlertError/invalid(_:_:)``, ``AlertError/keyConflict(_:_:part:)``,
    ///   ``AlertError/tooManyPending(source:limit:)``, ``AlertError/inconsistent(_:_:)``,
    ///   ``AlertError/busy(_:)``, ``AlertError/unreachable(_:)`` if a server has been away for a
    ///   minute, ``AlertError/closed``; nothing is stored then.
    ///   ``AlertError/storage(operation:_:)``: on a server it may mean that it is not known whether
    ///   the alert is stored; otherwise nothing is stored.
    @discardableResult
    public nonisolated func show(
        _ alert: Alert, on presenters: [String]? = nil,
        delegate: (any AlertManagerDelegate)? = nil, handler: Handler? = nil
    ) async throws(AlertError) -> Alert.ID {
        var body: AlertClosures.Body?
        if let handler {
            body = { alert, response in try await handler(alert, response.buttonIndex) }
        }
        return try await show(alert, on: presenters, delegate: delegate, body: body)
    }

    /// Asks without waiting, with a handler that gets the response: who decided, and how.
    ///
    /// ```swift
    /// try await manager.show(alert) { response in
    ///     guard response.by == .person, response.button?.id == "Delete" else { return }
    ///     await deleteEverything()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - alert: What to ask.
    ///   - presenters: The names of the presenters that may show it; `nil` means those that the
    ///     alert names.
    ///   - delegate: The delegate for this alert instead of the manager's; held weakly.
    ///   - responseHandler: Code that runs for any response.
    /// - Returns: The alert's id, once the alert is on disk.
    /// - Throws: The errors of ``show(_:on:delegate:handler:)``.
    @discardableResult
    public nonisolated func show(
        _ alert: Alert, on presenters: [String]? = nil,
        delegate: (any AlertManagerDelegate)? = nil,
        responseHandler: @escaping RegisteredHandler
    ) async throws(AlertError) -> Alert.ID {
        try await show(
            alert, on: presenters, delegate: delegate,
            body: { _, response in try await responseHandler(response) })
    }

    private nonisolated func show(
        _ alert: Alert, on presenters: [String]?, delegate: (any AlertManagerDelegate)?,
        body: AlertClosures.Body?
    ) async throws(AlertError) -> Alert.ID {
        var alert = alert.filledIn
        if let presenters { alert.presenters = presenters }
        // Closures end with this process. A named handler, which others may have, does not.
        let isAwaited = alert.handler == nil && AlertClosures.isAny(of: alert, body)
        let question = try await enqueue(alert, delegate, isAwaited: isAwaited)
        await reportIfUnattended(question, isAwaited: false)
        let record = question.record
        let mine = AlertClosures(alert: alert, asked: record, body: body)
        if mine.isEmpty, record.response == nil {
            wake()
        } else {
            await keep(mine, for: question)
        }
        return record.id
    }

    /// Asks with buttons that a configuration closure adds; see ``Alert/ButtonList``.
    ///
    /// ```swift
    /// try await manager.show("Some random error", message: "Delete everything?") { addButton in
    ///     addButton("YES", role: .destructive) { await deleteEverything() }
    ///     addButton("NO", role: .cancel, nil)
    /// }
    /// ```
    ///
    /// - Returns: The alert's id, once the alert is on disk.
    /// - Throws: The errors of ``show(_:on:delegate:handler:)``.
    @discardableResult
    public nonisolated(nonsending) func show(
        _ title: String, message: String? = nil, style: Alert.Style = .alert,
        priority: Alert.Priority = .normal, key: String? = nil,
        configure: (_ addButton: inout Alert.ButtonList) -> Void
    ) async throws(AlertError) -> Alert.ID {
        var list = Alert.ButtonList()
        configure(&list)
        var alert = Alert(title, message: message, style: style, buttons: list.buttons)
        alert.priority = priority
        alert.key = key
        return try await show(alert)
    }

    /// Asks and waits for the response.
    ///
    /// Cancelling the task withdraws the alert unless it has a key: then it stays, and asking again
    /// with the key joins it.
    ///
    /// ```swift
    /// let response = try await manager.ask(
    ///     Alert("Reboot?", buttons: ["Reboot", .cancel("Later")], deadline: .after(.seconds(60))))
    /// if response.outcome == .expired { print("nobody was there") }
    /// ```
    ///
    /// A question may take the place of an earlier one with its key, as when more updates are
    /// available than the waiting question says:
    ///
    /// ```swift
    /// let updates = Alert(
    ///     "Apply 17 updates?", buttons: ["Apply", .cancel("Later")], key: "updates")
    /// if try await manager.ask(updates, replacing: true).buttonIndex == 0 { print("applying") }
    /// ```
    ///
    /// - Parameters:
    ///   - alert: What to ask.
    ///   - replacing: Whether to take the place of the earlier question with the alert's key, which
    ///     is withdrawn in the same transaction if it waits: its ``Response/supersededBy`` is the
    ///     new alert. The same question is joined, unless its answer is stale or it ended without
    ///     one. It requires a key.
    ///   - delegate: The delegate for this alert instead of the manager's; held weakly.
    /// - Throws: The errors of ``show(_:on:delegate:handler:)``; `CancellationError` when the task
    ///   is cancelled; ``AlertError/alreadyResolved(_:)`` where another question, which was to be
    ///   replaced, has an answer that nobody has collected;
    ///   ``AlertError/stale(_:validFor:)`` for the recorded answer to a key that may no longer be
    ///   used, because of ``Alert/validFor``. ``AlertError/busy(_:)`` and
    ///   ``AlertError/storage(operation:_:)`` also when the deadline has passed and the expiry can't
    ///   be stored within 5 seconds: the alert stays then. Once the alert is stored, it waits for a
    ///   server that is away until that is back.
    public nonisolated func ask(
        _ alert: Alert, replacing: Bool = false, delegate: (any AlertManagerDelegate)? = nil
    ) async throws -> Response {
        noteWaitInCallback()
        let question = try await enqueue(
            alert.filledIn, delegate, isAwaited: true, join: replacing ? .replacing : .same)
        await reportIfUnattended(question, isAwaited: true)
        let record = try await outcome(of: question, isKept: alert.key != nil)
        guard let response = record.response else { throw AlertError.notFound(record.id) }
        if response.isStale {
            await collectStale(record)
            throw AlertError.stale(record)
        }
        // A named handler has yet to run, and collects the response.
        if response.collectedAt == nil, record.alert.handler == nil {
            store.post(.collected(record.id), by: context.caller)
        }
        return response
    }

    /// Asks with a title and buttons and waits for the response.
    ///
    /// ```swift
    /// let response = try await manager.ask("Reboot?", buttons: ["Reboot", .cancel("Later")])
    /// print(response.button?.id ?? "nobody chose")
    /// ```
    ///
    /// - Throws: The errors of ``ask(_:replacing:delegate:)``.
    public nonisolated func ask(
        _ title: String, message: String? = nil, buttons: [Alert.Button], key: String? = nil
    ) async throws -> Response {
        try await ask(Alert(title, message: message, buttons: buttons, key: key))
    }
}

// MARK: - Asking for the command

extension AlertManager {
    /// Stores an alert without waiting for its response.
    ///
    /// A joined alert may already be resolved: its record then has the response.
    ///
    /// - Parameters:
    ///   - isAwaited: Whether the caller waits for the response from now on until it has it.
    ///   - join: What becomes of the earlier question with its key.
    ///   - mayBeNew: Whether it is stored if there is nothing to join.
    ///   - request: The caller's name for this call: one with the same name within a day finds what
    ///     became of the first, even if it asks something else.
    package nonisolated func submit(
        _ alert: Alert, isAwaited: Bool = false, join: Question.Join = .same,
        mayBeNew: Bool = true, request: IdempotencyKey? = nil
    ) async throws(AlertError) -> PendingQuestion {
        let question = try await enqueue(
            alert, nil, isAwaited: isAwaited, join: join, mayBeNew: mayBeNew, request: request)
        wake()
        return question
    }

    /// Returns the alert that a source asked with a key, as a principal.
    ///
    /// - Parameter principal: Who asked; `nil` means the account of this process.
    /// - Throws: The errors of ``record(key:)``.
    package nonisolated func record(
        key: String, of source: String, by principal: Principal? = nil
    ) async throws(AlertError) -> AlertRecord {
        let principal = principal ?? context.caller.principal
        return try await store.find(.key(key, source: source, of: principal)).record
    }

    /// Waits until an alert is resolved, also while the server of the queue is away.
    ///
    /// - Throws: ``AlertError/notFound(_:)``; `CancellationError` when the task is cancelled, in
    ///   which case the alert is not changed.
    package func resolution(of id: Alert.ID) async throws -> AlertRecord {
        noteWaitInCallback()
        let before = waiters.resolutionsSeen
        var found = try await findOnceServerIsBack(id)
        if found.isOverdue {
            // Its askers wait until the expiry is stored, as long as a failing disk is tolerated.
            (found.record.state, found.record.response) = (.queued, nil)
        }
        let question = PendingQuestion(
            manager: self, receipt: found, resolutionsBefore: before)
        return try await response(to: question, isKept: true)
    }

    /// Waits for the end of an alert, of which it makes sure that it is still what was asked.
    nonisolated func outcome(
        of question: PendingQuestion, isKept: Bool
    ) async throws -> AlertRecord {
        let record = try await response(to: question, isKept: isKept)
        try record.check(isThatOf: question.record)
        return try await settled(record)
    }

    /// A caller whose task is cancelled does not wait for a server that doesn't answer.
    private nonisolated func findOnceServerIsBack(_ id: Alert.ID) async throws -> Receipt {
        let found = OneShot<Result<Receipt, any Error>>()
        let search = Task { [store] in
            found.deliver(await Self.find(id, in: store))
        }
        return try await withTaskCancellationHandler {
            try await found.value().get()
        } onCancel: {
            search.cancel()
            found.deliver(.failure(CancellationError()))
        }
    }

    private static nonisolated func find(
        _ id: Alert.ID, in store: any AlertStore
    ) async -> Result<Receipt, any Error> {
        while true {
            do throws(AlertError) {
                return .success(try await store.find(.id(id)))
            } catch {
                guard error.isServerAway else { return .failure(error) }
            }
            do { try await Task.sleep(for: .seconds(1)) } catch { return .failure(error) }
        }
    }
}

// MARK: - Storing and waiting

extension AlertManager {
    /// Stores an alert, and remembers a delegate of its own or the manager's for it.
    private nonisolated func enqueue(
        _ alert: Alert, _ delegate: (any AlertManagerDelegate)?, isAwaited: Bool,
        join: Question.Join = .same, mayBeNew: Bool = true, request: IdempotencyKey? = nil
    ) async throws(AlertError) -> PendingQuestion {
        let question = Question(
            alert: alert, source: alert.source ?? source, isAwaited: isAwaited, join: join,
            mayBeNew: mayBeNew)
        guard let delegate = delegate ?? context.delegates.ofManager else {
            return try await enqueue(question, request)
        }
        let pending = try await context.delegates.remembering(delegate) {
            () async throws(AlertError) in try await enqueue(question, request)
        }
        // It may be on another screen, which the log reports.
        await follow(from: pending.receipt.head)
        return pending
    }

    private nonisolated func enqueue(
        _ question: Question, _ request: IdempotencyKey?
    ) async throws(AlertError) -> PendingQuestion {
        guard !isClosed else { throw .closed }
        try question.alert.validate()
        guard question.join == .same || question.alert.key != nil else {
            throw .invalid("key", "is missing: a question replaces the earlier one that has it")
        }
        let before = waiters.resolutionsSeen
        let receipt = try await store.enqueue(question, request: request, by: context.caller)
        return PendingQuestion(manager: self, receipt: receipt, resolutionsBefore: before)
    }

    /// Reports an alert that waits for a missing screen if its asker may not expect that: the alert
    /// names its presenters, or has no button and somebody waits for it.
    private nonisolated func reportIfUnattended(
        _ question: PendingQuestion, isAwaited: Bool
    ) async {
        let record = question.record
        let wanted = record.alert.presenters
        guard record.response == nil, wanted != nil || (isAwaited && record.alert.buttons.isEmpty)
        else { return }
        if await mayShow(record.alert) { return }
        if await store.screens().mayShow(record.alert, record.id) { return }
        context.errors.report(.unattended(record.id, presenters: wanted))
    }

    /// Whether one of the manager's own presenters may show an alert, now or when it has rested.
    func mayShow(_ alert: Alert) -> Bool {
        screen.isOn && alert.mayBeShown(by: screen.presenters.names)
    }

    /// Keeps the closures of an alert until it has its response.
    private func keep(_ mine: AlertClosures, for question: PendingQuestion) async {
        let record = question.record
        if !mine.isEmpty, record.response?.collectedAt == nil {
            tellHandlers(.keep(mine, for: record.id))
            if record.response == nil, closureWaits[record.id] == nil {
                closureWaits[record.id] = waitingLease(on: record.id)
            }
        }
        wake()
        if record.response != nil {
            settle(record)
        } else {
            watch(question)
        }
    }

    private nonisolated func response(
        to question: PendingQuestion, isKept: Bool
    ) async throws -> AlertRecord {
        let record = question.record
        if record.response != nil { return record }
        let wait = Waiters.Wait()
        waiters.add(wait, for: record.id)
        wake()
        // It begins on the same thread as the screen's look, and waits for nothing.
        context.executor.run { self.assumeIsolated { $0.watch(question) } }
        let lease = waitingLease(on: record.id)
        defer { lease.end() }
        return try await withTaskCancellationHandler {
            do {
                return try await wait.value().get()
            } catch let error as CancellationError {
                if !isKept { await withdrawForCancelledTask(record.id) }
                throw error
            }
        } onCancel: {
            wait.deliver(.failure(CancellationError()))
            waiters.remove(wait, for: record.id)
        }
    }

    /// Tells others that something here waits for the response to an alert, which it does all the
    /// same if they can't be told, or not yet.
    private nonisolated func waitingLease(on id: Alert.ID) -> AskerLease {
        AskerLease { [store] () async throws(AlertError) in
            try await store.lease(id, for: .waiting)
        }
    }

    /// Follows what happens to an alert that something here waits for, from its storing on.
    private func watch(_ question: PendingQuestion) {
        follow(from: question.receipt.head)
        guard waiters.mayHaveMissed(since: question.resolutionsBefore) else { return }
        Task.immediate { await lookAgain(at: question.record.id) }
    }

    private func withdrawForCancelledTask(_ id: Alert.ID) async {
        // If another answer was first, or the disk fails, nothing more can be done here: the task
        // is cancelled, and the response, or the alert, can still be found by its id.
        guard let record = try? await store.resolve(id, .withdraw(), by: context.caller)
        else { return }
        passOn(record)
    }
}
