/// Shows the current alert of a queue on a manager's screen, one alert after another.
///
/// The leading screen chooses the alert for all; a following one shows what the leader announces,
/// if it may. Either continues with the same alert when the lead passes from one to the other.
actor PresentationLoop: QueueActor {
    nonisolated let wakeUps = WakeUps()
    nonisolated let grace: GracePeriod
    nonisolated let context: QueueContext
    nonisolated let failure = PresentationFailure()
    private nonisolated let idleWaiters = IdleWaiters()
    /// Lets managers that share one terminal take turns.
    private let turn: PresentationTurn?
    private weak var manager: AlertManager?
    private(set) var state = LoopState.stopped
    private(set) var presenters = LoopPresenters()
    private(set) var lead: ScreenLead?
    /// Whether its timer counts for an alert without buttons, and not that of another screen.
    var isLeading = false
    nonisolated let alerts: UpcomingAlerts
    nonisolated let elsewhere: ShownElsewhere
    private var task: Task<Void, Never>?
    /// The last start; the next one waits for it, and so does a stop.
    private var starting: Task<Result<Void, AlertError>, Never>?

    init(_ context: QueueContext, turn: PresentationTurn?) {
        self.context = context
        self.turn = turn
        alerts = UpcomingAlerts(in: context)
        elsewhere = ShownElsewhere(in: context)
        grace = GracePeriod(context.clock)
    }

    deinit { task?.cancel() }

    func belong(to manager: AlertManager) { self.manager = manager }

    /// Whether it shows alerts as they come.
    var isOn: Bool { state.isOn }

    /// Whether it has found nothing to do for now.
    var isWaiting: Bool { if case .waiting = state { true } else { false } }

    /// The alert on the screen.
    var show: AlertShow? { state.show }

    /// Starts showing alerts, instead of what it shows already; `only` limits that to one alert.
    ///
    /// - Throws: The reason why no screen can be attached; ``AlertError/closed``.
    func start(
        _ all: [any AlertPresenter], only: Alert.ID?, keepsLog: Bool, for manager: AlertManager
    ) async throws(AlertError) {
        let start = Task { [starting] () -> Result<Void, AlertError> in
            _ = await starting?.value
            await stopAtOnce()
            do throws(AlertError) {
                try await attach(all, only: only, keepsLog: keepsLog, for: manager)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        starting = start
        try await start.value.get()
    }

    private func attach(
        _ all: [any AlertPresenter], only: Alert.ID?, keepsLog: Bool, for manager: AlertManager
    ) async throws(AlertError) {
        guard !manager.isClosed else { throw .closed }
        presenters = LoopPresenters(all, only: only)
        let screen = AttachedScreen(
            identity: context.caller.identity, presenters: presenters.names, only: only,
            hasDelegate: context.delegates.hasManagers, keepsLog: keepsLog)
        (state, failure.error) = (.looking, nil)
        let lead: ScreenLead
        do throws(AlertError) {
            let lease = try await context.store.attach(screen)
            lead = ScreenLead(with: lease, turn: turn, in: context)
            // It may have failed in the meantime.
            if let error = manager.isClosed ? .closed : failure.error { throw error }
        } catch {
            state = .stopped
            throw error
        }
        self.lead = lead
        wakeUps.beginPresenting(on: presenters.names, for: manager)
        task = Task { [weak self, wakeUps, clock = context.clock] in
            while let pause = await self?.presentUntilIdle() { await pause.wait(wakeUps, clock) }
            await self?.didStop()
        }
        await lead.watch { [weak self] in await self?.screensChanged() }
    }

    /// Takes the current alert off the screen, and returns when that is done.
    func stop() async {
        _ = await starting?.value
        await stopAtOnce()
    }

    private func stopAtOnce() async {
        guard let task else { return }
        await leave(because: "the presenter stopped")
        await task.value
    }

    /// Ends permanently: the queue is no longer the one that was opened.
    func fail(with error: AlertError) async {
        guard isOn else { return }
        failure.error = error
        await leave(because: SafeText.line("\(error)"))
    }

    private func leave(because reason: String) async {
        state = .stopping(show)
        show?.leave(because: reason)
        wakeUps.end()
        await lead?.leave()
    }

    /// Waits until there is nothing left to show.
    func waitUntilIdle() async {
        guard isOn else { return }
        // An idle loop does not look again until something happens.
        await idleWaiters.wait { [wakeUps] in wakeUps.wake() }
    }

    /// Records whether a presenter has failed to clear its screen in time.
    func note(_ name: String, isStuck: Bool) {
        if presenters.note(name, isStuck: isStuck), !isStuck { wakeUps.wake() }
    }

    /// Records that a presenter can't show an alert, and returns how long it rests.
    func noteFailure(of name: String) -> Duration {
        // Callers that wait for the queue to be empty should not wait for a long rest as well.
        let bound: Duration? = idleWaiters.isEmpty ? nil : .seconds(1)
        return presenters.noteFailure(of: name, at: context.clock.now(), atMost: bound)
    }

    /// Records that presenters could show an alert.
    func noteSuccess(of names: [String]) { for name in names { presenters.noteSuccess(of: name) } }

    private func didStop() async {
        await elsewhere.end()
        await lead?.end()
        lead = nil
        isLeading = false
        wakeUps.endPresenting()
        state = .stopped
        task = nil
        idleWaiters.wake()
    }
}

// MARK: - One round

extension PresentationLoop {
    /// Shows all alerts that can be shown; returns what to wait for next, or `nil` at the end.
    private func presentUntilIdle() async -> LoopPause? {
        // The manager is kept alive while this runs, but not while the loop waits.
        guard let lead, let manager else { return nil }
        defer { withExtendedLifetime(manager) {} }
        while isOn {
            let seen = wakeUps.count
            let able = presenters.able(at: context.clock.now())
            guard !able.isEmpty else {
                await lead.stayAway()
                return pause(untilNews(after: seen))
            }
            guard await lead.takeTurn(able) else { continue }
            defer { lead.endTurn() }
            guard isOn else { break }
            state = .looking
            await alerts.beginLook()
            await lead.comeBack(offering: presenters.able(at: context.clock.now()))
            let role = await lead.role()
            isLeading = if case .leads = role { true } else { false }
            if !isLeading { await elsewhere.end() }
            switch role {
            case .detached: return await pauseForOthers(seen)
            case .leads(let lease):
                if let pause = await presentLeading(lease, seen) { return pause }
            case .follows(let lease, let current):
                if let pause = await follow(current, lease, seen) { return pause }
            }
        }
        return nil
    }

    /// Chooses the current alert, and shows it if that is possible here.
    private func presentLeading(_ lease: any ScreenLease, _ seen: UInt64) async -> LoopPause? {
        let others = lease.others ?? ScreenRoster()
        let found = await alerts.choose(for: presenters, besides: others)
        await manager?.hear(found)
        guard let upcoming = found.upcoming, isOn else { return await pauseWithoutLead() }
        guard let record = upcoming.record else { return await pauseWithNothing(lease, seen) }
        guard await alerts.mayTry(record, on: presenters) else {
            return await leaveToOthers(record, others, lease, seen)
        }
        await elsewhere.end()
        guard await show(record, upcoming, lease) else { return await pauseWithoutLead() }
        return nil
    }

    /// Shows the alert that the leader announces, if that is possible here.
    private func follow(
        _ current: Alert.ID?, _ lease: any ScreenLease, _ seen: UInt64
    ) async -> LoopPause? {
        let found = await alerts.find(current)
        await manager?.hear(found)
        guard let upcoming = found.upcoming, let record = upcoming.record,
            await alerts.mayTry(record, on: presenters),
            isOn
        else {
            _ = await lease.show(nil, current: nil, hasDelegate: false)
            return await pauseForOthers(seen)
        }
        guard await show(record, upcoming, lease) else { return await pauseForOthers(seen) }
        return nil
    }

    /// Shows an alert until it leaves the screen; `false` if it can't be announced to the others.
    private func show(
        _ record: AlertRecord, _ upcoming: Upcoming, _ lease: any ScreenLease
    ) async -> Bool {
        await alerts.noteCurrent(record.alert)
        let show = AlertShow(record, upcoming, on: lease, by: presenters, in: context, for: self)
        let hasDelegate = context.delegates[record.id] != nil
        // A slot file that exists but can't be written is tried again later.
        guard await lease.show(record.id, current: record.id, hasDelegate: hasDelegate) else {
            return lease.others == nil
        }
        guard isOn, await !alerts.hasChanged(record.id) else { return true }
        state = .showing(show)
        let end = await show.run()
        state = isOn ? .looking : .stopping(nil)
        if let ended = await show.ended { await manager?.settle(ended) }
        switch end {
        case .resolved, .waits: await alerts.forget(record.id)
        case .refused(let error):
            await alerts.noteRefusal(of: record.id)
            await manager?.refuse(record.id, error)
        case .lost: await alerts.noteFailure(with: record.id)
        }
        return true
    }

    /// Lets the other screens show the current alert; `nil` if none does.
    private func leaveToOthers(
        _ record: AlertRecord, _ others: ScreenRoster, _ lease: any ScreenLease, _ seen: UInt64
    ) async -> LoopPause? {
        let isKept = await elsewhere.keep(record, on: others) { [weak self] dismissed in
            await self?.manager?.noteResolved(dismissed)
        }
        guard isKept else {
            await alerts.noteUnshown(record.id)
            return nil
        }
        await alerts.noteCurrent(record.alert)
        guard await lease.show(nil, current: record.id, hasDelegate: false) else {
            return await pauseWithoutLead()
        }
        return await pauseForOthers(seen)
    }
}

// MARK: - Pauses

extension PresentationLoop {
    private func pause(_ pause: LoopPause) -> LoopPause? {
        if isOn { state = .waiting }
        return isOn ? pause : nil
    }

    /// Pauses until there is news, until a moment, or until a presenter has rested.
    private func untilNews(after seen: UInt64, or end: ClockReading? = nil) -> LoopPause {
        let now = context.clock.now()
        return .untilFirst(of: [end, presenters.nextTry(after: now)], now, after: seen)
    }

    /// Pauses for a fixed time.
    private func pause(for time: Duration) -> LoopPause? {
        pause(.untilEnd(context.clock.now().advanced(by: time), after: wakeUps.endCount))
    }

    /// Pauses until other screens change.
    private func pauseForOthers(_ seen: UInt64) async -> LoopPause? {
        await noteIfEmpty(seen)
        // Alerts on other screens may come before one that only this manager can show.
        if await elsewhere.id == nil { wakeUps.releaseOwner(ifUnchangedSince: seen) }
        return pause(untilNews(after: seen))
    }

    private func pauseWithNothing(_ lease: any ScreenLease, _ seen: UInt64) async -> LoopPause? {
        await elsewhere.end()
        _ = await lease.show(nil, current: nil, hasDelegate: false)
        wakeUps.releaseOwner(ifUnchangedSince: seen)
        await noteIfEmpty(seen)
        return pause(untilNews(after: seen, or: await alerts.nextTry()))
    }

    /// Wakes callers that wait for the queue to be empty, if it is; they need not wait for what
    /// other screens show, nor for alerts that the log contradicts.
    private func noteIfEmpty(_ seen: UInt64) async {
        guard !idleWaiters.isEmpty, await alerts.isEmpty(for: presenters) else { return }
        // After news the loop looks again at once, and may find what has just been asked.
        if wakeUps.count == seen { idleWaiters.wake() }
    }

    /// Lets another screen lead, which may be able to read the queue or write the slot file.
    private func pauseWithoutLead() async -> LoopPause? {
        await elsewhere.end()
        await lead?.stayAway(busy: presenters.able(at: context.clock.now()))
        return pause(for: .seconds(1))
    }
}
