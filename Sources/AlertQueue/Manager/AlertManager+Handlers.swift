// Code that waits for responses: closures of this process, and handlers registered by name.

// MARK: - Closures

extension AlertManager {
    /// Runs what closures an alert has, one after the other, unless they run already.
    func runClosures(of record: AlertRecord) {
        guard let response = record.response, closures[record.id] != nil,
            runningClosures.insert(record.id).inserted
        else { return }
        Task.detached { await self.runClosuresToEnd(of: record, response) }
    }

    /// The closures to run next; `nil` when none are left, which may then be run anew.
    private func takeClosures(of id: Alert.ID) -> AlertClosures? {
        guard let next = closures[id]?.first else {
            closures[id] = nil
            runningClosures.remove(id)
            return nil
        }
        closures[id]?.removeFirst()
        return next
    }

    private nonisolated func runClosuresToEnd(
        of record: AlertRecord, _ response: Response
    ) async {
        // While they run, no hook takes the response.
        let turn = record.alert.handler == nil ? try? store.takeHandlerTurn(record.id) : nil
        var hasFailed = false
        while let next = await takeClosures(of: record.id) {
            do {
                try record.check(isThatOf: next.asked)
                try await run(next, for: response)
            } catch {
                hasFailed = true
                report(.closure(record.id, error))
            }
        }
        // A named handler has yet to run: that collects the response.
        if !hasFailed, record.alert.handler == nil {
            store.collect(record.id, by: caller)
        }
        turn?.end()
        await closuresEnded(of: record)
    }

    private nonisolated func run(_ closures: AlertClosures, for response: Response) async throws {
        guard response.runsHandlers else { return }
        let buttons = closures.alert.buttons
        if buttons.indices.contains(response.buttonIndex) {
            try await buttons[response.buttonIndex].action?()
        }
        try await closures.body?(closures.alert, response)
    }

    private func closuresEnded(of record: AlertRecord) {
        if let name = record.alert.handler { offer(record.id, to: name) }
        stayWhileNeeded()
    }
}

// MARK: - Named handlers

extension AlertManager {
    /// Registers code under a handler's name, and runs it for every uncollected response of an
    /// alert that carries the name: those of the past now, those of the future as they come.
    ///
    /// The code runs at least once for a response, in one process at a time, beside the queue, and
    /// must be idempotent. The oldest responses come first, and up to 32 handlers of a manager run
    /// at once, so that they may end in another order; in this process an alert's closures run
    /// before its handler. The response is collected when the code returns. When it throws, it is
    /// tried again after a second, then after two, four and so on up to ten minutes. When its
    /// process dies, another one that has registered the name takes over within two seconds.
    /// Registering a name again replaces its code, and tries at once what has failed.
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
        handlers.register(name, body)
        stayWhileNeeded()
        listen(from: store.knownSequence)
        offerUncollected(to: name)
        // What expired while no process ran is for the handler, too.
        Task { await self.keepTime() }
    }

    /// Offers a response to a handler, if that is registered here.
    func offer(_ id: Alert.ID, to name: String) {
        guard handlers.body(of: name) != nil else { return }
        if handlers.isFull || handlers.isWalking(name) {
            // Its turn comes after those that are older.
            offerUncollected(to: name)
        } else {
            start(name, for: id)
        }
    }

    /// Tries again what failed long enough ago, and what another process worked on when it was last
    /// tried: that may have died.
    func tryHandlersAgain(at now: ClockReading) {
        for name in handlers.dueWalks(at: now) { offerUncollected(to: name) }
        for (id, name) in handlers.due(at: now) {
            guard !handlers.isFull else { return }
            handlers.isNoLongerHeld(id)
            start(name, for: id)
        }
    }

    /// Walks through all that nobody has collected for a handler, the oldest first.
    private func offerUncollected(to name: String) {
        guard handlers.beginWalk(name) else { return }
        Task {
            repeat { await walk(name) } while handlers.endWalk(name) && !isClosed
        }
    }

    private func walk(_ name: String) async {
        var last: Alert.ID = 0
        while !isClosed, handlers.body(of: name) != nil {
            let page: [Alert.ID]
            do throws(AlertError) {
                page = try await store.uncollected(handler: name, after: last, limit: 100)
            } catch {
                // The disk fails: they still stand there a second later.
                return handlers.walk(name, at: clock.now().advanced(by: .seconds(1)))
            }
            guard let end = page.last else { return }
            last = end
            for id in page {
                while handlers.isFull, !isClosed {
                    await handlerEnds.wait(after: handlerEnds.count)
                }
                // What is in the way of one is in the way of all.
                guard start(name, for: id) else { return }
            }
        }
    }

    /// Starts a handler, if it is its turn; `false` if turns can't be had at all just now.
    @discardableResult
    private func start(_ name: String, for id: Alert.ID) -> Bool {
        // An alert's closures come first, also where their response has not been heard of yet; the
        // handler is offered it when they have run.
        guard !isClosed, let body = handlers.body(of: name), closures[id] == nil,
            handlers.mayStart(id, at: clock.now())
        else { return true }
        do throws(AlertError) {
            guard let turn = try store.takeHandlerTurn(id) else {
                // Another process works on it. Should that die, it is this one's.
                handlers.isHeld(id, for: name)
                return true
            }
            handlers.didStart(id)
            Task.detached {
                let error = await self.run(body, of: name, for: id)
                turn.end()
                await self.handlerEnded(name, for: id, error)
            }
            return true
        } catch {
            // Too few descriptors, or a file that may not be opened: all of them wait for that.
            let pause = Duration.seconds(10)
            handlers.walk(name, at: clock.now().advanced(by: pause))
            report(.handler(name: name, id, error, retryAfter: pause))
            return false
        }
    }

    private func handlerEnded(_ name: String, for id: Alert.ID, _ error: (any Error)?) {
        if let error, !isClosed {
            let now = clock.now()
            let pause = handlers.didFail(id, for: name, at: now)
            if let due = handlers.nextDue(after: now) { setAlarm(at: due) }
            report(.handler(name: name, id, error, retryAfter: pause))
        } else {
            handlers.didSucceed(id)
        }
        handlerEnds.change()
    }

    /// Runs a named handler, unless another process has; returns why that has to be tried again.
    private nonisolated func run(
        _ body: RegisteredHandler, of name: String, for id: Alert.ID
    ) async -> (any Error)? {
        do {
            // Another process may have run it just before this one got its turn.
            let record = try await store.record(id)
            guard let response = record.response, response.collectedAt == nil else { return nil }
            // It was found by its response's row; what counts is what the alert was asked with.
            guard record.alert.handler.isIdentical(to: name) else {
                throw AlertError.inconsistent(id, "its handler is not the one of its response")
            }
            if response.runsHandlers { try await body(response) }
            try await collectForHandler(id)
            return nil
        } catch {
            return error
        }
    }

    /// Stores that a handler has done its work, however long the queue can't be written: it must
    /// not do it again for that reason.
    private nonisolated func collectForHandler(_ id: Alert.ID) async throws {
        let backoff = Backoff(longest: .seconds(60))
        var failures = 0
        while true {
            do {
                _ = try await store.collectNow(id, by: caller)
                return
            } catch let error {
                switch error {
                case .busy, .storage: failures += 1
                default: throw error
                }
                guard !isClosed else { throw error }
                try await clock.sleep(for: backoff.pause(after: failures))
            }
        }
    }
}
