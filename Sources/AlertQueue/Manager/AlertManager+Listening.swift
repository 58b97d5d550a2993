// Hearing what other processes do.
extension AlertManager {
    /// Follows the audit log from a sequence number, unless that is happening already.
    func listen(from sequence: Int64) {
        guard listener == nil, !isClosed else { return }
        if sequence >= 0 { cursor = sequence }
        listener = Task { await self.followLog() }
    }

    private var hasInterest: Bool {
        !watchers.isEmpty || !closures.isEmpty || !registered.isEmpty || wantsToPresent
    }

    private func followLog() async {
        while !Task.isCancelled, !isClosed, hasInterest {
            let seen = store.newsCount
            leaveIfSlotIsLost()
            do throws(AlertError) {
                try await readNews()
                failingSince = nil
            } catch {
                // A disk that fails now is looked at again with the next change or second.
                giveUpIfLasting(error)
            }
            await store.waitForNews(after: seen)
        }
        listener = nil
        // Somebody may have taken an interest while the last wait ended.
        if hasInterest, !isClosed { listen(from: -1) }
    }

    /// Clears the screen when the slot's file was deleted or replaced: others may show alerts now.
    private func leaveIfSlotIsLost() {
        guard let lease, !lease.isValid else { return }
        showing?.signals.yield(.leave(reason: "the slot was lost"))
        pokes.change()
    }

    /// Ends all waiting when the queue is no longer the one that was opened, or has not been
    /// readable for as long as a writer waits for its turn.
    private func giveUpIfLasting(_ error: AlertError) {
        let since = failingSince ?? clock.now()
        failingSince = since
        let isOver = clock.now().isAtOrAfter(since.advanced(by: .seconds(5)))
        if case .incompatible = error {} else { guard isOver else { return } }
        let waiting = watchers.values.flatMap(\.values)
        watchers.removeAll()
        for watcher in waiting { watcher.resume(throwing: error) }
        showing?.signals.yield(.leave(reason: "the queue can't be read"))
    }

    private func readNews() async throws(AlertError) {
        // What this process did itself has been acted upon already.
        cursor = store.endOfQuiet(after: cursor)
        var page: [AlertEvent]
        repeat {
            page = try await store.events(after: cursor, limit: 256)
            for event in page {
                cursor = max(cursor, event.sequence)
                guard let id = event.alertID else { continue }
                await heard(event.kind, of: id)
            }
        } while page.count == 256
        guard let showing, delegate != nil, !showing.isCancelling else { return }
        if try await store.isCancelRequested(showing.id) { cancelShown(showing.id) }
    }

    /// Has the screen cancel what it shows; the delegate is asked once.
    func cancelShown(_ id: Alert.ID) {
        guard showing?.id == id, showing?.isCancelling == false else { return }
        showing?.isCancelling = true
        showing?.signals.yield(.cancel)
    }

    private func heard(_ kind: AlertEvent.Kind, of id: Alert.ID) async {
        switch kind {
        case .resolved:
            let isAwaited = watchers[id] != nil || closures[id] != nil || showing?.id == id
            guard isAwaited || !registered.isEmpty else {
                unawaited.add(1, ordering: .releasing)
                return
            }
            if let record = try? await store.record(id) { noteResolved(record) }
        case .snoozed:
            if showing?.id == id { showing?.signals.yield(.putOff) }
            pokes.change()
        case .asked:
            pokes.change()
        case .presented, .returned, .collected, .erased:
            break
        }
    }

    /// Passes a response on: to the screen that shows the alert, else to whoever waits for it.
    func noteResolved(_ record: AlertRecord) {
        if let showing, showing.id == record.id {
            showing.signals.yield(.resolved(record))
        } else {
            settle(record)
        }
    }

    /// Hands a response to whoever waits for it in this process.
    func settle(_ record: AlertRecord) {
        let id = record.id
        fresh.remove(id)
        if watchers[id] == nil, closures[id] == nil { unawaited.add(1, ordering: .releasing) }
        deadlines.removeValue(forKey: id)?.cancel()
        for watcher in (watchers.removeValue(forKey: id) ?? [:]).values {
            watcher.resume(returning: record)
        }
        if let mine = closures.removeValue(forKey: id) {
            Task.detached { await self.run(mine, for: record) }
        }
        if let name = record.alert.handler, registered[name] != nil {
            startHandler(name, for: record)
        }
    }

    /// Whether a delegate has handled a cancel, so that nothing else is to run.
    private nonisolated func isHandled(_ response: Response) async throws(AlertError) -> Bool {
        guard response.outcome == .cancelled else { return false }
        return try await store.isHandled(response.alertID)
    }

    /// Runs the closures of an alert, and marks its response as collected if none throws.
    private nonisolated func run(_ closures: AlertClosures, for record: AlertRecord) async {
        guard let response = record.response else { return }
        // While they run, nobody else takes the response for one that nobody cares for.
        let turn = record.alert.handler == nil ? try? store.takeHandlerTurn(record.id) : nil
        defer { turn?.end() }
        do {
            let isHandled = try await isHandled(response)
            if !isHandled {
                let buttons = closures.alert.buttons
                if buttons.indices.contains(response.buttonIndex) {
                    try await buttons[response.buttonIndex].action?()
                }
                try await closures.handler?(closures.alert, response.buttonIndex)
            }
            store.collect(record.id, by: identity.responder(via: via))
        } catch {
            // The response stays uncollected, and can be taken by key or id.
        }
    }
}

// MARK: - Named handlers

extension AlertManager {
    /// How many named handlers run at once.
    private static let concurrentHandlers = 32

    /// Gives code to a handler's name, and runs it for every response of an alert that carries the
    /// name and has not been collected: those of the past now, those of the future as they come.
    ///
    /// The code runs at least once for a response, in one process at a time, beside the queue, and
    /// must be idempotent. The response is collected when it returns; when it throws, the response
    /// stays, and is offered again at the next registration. Registering a name again replaces
    /// its code.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for an empty or oversized name,
    ///   ``AlertError/closed``.
    public func register(
        handler name: String, _ body: @escaping RegisteredHandler
    ) async throws(AlertError) {
        guard !isClosed else { throw .closed }
        try Text.check(name, "handler", limit: Alert.Limit.name)
        registered[name] = body
        failedHandlers = failedHandlers.filter { $0.value != name }
        listen(from: store.knownSequence)
        Task { await self.offerUncollected(to: name) }
    }

    private func offerUncollected(to name: String) async {
        var last: Alert.ID = 0
        while !isClosed, registered[name] != nil {
            guard let page = try? await store.uncollected(handler: name, after: last, limit: 100),
                let end = page.last
            else { return }
            last = end.id
            for record in page {
                while runningHandlers.count >= Self.concurrentHandlers, !isClosed {
                    await pokes.wait(after: pokes.count)
                }
                startHandler(name, for: record)
            }
        }
    }

    private func startHandler(_ name: String, for record: AlertRecord) {
        guard let body = registered[name], failedHandlers[record.id] == nil,
            !runningHandlers.contains(record.id)
        else { return }
        guard runningHandlers.count < Self.concurrentHandlers else {
            // It stands in the database, and is offered when there is room.
            crowdedOut.insert(name)
            return
        }
        runningHandlers.insert(record.id)
        Task.detached {
            let isDone = await self.run(body, for: record.id)
            await self.handlerEnded(name, record.id, isDone: isDone)
        }
    }

    private func handlerEnded(_ name: String, _ id: Alert.ID, isDone: Bool) {
        runningHandlers.remove(id)
        if !isDone {
            // Beyond any use, some may be tried again early rather than memory grow for ever.
            if failedHandlers.count >= 10_000 { failedHandlers.removeAll() }
            failedHandlers[id] = name
        }
        if let waiting = crowdedOut.popFirst() {
            Task { await offerUncollected(to: waiting) }
        }
        pokes.change()
    }

    /// Runs a named handler, unless another process does or has; returns whether it may run again.
    private nonisolated func run(_ body: RegisteredHandler, for id: Alert.ID) async -> Bool {
        do {
            guard let turn = try store.takeHandlerTurn(id) else { return true }
            defer { turn.end() }
            // Another process may have run it just before this one got its turn.
            let record = try await store.record(id)
            guard let response = record.response, response.collectedAt == nil else { return true }
            let isHandled = try await isHandled(response)
            if !isHandled { try await body(response) }
            _ = try await store.collectNow(id, by: identity.responder(via: via))
            return true
        } catch {
            // It threw, or its end could not be stored: offered again at the next registration.
            return false
        }
    }
}
