// Asking, with and without waiting for the response.
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
    /// ```swift
    /// let sheet = Alert.sheet("Item", cancel: "Cancel", destructive: "Delete", others: ["Copy"])
    /// try await manager.show(sheet) { sheet, index in
    ///     if index == sheet.destructiveButtonIndex { await deleteEverything() }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - alert: What to ask. With a ``Alert/key`` that was used before, the call joins that
    ///     alert: its closures run, too, unless the response has been collected already.
    ///   - presenters: The names of the presenters that may show it; `nil` means what the alert
    ///     says.
    ///   - delegate: Who hears of this alert on this manager's screen, in place of the manager's
    ///     delegate; held weakly.
    ///   - handler: Code for whichever button is chosen.
    /// - Returns: The alert's id, once the alert is on disk.
    /// - Throws: ``AlertError/invalid(_:_:)``, ``AlertError/keyConflict(_:_:part:)``,
    ///   ``AlertError/tooManyPending(source:limit:)``, ``AlertError/inconsistent(_:_:)``,
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``, ``AlertError/closed``;
    ///   nothing is stored then.
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
    ///   - presenters: The names of the presenters that may show it; `nil` means what the alert
    ///     says.
    ///   - delegate: Who hears of this alert on this manager's screen, in place of the manager's
    ///     delegate; held weakly.
    ///   - responseHandler: Code for the response, whatever it is.
    /// - Returns: The alert's id, once the alert is on disk.
    /// - Throws: what ``show(_:on:delegate:handler:)`` throws.
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
        var alert = alert
        if let presenters { alert.presenters = presenters }
        let asking = try await enqueue(alert, delegate)
        reportIfUnattended(asking, isAwaited: false)
        let mine = AlertClosures(
            alert: alert, asked: asking.enqueued.record, body: body)
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
    /// - Throws: what ``show(_:on:delegate:handler:)`` throws.
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
    /// ```swift
    /// let response = try await manager.ask(
    ///     Alert("Reboot?", buttons: ["Reboot", .cancel("Later")], deadline: .after(.seconds(60))))
    /// if response.outcome == .expired { print("nobody was there") }
    /// ```
    ///
    /// - Parameters:
    ///   - alert: What to ask.
    ///   - delegate: Who hears of this alert on this manager's screen, in place of the manager's
    ///     delegate; held weakly.
    /// - Throws: what ``show(_:on:delegate:handler:)`` throws; `CancellationError` when the task is
    ///   cancelled. ``AlertError/busy(_:)`` and ``AlertError/storage(operation:_:)`` also when the
    ///   deadline has passed and the expiry can't be stored within 5 seconds: the alert stays then.
    public nonisolated func ask(
        _ alert: Alert, delegate: (any AlertManagerDelegate)? = nil
    ) async throws -> Response {
        let asking = try await enqueue(alert, delegate)
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
    /// ```swift
    /// let response = try await manager.ask("Reboot?", buttons: ["Reboot", .cancel("Later")])
    /// print(response.button?.id ?? "nobody chose")
    /// ```
    ///
    /// - Throws: what ``ask(_:delegate:)`` throws.
    public nonisolated func ask(
        _ title: String, message: String? = nil, buttons: [Alert.Button], key: String? = nil
    ) async throws -> Response {
        try await ask(Alert(title, message: message, buttons: buttons, key: key))
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
