/// Runs the code for responses in one manager: closures given with alerts, and handlers registered
/// by name.
///
/// It runs concurrently with the queue. While there is any such code, the manager is kept alive,
/// even if nothing else references it.
actor HandlerRunner: QueueActor {
    nonisolated let context: QueueContext
    private let alarm: Alarm
    private weak var manager: AlertManager?
    /// The manager, while it must be kept alive.
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

    /// Whether code may be waiting for the response to an alert.
    func mayWait(for id: Alert.ID) -> Bool { closures[id] != nil || !agenda.isEmpty }

    /// Keeps the closures of an alert until it has its response.
    func add(_ closures: AlertClosures, for id: Alert.ID) {
        self.closures[id, default: []].append(closures)
        keepManagerWhileNeeded()
    }

    /// Runs the code that waits for a response.
    func settle(_ record: AlertRecord) {
        if closures[record.id] != nil {
            runClosures(of: record)
        } else {
            offer(record)
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
    /// Runs an alert's closures one after another, unless they are already running.
    private func runClosures(of record: AlertRecord) {
        guard let response = record.response, runningClosures.insert(record.id).inserted
        else { return }
        Task.detached { await self.runClosuresToEnd(of: record, response) }
    }

    /// The closures to run next; `nil` if none are left and a new run may begin.
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
        // A named handler has yet to run, and collects the response.
        if !hasFailed, record.alert.handler == nil, await !isClosed {
            store.post(.collected(record.id), by: context.caller)
        }
        turn?.end()
        await closuresEnded(of: record)
    }

    private func closuresEnded(of record: AlertRecord) {
        offer(record)
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

    /// Offers a response to its handler, if that is registered here and the response is this
    /// account's.
    private func offer(_ record: AlertRecord) {
        guard let name = record.alert.handler, agenda.body(of: name) != nil,
            context.mayCollect(record)
        else { return }
        if agenda.isFull || agenda.isWalking(name) {
            // Older responses come first.
            offerUncollected(to: name)
        } else {
            Task { await start(name, for: record.id) }
        }
    }

    /// Tries again the responses that failed long enough ago, and those that another process had at
    /// the last try, in case that process has died.
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

    /// Walks through all uncollected responses for a handler, oldest first.
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
                // The disk fails: try again in a second.
                let due = context.clock.now().advanced(by: .seconds(1))
                agenda.walk(name, at: due)
                return setAlarm(at: due)
            }
            guard !page.ids.isEmpty else { return }
            last = page.next
            // Others' are left to them, and not even tried: their own processes want the turns.
            let others = Set(
                page.records.filter { !context.mayCollect($0) }.map(\.id))
            for id in page.ids where !others.contains(id) {
                while agenda.isFull, !isClosed { await ends.wait(after: ends.count) }
                // If one can't get its turn, none can.
                guard await start(name, for: id) else { return }
            }
        }
    }

    /// Starts a handler if it is its turn; `false` if no turns are available right now.
    @discardableResult
    private func start(_ name: String, for id: Alert.ID) async -> Bool {
        // An alert's closures come first, even if their response has not been noticed yet; the
        // handler is offered the response when they have run.
        guard !isClosed, let body = agenda.body(of: name), closures[id] == nil else { return true }
        guard !agenda.isFull else {
            // All places are taken: a walk reaches it when a handler has ended.
            offerUncollected(to: name)
            return true
        }
        guard agenda.mayStart(id, at: context.clock.now()) else { return true }
        agenda.didStart(id)
        do throws(AlertError) {
            guard let turn = try await context.store.takeHandlerTurn(id) else {
                // Another process works on it. If that dies, this one takes over.
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
            // Too few descriptors, or a file that can't be opened: all of them wait.
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

    /// Runs a named handler unless another process has; returns an error if it must be tried again.
    private nonisolated func run(
        _ body: AlertManager.RegisteredHandler, of name: String, for id: Alert.ID
    ) async -> (any Error)? {
        do {
            // Another process may have run it just before this one got its turn.
            let record = try await context.store.record(id)
            guard let response = record.response, response.collectedAt == nil,
                context.mayCollect(record)
            else { return nil }
            // It was found by its response's row, but the alert's own row counts.
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

    /// Stores that a handler has finished, however long the queue can't be written: the handler
    /// must not run again for that reason.
    private nonisolated func collect(_ id: Alert.ID) async throws {
        let backoff = Backoff(longest: .seconds(60))
        var failures = 0
        while true {
            do {
                try await context.store.collect(id, by: context.caller)
                return
            } catch let error {
                guard error.mayPass, await !isClosed else { throw error }
                failures += 1
                try await context.clock.sleep(for: backoff.pause(after: failures))
            }
        }
    }
}
