/// Runs the code that waits for responses in one manager: closures that were given with alerts, and
/// handlers that were registered by name.
///
/// It runs beside the queue. While there is any such code, the manager is kept, even if nobody
/// refers to it.
actor HandlerRunner: QueueActor {
    nonisolated let context: QueueContext
    private let alarm: Alarm
    private weak var manager: AlertManager?
    /// The manager, while it is needed.
    private var keptManager: AlertManager?
    private var closures: [Alert.ID: [AlertClosures]] = [:]
    /// The alerts whose closures run now.
    private var runningClosures: Set<Alert.ID> = []
    private(set) var agenda = HandlerAgenda()
    private var isClosed = false
    /// Changes when a handler ends.
    private nonisolated let ends = ChangeSignal()

    init(_ context: QueueContext) {
        self.context = context
        alarm = Alarm(clock: context.clock)
    }

    func belong(to manager: AlertManager) { self.manager = manager }

    var isEmpty: Bool { closures.isEmpty && agenda.isEmpty }

    /// Whether code may wait for the response to an alert.
    func mayWait(for id: Alert.ID) -> Bool { closures[id] != nil || !agenda.isEmpty }

    /// Keeps the closures of an alert until it has its response.
    func add(_ closures: AlertClosures, for id: Alert.ID) {
        self.closures[id, default: []].append(closures)
        keepManagerWhileNeeded()
    }

    /// Runs what waits for a response.
    func settle(_ record: AlertRecord) {
        if closures[record.id] != nil {
            runClosures(of: record)
        } else if let name = record.alert.handler {
            offer(record.id, to: name)
        }
    }

    func close() {
        isClosed = true
        alarm.cancel()
        closures.removeAll()
        agenda.removeAll()
        ends.change()
        keptManager = nil
    }

    private func keepManagerWhileNeeded() {
        keptManager = isClosed || isEmpty ? nil : manager
    }
}

// MARK: - Closures

extension HandlerRunner {
    /// Runs an alert's closures, one after the other, unless they run already.
    private func runClosures(of record: AlertRecord) {
        guard let response = record.response, runningClosures.insert(record.id).inserted
        else { return }
        Task.detached { await self.runClosuresToEnd(of: record, response) }
    }

    /// The closures to run next; `nil` when none are left, and others may begin a new run.
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
        let store = context.store
        // While they run, no hook takes the response.
        let turn =
            record.alert.handler == nil ? try? await store.takeHandlerTurn(record.id) : nil
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
        // A named handler has yet to run: that collects the response.
        if !hasFailed, record.alert.handler == nil, await !isClosed {
            store.post(.collected(record.id), by: context.caller)
        }
        turn?.end()
        await closuresEnded(of: record)
    }

    private func closuresEnded(of record: AlertRecord) {
        if let name = record.alert.handler { offer(record.id, to: name) }
        keepManagerWhileNeeded()
    }
}

// MARK: - Named handlers

extension HandlerRunner {
    /// Registers code under a name, and runs it for the responses that wait for it.
    func register(_ name: String, _ body: @escaping AlertManager.RegisteredHandler) {
        agenda.register(name, body)
        keepManagerWhileNeeded()
        offerUncollected(to: name)
    }

    /// Offers a response to a handler, if that is registered here.
    private func offer(_ id: Alert.ID, to name: String) {
        guard agenda.body(of: name) != nil else { return }
        if agenda.isFull || agenda.isWalking(name) {
            // Its turn comes after those that are older.
            offerUncollected(to: name)
        } else {
            Task { await start(name, for: id) }
        }
    }

    /// Tries again what failed long enough ago, and what another process worked on when it was last
    /// tried: that may have died.
    func tryAgain() async {
        let now = context.clock.now()
        for name in agenda.dueWalks(at: now) { offerUncollected(to: name) }
        for (id, name) in agenda.due(at: now) {
            guard !agenda.isFull else { break }
            agenda.isNoLongerHeld(id)
            await start(name, for: id)
        }
        if let due = agenda.nextDue(after: context.clock.now()) { setAlarm(at: due) }
    }

    private func setAlarm(at moment: ClockReading) {
        alarm.set(at: moment) { [weak self] in await self?.tryAgain() }
    }

    /// Walks through all that nobody has collected for a handler, the oldest first.
    private func offerUncollected(to name: String) {
        guard agenda.beginWalk(name) else { return }
        Task {
            repeat { await walk(name) } while agenda.endWalk(name) && !isClosed
        }
    }

    private func walk(_ name: String) async {
        var last: Alert.ID?
        while !isClosed, agenda.body(of: name) != nil {
            let page: RecordPage
            do throws(AlertError) {
                page = try await context.store.page(
                    RecordQuery(.awaitingHandler(name), after: last, limit: 100))
            } catch {
                // The disk fails: they still stand there a second later.
                let due = context.clock.now().advanced(by: .seconds(1))
                agenda.walk(name, at: due)
                return setAlarm(at: due)
            }
            guard !page.ids.isEmpty else { return }
            last = page.next
            for id in page.ids {
                while agenda.isFull, !isClosed { await ends.wait(after: ends.count) }
                // What keeps one from its turn keeps all from theirs.
                guard await start(name, for: id) else { return }
            }
        }
    }

    /// Starts a handler, if it is its turn; `false` if turns can't be had at all just now.
    @discardableResult
    private func start(_ name: String, for id: Alert.ID) async -> Bool {
        // An alert's closures come first, also where their response has not been heard of yet; the
        // handler is offered it when they have run.
        guard !isClosed, let body = agenda.body(of: name), closures[id] == nil else { return true }
        guard !agenda.isFull else {
            // Others were faster: a walk comes to it when one of them has ended.
            offerUncollected(to: name)
            return true
        }
        guard agenda.mayStart(id, at: context.clock.now()) else { return true }
        agenda.didStart(id)
        do throws(AlertError) {
            guard let turn = try await context.store.takeHandlerTurn(id) else {
                // Another process works on it. Should that die, it is this one's.
                agenda.didNotStart(id)
                agenda.isHeld(id, for: name)
                return true
            }
            Task.detached {
                let error = await self.run(body, of: name, for: id)
                turn.end()
                await self.handlerEnded(name, for: id, error)
            }
            return true
        } catch {
            agenda.didNotStart(id)
            // Too few descriptors, or a file that may not be opened: all of them wait for that.
            let pause = Duration.seconds(10)
            let due = context.clock.now().advanced(by: pause)
            agenda.walk(name, at: due)
            setAlarm(at: due)
            context.errors.report(.handler(name: name, id, error, retryAfter: pause))
            return false
        }
    }

    private func handlerEnded(_ name: String, for id: Alert.ID, _ error: (any Error)?) {
        if let error, !isClosed {
            let now = context.clock.now()
            let pause = agenda.didFail(id, for: name, at: now)
            if let due = agenda.nextDue(after: now) { setAlarm(at: due) }
            context.errors.report(.handler(name: name, id, error, retryAfter: pause))
        } else {
            agenda.didSucceed(id)
        }
        ends.change()
    }

    /// Runs a named handler, unless another process has; returns why that has to be tried again.
    private nonisolated func run(
        _ body: AlertManager.RegisteredHandler, of name: String, for id: Alert.ID
    ) async -> (any Error)? {
        do {
            // Another process may have run it just before this one got its turn.
            let record = try await context.store.record(id)
            guard let response = record.response, response.collectedAt == nil else { return nil }
            // It was found by its response's row; what counts is what the alert was asked with.
            guard record.alert.handler.isIdentical(to: name) else {
                throw AlertError.inconsistent(id, "its handler is not the one of its response")
            }
            if response.runsHandlers { try await body(response) }
            try await collect(id)
            return nil
        } catch {
            return error
        }
    }

    /// Stores that a handler has done its work, however long the queue can't be written: it must
    /// not do it again for that reason.
    private nonisolated func collect(_ id: Alert.ID) async throws {
        let backoff = Backoff(longest: .seconds(60))
        var failures = 0
        while true {
            do {
                try await context.store.collect(id, by: context.caller)
                return
            } catch let error {
                switch error {
                case .busy, .storage: failures += 1
                default: throw error
                }
                guard await !isClosed else { throw error }
                try await context.clock.sleep(for: backoff.pause(after: failures))
            }
        }
    }
}
