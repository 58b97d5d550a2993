// The five ways to ask.
extension AlertManager {
    /// Asks without waiting: stores the alert, and runs its buttons' actions and the handler when
    /// it has its response.
    ///
    /// Actions and the handler run in this process, beside the queue, after the response is on
    /// disk, each alert's one after the other. They run at least once, and must be idempotent: the
    /// response counts as collected only when they have returned without throwing, and so has the
    /// handler that ``Alert/handler`` names, if it names one. The handler gets the index of the
    /// chosen button, or −1 where no button was chosen. Errors are reported to ``onError(_:)``.
    ///
    /// - Parameters:
    ///   - alert: What to ask. With a ``Alert/key`` that was used before, the call joins that
    ///     alert: its closures run, too, unless the response has been collected already.
    ///   - presenters: The names of the presenters that may show it; `nil` means what the alert
    ///     says.
    ///   - handler: Code for whichever button is chosen.
    /// - Returns: The alert's id, once the alert is on disk.
    /// - Throws: ``AlertError/invalid(_:_:)``, ``AlertError/keyConflict(_:_:part:)``,
    ///   ``AlertError/tooManyPending(source:limit:)``, ``AlertError/inconsistent(_:_:)``,
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``, ``AlertError/closed``;
    ///   nothing is stored then.
    @discardableResult
    public nonisolated func show(
        _ alert: Alert, on presenters: [String]? = nil, handler: Handler? = nil
    ) async throws(AlertError) -> Alert.ID {
        var alert = alert
        if let presenters { alert.presenters = presenters }
        let asking = try await enqueue(alert)
        reportIfUnattended(asking, isAwaited: false)
        let mine = AlertClosures(
            alert: alert, asked: asking.enqueued.record, handler: handler)
        if mine.isEmpty, asking.enqueued.record.response == nil {
            offer(asking)
        } else {
            await keep(mine, for: asking)
        }
        return asking.enqueued.record.id
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
    /// - Throws: what ``show(_:on:handler:)`` throws.
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

    /// Asks, and waits for the response.
    ///
    /// Cancelling the task withdraws the alert, unless it has a key: then it stays, and asking
    /// again with the key joins it.
    ///
    /// - Throws: what ``show(_:on:handler:)`` throws; `CancellationError` when the task is
    ///   cancelled. ``AlertError/busy(_:)`` and ``AlertError/storage(operation:_:)`` also when the
    ///   deadline has passed and the expiry can't be stored within 5 seconds: the alert stays then.
    public nonisolated func ask(_ alert: Alert) async throws -> Response {
        let asking = try await enqueue(alert)
        reportIfUnattended(asking, isAwaited: true)
        let record = try await response(to: asking, isKept: alert.key != nil)
        try record.check(isThatOf: asking.enqueued.record)
        guard let response = record.response else { throw AlertError.notFound(record.id) }
        // A named handler has yet to run: that collects the response.
        if response.collectedAt == nil, record.alert.handler == nil {
            store.collect(record.id, by: caller)
        }
        return response
    }

    /// Asks with a title and buttons, and waits for the response.
    ///
    /// - Throws: what ``ask(_:)`` throws.
    public nonisolated func ask(
        _ title: String, message: String? = nil, buttons: [Alert.Button], key: String? = nil
    ) async throws -> Response {
        try await ask(Alert(title, message: message, buttons: buttons, key: key))
    }

    /// Asks with an enum whose cases are the buttons, and returns the chosen case.
    ///
    /// - Throws: ``AlertError/noChoice(_:)`` when nobody chose: the alert was cancelled, dismissed
    ///   or withdrawn, or expired without a default; and what ``ask(_:)`` throws.
    public nonisolated func ask<Choice: AlertChoice>(
        _ title: String, as choice: Choice.Type, message: String? = nil, key: String? = nil
    ) async throws -> Choice {
        try await ask(Alert(title, message: message, key: key), as: choice)
    }

    /// Asks an alert whose buttons are replaced by the cases of an enum, and returns the chosen
    /// case.
    ///
    /// - Throws: what ``ask(_:as:message:key:)`` throws.
    public nonisolated func ask<Choice: AlertChoice>(
        _ alert: Alert, as choice: Choice.Type
    ) async throws -> Choice {
        var alert = alert
        alert.buttons = Choice.buttons
        let response = try await ask(alert)
        let isChoice = response.outcome == .answered || response.by == .policy
        let chosen = Choice.allCases.first { response.button?.id.isIdentical(to: $0.id) == true }
        guard isChoice, let chosen else { throw AlertError.noChoice(response) }
        return chosen
    }
}

// MARK: - The command's way to ask

extension AlertManager {
    /// Stores an alert without waiting for its response.
    ///
    /// A joined alert may be resolved already: its record then has the response.
    package nonisolated func submit(
        _ alert: Alert
    ) async throws(AlertError) -> (record: AlertRecord, isJoined: Bool) {
        let asking = try await enqueue(alert)
        offer(asking)
        return (asking.enqueued.record, asking.enqueued.isJoined)
    }

    /// Counts what waits on the calling thread, without a manager; after `nil` one has to do it.
    package static func pendingCountAtOnce(path: String) -> Int? {
        SQLiteAlertStore.pendingCountAtOnce(path: path)
    }

    /// Stores an alert on the calling thread, without a manager.
    ///
    /// Only what goes without waiting is done so: after `nil`, which means that nothing was stored,
    /// a manager does it, or says what is in the way.
    package static func submitAtOnce(
        _ alert: Alert, path: String, via: String
    ) throws(AlertError) -> AlertRecord? {
        guard let source = alert.source else { return nil }
        try alert.validate()
        let question = Question(
            alert: alert, source: source, caller: Caller(via: via))
        return try SQLiteAlertStore.enqueueAtOnce(question, path: path)?.record
    }

    /// Waits until an alert is resolved, and keeps its deadline meanwhile.
    ///
    /// - Throws: ``AlertError/notFound(_:)``; `CancellationError` when the task is cancelled, in
    ///   which case the alert stays as it is.
    package func resolution(of id: Alert.ID) async throws -> AlertRecord {
        let before = resolutionsSeen.load(ordering: .acquiring)
        let found = try await store.found(id)
        let asking = Asking(enqueued: found, resolutionsBefore: before)
        return try await response(to: asking, isKept: true)
    }
}

// MARK: - Waiting

/// An alert that has been asked, and whose response may have come already.
private struct Asking: Sendable {
    let enqueued: Enqueued
    /// What ``AlertManager/resolutionsSeen`` was before.
    let resolutionsBefore: UInt64
}

extension AlertManager {
    private nonisolated func enqueue(_ alert: Alert) async throws(AlertError) -> Asking {
        guard !isClosed else { throw .closed }
        try alert.validate()
        let before = resolutionsSeen.load(ordering: .acquiring)
        let enqueued = try await store.enqueue(
            Question(alert: alert, source: alert.source ?? source, caller: caller))
        if enqueued.record.response == nil, let expiry = enqueued.expiry {
            await setAlarm(at: expiry)
        }
        return Asking(enqueued: enqueued, resolutionsBefore: before)
    }

    /// Lets the presentation loop have what was asked.
    private nonisolated func offer(_ asking: Asking) {
        let isFresh = !asking.enqueued.isJoined && !mayHaveResponse(asking)
        fresh.put(isFresh ? asking.enqueued : nil, of: self)
    }

    /// Reports an alert that waits for a screen that is not there, where its asker may not expect
    /// that: the alert names its presenters, or has no button and somebody waits for it.
    private nonisolated func reportIfUnattended(_ asking: Asking, isAwaited: Bool) {
        let record = asking.enqueued.record
        let wanted = record.alert.presenters
        guard record.response == nil, wanted != nil || (isAwaited && record.alert.buttons.isEmpty)
        else { return }
        if fresh.mayBeShown(on: wanted) { return }
        if let holder = store.slotHolder(), holder.isThere, holder.mayShow(on: wanted) { return }
        report(.unattended(record.id, presenters: wanted))
    }

    /// Whether the response may have come before anybody here waited for it.
    private nonisolated func mayHaveResponse(_ asking: Asking) -> Bool {
        resolutionsSeen.load(ordering: .acquiring) != asking.resolutionsBefore
    }

    private func keep(_ mine: AlertClosures, for asking: Asking) {
        let record = asking.enqueued.record
        if !mine.isEmpty, record.response?.collectedAt == nil {
            closures[record.id, default: []].append(mine)
            stayWhileNeeded()
        }
        follow(asking)
        offer(asking)
        if record.response != nil { settle(record) }
    }

    /// Sees to it that this manager hears of the alert's response, and keeps its deadline.
    private func follow(_ asking: Asking) {
        let enqueued = asking.enqueued
        let id = enqueued.record.id
        guard enqueued.record.response == nil, closures[id] != nil || watchers[id] != nil else {
            return
        }
        if let expiry = enqueued.expiry {
            deadlines[id] = expiry
            setAlarm(at: expiry)
        }
        if mayHaveResponse(asking) { Task { await self.lookAgain(at: id) } }
        listen(from: enqueued.sequence)
    }

    private func response(to asking: Asking, isKept: Bool) async throws -> AlertRecord {
        if asking.enqueued.record.response != nil { return asking.enqueued.record }
        offer(asking)
        let id = asking.enqueued.record.id
        nextWatcher += 1
        let watcher = nextWatcher
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    if isClosed {
                        continuation.resume(throwing: AlertError.closed)
                    } else if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        watchers[id, default: [:]][watcher] = continuation
                        follow(asking)
                    }
                }
            } onCancel: {
                Task { await self.stopWatching(id, watcher) }
            }
        } catch let error as CancellationError {
            if !isKept { await withdrawForCancelledTask(id) }
            throw error
        }
    }

    private func stopWatching(_ id: Alert.ID, _ watcher: UInt64) {
        let continuation = watchers[id]?.removeValue(forKey: watcher)
        if watchers[id]?.isEmpty == true { watchers[id] = nil }
        if watchers[id] == nil, closures[id] == nil { deadlines[id] = nil }
        continuation?.resume(throwing: CancellationError())
    }

    private func withdrawForCancelledTask(_ id: Alert.ID) async {
        do {
            let record = try await store.resolve(id, .withdraw(), by: caller)
            noteResolved(record)
        } catch {
            // Somebody answered first, or the disk failed: the task is gone, and the alert's
            // response, or the alert, can still be found by its id.
        }
    }

    private func lookAgain(at id: Alert.ID) async {
        do throws(AlertError) {
            // An expiry that nobody has stored is no response yet.
            let record = try await store.found(id).record
            if record.response != nil { noteResolved(record) }
        } catch {
            if case .inconsistent = error { refuse(id, error) }
        }
    }
}
