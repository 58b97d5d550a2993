import TextFormats

// Code that is registered by name for the responses of alerts that carry the name.
extension AlertManager {
    /// Registers code under a handler's name, and runs it for every uncollected response of an
    /// alert that carries the name: for existing responses now, for later ones as they come. The
    /// alert must have been asked by this process's account, unless that is root.
    ///
    /// The code runs at least once for a response, in one process at a time, concurrently with the
    /// queue, and must be idempotent. The oldest responses come first, but up to 32 handlers of a
    /// manager run at once, so they may finish in a different order; in this process an alert's
    /// closures run before its handler. The response is collected when the code returns. When it
    /// throws, it is tried again after a second, then after two, four and so on up to ten minutes.
    /// When its process dies, another one that has registered the name takes over within two
    /// seconds; on a server within eleven. There, a process that can't reach the server for nine
    /// seconds loses its turn: the task in which the code runs is cancelled, what it then returns is
    /// not counted, and another process may run it. Registering a name again replaces its code, and
    /// retries failed responses at once.
    ///
    /// It is not run for an answer that is stale because of ``Alert/validFor``, also when it is tried
    /// again: that is collected, and reported as ``BackgroundError/stale(_:_:)``.
    ///
    /// ```swift
    /// try await manager.register(handler: "apply") { response in
    ///     if response.button?.id == "Apply" { try await deploy() }
    /// }
    /// ```
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for an empty or oversized name,
    ///   ``AlertError/closed``.
    public func register(
        handler name: String, _ body: @escaping RegisteredHandler
    ) async throws(AlertError) {
        guard !isClosed else { throw .closed }
        try Text.check(name, "handler", limit: Alert.Limit.name)
        let position = store.position
        tellHandlers(.register(name, body))
        follow(from: position.head)
    }

    /// Tells closures and handlers something, and does what follows from it.
    func tellHandlers(_ event: Handlers.Event) {
        for effect in handlers.handle(event, at: context.clock.now()) { carryOut(effect) }
        if let moment = handlers.nextMoment(after: context.clock.now()) { setAlarm(at: moment) }
        update()
    }

    private func carryOut(_ effect: Handlers.Effect) {
        switch effect {
        case .runClosures(let closures, let record):
            Task.detached(executorPreference: CallbackExecutor.shared) {
                await self.run(closures, of: record)
            }
        case .closuresEnded(let id, let collects):
            let lease = closureLeases.removeValue(forKey: id)
            let wait = closureWaits.removeValue(forKey: id)
            // A store that closes still writes what was posted.
            if collects { store.post(.collected(id), by: context.caller) }
            Task { [store, caller = context.caller] in
                // Whoever leases the response next finds it collected.
                if collects { _ = try? await store.collect(id, by: caller) }
                lease?.end()
                wait?.end()
            }
        case .read(let name, let last): Task { await self.read(name, after: last) }
        case .run(let body, let name, let id):
            Task.detached(executorPreference: CallbackExecutor.shared) {
                let end = await self.process(id, of: name) { record, _ in
                    guard let response = record.response, response.runsHandlers else { return }
                    try await body(response)
                }
                if case .stale(let record) = end {
                    self.context.errors.report(.stale(id, .stale(record)))
                }
                await self.tellHandlers(.handlerEnded(id, end))
            }
        case .report(let error): context.errors.report(error)
        }
    }
}

// MARK: - Closures

extension AlertManager {
    private nonisolated func run(_ closures: AlertClosures, of record: AlertRecord) async {
        let lease = await leaseForClosures(of: record)
        var hasFailed = false
        do {
            try record.check(isThatOf: closures.asked)
            if let response = record.response {
                guard !response.isStale else { throw AlertError.stale(record) }
                let work = Task(executorPreference: CallbackExecutor.shared) {
                    try await closures.run(for: response)
                }
                lease?.whenLost { work.cancel() }
                try await work.value
            }
        } catch {
            hasFailed = true
            if let error = error as? AlertError, case .stale = error {
                await collectStale(record)
                context.errors.report(.stale(record.id, error))
            } else {
                context.errors.report(.closure(record.id, error))
            }
        }
        await tellHandlers(.closureEnded(record.id, hasFailed: hasFailed))
    }

    /// Makes sure that no hook takes a response while its closures run; none takes that of a named
    /// handler.
    private func leaseForClosures(of record: AlertRecord) async -> (any AlertLease)? {
        if record.alert.handler == nil, closureLeases[record.id] == nil {
            closureLeases[record.id] = try? await store.lease(record.id)
        }
        return closureLeases[record.id]
    }
}

// MARK: - Named handlers

extension AlertManager {
    /// Reads a page of the uncollected responses of a name.
    private func read(_ name: String, after last: Alert.ID?) async {
        let query = RecordQuery(.awaitingHandler(name), after: last, limit: 100)
        do throws(AlertError) {
            let page = try await store.page(query)
            // Others' are left to them, and not even tried: their own processes want to lease them.
            let others = Set(page.records.filter { !context.mayCollect($0) }.map(\.id))
            let own = page.ids.filter { !others.contains($0) }
            let next = page.ids.isEmpty ? nil : page.next
            tellHandlers(.found(name, .success(Handlers.Page(ids: own, next: next))))
        } catch {
            tellHandlers(.found(name, .failure(error)))
        }
    }
}
