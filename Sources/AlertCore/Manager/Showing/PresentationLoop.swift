/// Shows the alerts of a queue on a manager's screens, one after the other, while it leads.
actor PresentationLoop: QueueActor {
    private enum State {
        case stopped
        /// It waits for the lead, for something to show, or for the end of a pause.
        case waiting
        /// It looks for the next alert, and clears the screen after the last one.
        case leading
        case showing(AlertShow)
        /// It ends; what is on the screen is being taken off.
        case stopping(AlertShow?)
    }

    /// What an idle loop waits for.
    private typealias Pause = nonisolated(nonsending) @Sendable () async -> Void

    /// How long to wait when every presenter has failed: longer each time.
    private static let backoff = Backoff(longest: .seconds(60))

    nonisolated let wakeUps = WakeUps()
    nonisolated let grace: GracePeriod
    nonisolated let context: QueueContext
    /// Lets managers that share one terminal take turns.
    private let turn: PresentationTurn?
    private weak var manager: AlertManager?
    private var state = State.stopped
    private var presenters: [any AlertPresenter] = []
    /// The presenters that did not clear their screens in time.
    private(set) var stuck: Set<String> = []
    private var only: Alert.ID?
    private var lead: ScreenLead?
    private var task: Task<Void, Never>?
    /// Ends what the loop waits for.
    private var cutShort: (@Sendable () -> Void)?
    /// How often in a row every presenter has failed.
    private var failures = 0
    private var resting = RestingAlerts()
    /// Whether the last alert on the screen had no buttons.
    private var hasShownNotice = false
    private nonisolated let idleWaiters = IdleWaiters()
    nonisolated let failure = PresentationFailure()

    init(_ context: QueueContext, turn: PresentationTurn?) {
        self.context = context
        self.turn = turn
        grace = GracePeriod(context.clock)
    }

    deinit {
        task?.cancel()
        cutShort?()
    }

    func belong(to manager: AlertManager) { self.manager = manager }

    /// Whether it is to show what comes.
    var isOn: Bool {
        switch state {
        case .stopped, .stopping: false
        case .waiting, .leading, .showing: true
        }
    }

    /// Whether it has found nothing to do for now.
    var isWaiting: Bool { if case .waiting = state { true } else { false } }

    /// The alert on the screen.
    var show: AlertShow? {
        switch state {
        case .showing(let show): show
        case .stopping(let show): show
        case .stopped, .waiting, .leading: nil
        }
    }

    /// Starts showing alerts, if it does not; `only` limits that to one alert.
    func start(_ presenters: [any AlertPresenter], only: Alert.ID?, for manager: AlertManager) async
    {
        // A stop that is under way comes to its end first.
        if case .stopping = state { await task?.value }
        guard case .stopped = state, !presenters.isEmpty, !manager.isClosed else { return }
        self.presenters = presenters
        self.only = only
        failure.error = nil
        lead = ScreenLead(for: presenters.map(\.name), in: context)
        state = .leading
        wakeUps.beginPresenting(on: presenters.map(\.name), for: manager)
        task = Task { [weak self] in
            while let pause = await self?.presentUntilIdle() { await pause() }
            await self?.didStop()
        }
    }

    /// Takes what is shown off the screen, and returns when that is done.
    func stop() async {
        guard let task else { return }
        leave(because: "the presenter stopped")
        await task.value
    }

    /// Ends for good: the queue is no longer the one that was opened.
    func fail(with error: AlertError) {
        guard isOn else { return }
        failure.error = error
        leave(because: SafeText.line("\(error)"))
    }

    private func leave(because reason: String) {
        state = .stopping(show)
        cutShort?()
        show?.leave(because: reason)
        wakeUps.wake()
    }

    /// Waits until there is nothing left to show.
    func waitUntilIdle() async {
        guard isOn else { return }
        // A loop that has found nothing already would not look before something happens.
        await idleWaiters.wait { [wakeUps] in wakeUps.wake() }
    }

    /// Remembers an alert's failures no longer: it has been resolved.
    func forget(_ id: Alert.ID) { resting.remove(id) }

    /// Clears the screen when another process leads instead of this one, or may.
    func leaveIfLeadIsLost() async {
        guard let lead, await lead.isLost() else { return }
        if case .showing(let show) = state { show.leave(because: "the slot was lost") }
        wakeUps.wake()
    }

    private func didStop() async {
        await lead?.end()
        lead = nil
        wakeUps.endPresenting()
        state = .stopped
        task = nil
        idleWaiters.wake()
    }
}

// MARK: - One round

extension PresentationLoop {
    /// Shows what there is to show; returns what to wait for then, or `nil` at the end.
    private func presentUntilIdle() async -> Pause? {
        // The manager is kept while this runs, and not while the loop waits.
        guard let manager else { return nil }
        defer { withExtendedLifetime(manager) {} }
        cutShort = nil
        while isOn {
            let seen = wakeUps.count
            guard canShow else {
                await lead?.giveUp()
                return pauseUntilWoken(after: seen)
            }
            guard let lease = await lead?.take() else { return await pauseWithoutLead(seen) }
            guard await takeTurn() else { continue }
            defer { turn?.end() }
            guard isOn else { break }
            state = .leading
            let upcoming = await next()
            // What is not on the screen yet can't be told to leave it.
            guard isOn else { break }
            guard let upcoming, let record = upcoming.record else {
                return await pauseWithNothing(toShow: upcoming, lease, seen)
            }
            switch await show(record, upcoming, on: lease, for: manager) {
            case .resolved, .waits:
                failures = 0
                resting.remove(record.id)
            case .lost, .refused:
                return await pauseAfterFailure(with: record.id)
            }
        }
        return nil
    }

    private func show(
        _ record: AlertRecord, _ upcoming: Upcoming, on lease: any ScreenLease,
        for manager: AlertManager
    ) async -> ShowEnd {
        let able = presenters.filter {
            record.alert.presenters?.contains($0.name) != false && !stuck.contains($0.name)
        }
        let show = AlertShow(
            record, upcoming, on: lease, by: able, all: presenters.map(\.name), in: context,
            for: self)
        let hasDelegate = context.delegates[record.id] != nil
        // A slot that can't be written, though it is still there, is tried again later.
        guard await lease.show(record.id, hasDelegate: hasDelegate) else {
            return lease.isLeading ? .lost : .waits
        }
        guard isOn else { return .waits }
        hasShownNotice = record.alert.buttons.isEmpty
        state = .showing(show)
        let end = await show.run()
        state = isOn ? .leading : .stopping(nil)
        if let ended = await show.ended { await manager.settle(ended) }
        if case .refused(let error) = end { await manager.refuse(record.id, error) }
        return end
    }

    /// Notes that a presenter does not clear its screen in time, or that it has ended.
    func note(_ name: String, isStuck: Bool) {
        if isStuck {
            stuck.insert(name)
        } else if stuck.remove(name) != nil {
            wakeUps.wake()
        }
    }

    /// Whether a presenter can show something; those that are stuck must not keep the lead.
    private var canShow: Bool { !presenters.allSatisfy { stuck.contains($0.name) } }

    /// Waits for the screen that is shared with other managers; `false` if presenting ended first.
    private func takeTurn() async -> Bool {
        guard let turn else { return true }
        let taking = Task { await turn.take() }
        cutShort = { taking.cancel() }
        defer { cutShort = nil }
        return await taking.value
    }

    /// The next alert; `nil` where the queue can't be read.
    private func next() async -> Upcoming? {
        let names = presenters.map(\.name).filter { !stuck.contains($0) }
        var except = resting.ids(at: context.clock.now())
        while true {
            // After a notice a question of any priority comes next: notices that keep coming would
            // hold it up for ever.
            let query = ScreenQuery(
                for: names, only: only, except: except, prefersQuestions: hasShownNotice)
            let upcoming: Upcoming
            do throws(AlertError) {
                upcoming = try await context.store.next(query)
            } catch {
                if case .incompatible = error { fail(with: error) }
                // If the disk fails or is locked, it is looked at again a second later.
                return nil
            }
            for (id, error) in upcoming.refused.sorted(by: { $0.key < $1.key }) {
                resting.add(id, at: context.clock.now())
                await manager?.refuse(id, error)
            }
            // One look passes over a hundred; after them others may wait.
            guard upcoming.record == nil, !upcoming.refused.isEmpty, isOn else { return upcoming }
            let before = except.count
            except = resting.ids(at: context.clock.now())
            guard except.count > before else { return upcoming }
        }
    }
}

// MARK: - Pauses

extension PresentationLoop {
    private func pauseUntilWoken(after seen: UInt64) -> Pause? {
        guard isOn else { return nil }
        state = .waiting
        return { [wakeUps] in await wakeUps.wait(after: seen) }
    }

    private func pauseWithoutLead(_ seen: UInt64) async -> Pause? {
        // Callers that only wait for the end of the queue need not wait for the lead.
        if !idleWaiters.isEmpty, let upcoming = await next(), upcoming.record == nil {
            idleWaiters.wake()
        }
        wakeUps.releaseOwner(ifUnchangedSince: seen)
        return pause { [lead] in await lead?.wait() }
    }

    private func pauseWithNothing(
        toShow upcoming: Upcoming?, _ lease: any ScreenLease, _ seen: UInt64
    ) async -> Pause? {
        guard upcoming != nil else {
            // Another process may be able to read the queue.
            await lead?.giveUp()
            return pause(for: .seconds(1))
        }
        _ = await lease.show(nil, hasDelegate: context.delegates.hasManagers)
        wakeUps.releaseOwner(ifUnchangedSince: seen)
        if let end = resting.nextEnd(after: context.clock.now()) {
            // Another process may be able to show what rests here.
            await lead?.giveUp()
            return pause { [clock = context.clock, wakeUps] in
                await wakeUps.wait(after: seen, until: end, clock)
            }
        }
        idleWaiters.wake()
        return pauseUntilWoken(after: seen)
    }

    /// Lets others try what no presenter here could show.
    private func pauseAfterFailure(with id: Alert.ID) async -> Pause? {
        failures += 1
        resting.add(id, at: context.clock.now())
        await lead?.giveUp()
        let time = Self.backoff.pause(after: failures)
        // Callers that wait for the end of the queue are not to wait for a long pause as well.
        return pause(for: idleWaiters.isEmpty ? time : min(time, .seconds(1)))
    }

    private func pause(for time: Duration) -> Pause? {
        let end = context.clock.now().advanced(by: time)
        return pause { [clock = context.clock] in try? await clock.sleep(until: end) }
    }

    /// Waits for something that can be cut short when presenting ends.
    private func pause(for something: @escaping Pause) -> Pause? {
        guard isOn else { return nil }
        state = .waiting
        let task = Task.detached { await something() }
        cutShort = { task.cancel() }
        return { await task.value }
    }
}
