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
    /// seconds. Registering a name again replaces its code, and retries failed responses at once.
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
        handlers.register(name, body)
        follow(from: position.head)
        offerUncollected(to: name)
        update()
    }
}

// MARK: - Closures

extension AlertManager {
    /// Runs the code that waits for a response: an alert's closures one after another, and then its
    /// named handler.
    func runHandlers(of record: AlertRecord) {
        guard handlers.hasClosures(for: record.id) else { return offer(record) }
        guard let response = record.response, handlers.beginClosures(of: record.id) else { return }
        Task.detached(executorPreference: CallbackExecutor.shared) {
            await self.runClosures(of: record, response)
        }
    }

    private func takeClosures(of id: Alert.ID) -> AlertClosures? {
        handlers.takeClosures(of: id)
    }

    private nonisolated func runClosures(
        of record: AlertRecord, _ response: Response
    ) async {
        // While they run, no hook takes the response.
        let claim =
            record.alert.handler == nil ? try? await store.claim(record.id) : nil
        var hasFailed = false
        while let next = await takeClosures(of: record.id) {
            do {
                try record.check(isThatOf: next.asked)
                try await next.run(for: response)
            } catch {
                hasFailed = true
                context.errors.report(.closure(record.id, error))
            }
        }
        // A named handler has yet to run, and collects the response.
        if !hasFailed, record.alert.handler == nil, !isClosed {
            store.post(.collected(record.id), by: context.caller)
        }
        claim?.end()
        await closuresEnded(of: record)
    }

    private func closuresEnded(of record: AlertRecord) {
        offer(record)
        update()
    }
}

// MARK: - Named handlers

extension AlertManager {
    /// Offers a response to its handler, if that is registered here and the response is this
    /// account's.
    private func offer(_ record: AlertRecord) {
        guard let name = record.alert.handler, handlers.body(of: name) != nil,
            context.mayCollect(record)
        else { return }
        if handlers.isFull || handlers.isWalking(name) {
            // Older responses come first.
            offerUncollected(to: name)
        } else {
            Task { await start(name, for: record.id) }
        }
    }

    /// Tries again the responses that failed long enough ago, and those that another process had at
    /// the last try, in case that process has died.
    func tryHandlersAgain() async {
        let now = context.clock.now()
        for name in handlers.dueWalks(at: now) { offerUncollected(to: name) }
        for (id, name) in handlers.due(at: now) {
            guard !handlers.isFull else { break }
            handlers.isNoLongerHeld(id)
            await start(name, for: id)
        }
        if let due = handlers.nextDue(after: context.clock.now()) { setAlarm(at: due) }
    }

    /// Walks through all uncollected responses for a handler, oldest first.
    private func offerUncollected(to name: String) {
        guard handlers.beginWalk(name) else { return }
        Task {
            repeat { await walk(name) } while handlers.endWalk(name) && !isClosed
        }
    }

    private func walk(_ name: String) async {
        var last: Alert.ID?
        while !isClosed, handlers.body(of: name) != nil {
            let page: RecordPage
            do throws(AlertError) {
                page = try await store.page(
                    RecordQuery(.awaitingHandler(name), after: last, limit: 100))
            } catch {
                // The disk fails: try again in a second.
                let due = context.clock.now().advanced(by: .seconds(1))
                handlers.walk(name, at: due)
                return setAlarm(at: due)
            }
            guard !page.ids.isEmpty else { return }
            last = page.next
            // Others' are left to them, and not even tried: their own processes want the turns.
            let others = Set(
                page.records.filter { !context.mayCollect($0) }.map(\.id))
            for id in page.ids where !others.contains(id) {
                while handlers.isFull, !isClosed {
                    await handlerEnds.wait(after: handlerEnds.count)
                }
                // If one can't be claimed, none can.
                guard await start(name, for: id) else { return }
            }
        }
    }

    /// Starts a handler if the response can be claimed; `false` if none can be right now.
    @discardableResult
    private func start(_ name: String, for id: Alert.ID) async -> Bool {
        // An alert's closures come first, even if their response has not been noticed yet; the
        // handler is offered the response when they have run.
        guard !isClosed, let body = handlers.body(of: name), !handlers.hasClosures(for: id) else {
            return true
        }
        guard !handlers.isFull else {
            // All places are taken: a walk reaches it when a handler has ended.
            offerUncollected(to: name)
            return true
        }
        guard handlers.mayStart(id, at: context.clock.now()) else { return true }
        handlers.didStart(id)
        do throws(AlertError) {
            guard let claim = try await store.claim(id) else {
                // Another process works on it. If that dies, this one takes over.
                handlers.didNotStart(id)
                handlers.isHeld(id, for: name)
                return true
            }
            Task.detached(executorPreference: CallbackExecutor.shared) {
                let error = await self.run(body, of: name, for: id)
                claim.end()
                await self.handlerEnded(name, for: id, error)
            }
            return true
        } catch {
            handlers.didNotStart(id)
            // Too few descriptors, or a file that can't be opened: all of them wait.
            let pause = Duration.seconds(10)
            let due = context.clock.now().advanced(by: pause)
            handlers.walk(name, at: due)
            setAlarm(at: due)
            context.errors.report(.handler(name: name, id, error, retryAfter: pause))
            return false
        }
    }

    private func handlerEnded(_ name: String, for id: Alert.ID, _ error: (any Error)?) {
        if let error, !isClosed {
            let now = context.clock.now()
            let pause = handlers.didFail(id, for: name, at: now)
            if let due = handlers.nextDue(after: now) { setAlarm(at: due) }
            context.errors.report(.handler(name: name, id, error, retryAfter: pause))
        } else {
            handlers.didSucceed(id)
        }
        handlerEnds.change()
    }

    /// Runs a named handler unless another process has; returns an error if it must be tried again.
    private nonisolated func run(
        _ body: AlertManager.RegisteredHandler, of name: String, for id: Alert.ID
    ) async -> (any Error)? {
        do {
            // Another process may have run it just before this one claimed it.
            let record = try await store.record(id)
            guard let response = record.response, response.collectedAt == nil,
                context.mayCollect(record)
            else { return nil }
            // It was found by its response's row, but the alert's own row counts.
            guard record.alert.handler.isIdentical(to: name) else {
                throw AlertError.inconsistent(id, "its handler is not the one of its response")
            }
            if response.runsHandlers { try await body(response) }
            try await storeCollection(of: id)
            return nil
        } catch {
            return error
        }
    }

    /// Stores that a handler has finished, however long the queue can't be written: the handler
    /// must not run again for that reason.
    private nonisolated func storeCollection(of id: Alert.ID) async throws {
        let backoff = Backoff(longest: .seconds(60))
        var failures = 0
        while true {
            do {
                try await store.collect(id, by: context.caller)
                return
            } catch let error {
                guard error.mayPass, !isClosed else { throw error }
                failures += 1
                try await context.clock.sleep(for: backoff.pause(after: failures))
            }
        }
    }
}
