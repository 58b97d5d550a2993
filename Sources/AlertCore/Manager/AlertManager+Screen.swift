import TextFormats

// Carrying out what the screen wants.

/// The parts of the system that a manager's screen uses.
struct ScreenParts {
    /// Lets managers that share one terminal take turns.
    let turn: PresentationTurn?
    var takingTurn: Task<Void, Never>?
    /// The presenters of starts that have not begun.
    var starts: [Screen.Call: [any AlertPresenter]] = [:]
    var presenters: [String: any AlertPresenter] = [:]
    var runs: [Int: PresenterRun] = [:]
    /// The last presentation, with its number.
    var presentation: (number: Int, Presentation)?
    var lease: (any ScreenLease)?
    /// The screen as it was last announced.
    var announced: AttachedScreen?
    var wantsLead = false
    /// The lease's state as last seen.
    var leaseState = LeaseState.lost
    /// The attachment under which the alert on the screen was announced.
    var epoch: Epoch?
    var watching: Task<Void, Never>?
    /// The calls that wait for the screen.
    var calls: [Screen.Call: OneShot<AlertError?>] = [:]

    init(turn: PresentationTurn?) { self.turn = turn }

    /// Detaches the screen.
    mutating func end() {
        watching?.cancel()
        takingTurn?.cancel()
        lease?.release()
        (watching, takingTurn, lease, announced, presentation) = (nil, nil, nil, nil, nil)
        presenters = [:]
    }
}

extension Screen.Event {
    var isQueueChanged: Bool { if case .queueChanged = self { true } else { false } }
}

extension AlertManager {
    /// Waits for the end of a call of the screen.
    ///
    /// - Parameter mayLeave: Whether a cancelled task no longer waits.
    func waitForScreen(
        mayLeave: Bool = false, _ event: (Screen.Call) -> Screen.Event
    ) async throws(AlertError) {
        let call = nextNumber()
        let end = OneShot<AlertError?>()
        screenParts.calls[call] = end
        feed(event(call))
        let error = await withTaskCancellationHandler {
            await end.value()
        } onCancel: {
            if mayLeave { end.deliver(nil) }
        }
        if let error { throw error }
    }

    func carryOut(_ effect: Screen.Effect) {
        switch effect {
        case .attach(let start): Task.immediate { await attach(start) }
        case .detach: detach()
        case .resume(let call, let error):
            // A start that was replaced is never attached.
            screenParts.starts[call] = nil
            screenParts.calls.removeValue(forKey: call)?.deliver(error)
        case .fail(let error): failure.error = error
        case .takeTurn: takeTurn()
        case .cancelTurn: screenParts.takingTurn?.cancel()
        case .endTurn: screenParts.turn?.end()
        case .stepBack: Task.immediate { await announce(wantsLead: false) }
        case .stayAway(let busy): stayAway(busy: busy)
        case .look(let number, let look):
            Task.immediate { feed(.found(number, await find(look))) }
        case .announce(let number, let shown, let current):
            Task.immediate { feed(.announced(number, await announce(shown, current))) }
        case .announceNothing:
            Task.immediate { await announce { $0.show(nil, current: nil) } }
        case .read(let id, let reason):
            Task.immediate {
                feed(.reread(id, try? await store.record(id), otherwise: reason))
            }
        case .countWaiting(let id): Task.immediate { _ = await countWaiting(besides: id) }
        case .present, .tell, .release, .end: carryOutForPresenter(effect)
        case .notify(let number, let id, let callbacks): notify(number, id, callbacks)
        case .notifyDismissed(let number, let record, let mayGoOn):
            Task.immediate { await notifyDismissed(number, record, mayGoOn: mayGoOn) }
        case .commit(let number, let change, let name):
            Task.immediate { feed(.committed(number, await commit(change, through: name))) }
        case .noteAppearance(let record, let names):
            context.noteAppearance(of: record, on: names)
        case .leave(let number, let record, let reason):
            Task.immediate {
                await noteLeft(record, because: reason)
                feed(.left(number))
            }
        case .post(let entry): store.post(entry, by: context.caller)
        case .dismissElsewhere(let id): Task.immediate { await dismissElsewhere(id) }
        case .settle(let record): settle(record)
        case .resolvedElsewhere(let record): notifyResolved(record)
        case .snoozedElsewhere(let id): notifyReturned(id)
        case .refuse(let id, let error): refuse(id, error)
        case .report(let error): context.errors.report(error)
        }
    }

    private func commit(
        _ change: Change, through name: String?
    ) async -> Result<AlertRecord, AlertError> {
        do throws(AlertError) {
            let caller = name.map(context.caller.through) ?? context.caller
            let results = try await store.commit(
                [change], request: nil, by: caller, under: screenParts.epoch)
            guard let result = results.first else { throw .closed }
            return result.map(\.record)
        } catch {
            return .failure(error)
        }
    }

    private func dismissElsewhere(_ id: Alert.ID) async {
        if case .success(let record) = await commit(.resolve(id, .dismiss), through: nil) {
            passOn(record)
        }
    }

    /// What waits after an alert; `nil` if that can't be read.
    private func countWaiting(besides id: Alert.ID) async -> WaitingAlerts? {
        guard let now = try? await store.waiting(besides: id) else { return nil }
        feed(.waiting(id, now))
        return now
    }
}

// MARK: - Attaching, and the terminal that managers share

extension AlertManager {
    private func attach(_ start: Screen.Start) async {
        let presenters = screenParts.starts.removeValue(forKey: start.call) ?? []
        let attached = AttachedScreen(
            caller: context.caller, presenters: start.presenters, only: start.only,
            hasDelegate: context.delegates.ofManager != nil, keepsLog: start.keepsLog)
        do throws(AlertError) {
            guard !isClosed else { throw .closed }
            let lease = try await store.attach(attached)
            guard !isClosed else {
                lease.release()
                throw .closed
            }
            screenParts.lease = lease
            (screenParts.announced, screenParts.wantsLead) = (attached, false)
            screenParts.leaseState = .following(ScreenRoster())
            for presenter in presenters { screenParts.presenters[presenter.name] = presenter }
            watch(lease)
            feed(.attached(nil))
        } catch {
            isPresenting.store(!screenParts.starts.isEmpty, ordering: .releasing)
            feed(.attached(error))
        }
    }

    private func detach() {
        screenParts.end()
        isPresenting.store(!screenParts.starts.isEmpty, ordering: .releasing)
    }

    /// Follows the states of the lease until the screen is detached.
    private func watch(_ lease: any ScreenLease) {
        screenParts.watching = Task { [weak self] in
            // A state that an announcement has returned is not here: the screen may not have been
            // told of it.
            var seen = LeaseState.following(ScreenRoster())
            while !Task.isCancelled, self != nil {
                // While it waits, this task does not keep the manager alive.
                seen = await lease.state(after: seen)
                await self?.note(seen, of: lease)
            }
        }
    }

    private func note(_ state: LeaseState, of lease: any ScreenLease) {
        guard screenParts.lease === lease else { return }
        screenParts.leaseState = state
        if screen.isOn, !screen.isAway { feed(.lease(state)) }
    }

    /// Tells the other screens what has changed here.
    @discardableResult
    func announce(
        wantsLead: Bool? = nil, _ change: (inout AttachedScreen) -> Void = { _ in }
    ) async -> LeaseState {
        guard let lease = screenParts.lease, var screen = screenParts.announced else {
            return .lost
        }
        change(&screen)
        screenParts.announced = screen
        screenParts.wantsLead = wantsLead ?? screenParts.wantsLead
        let state = await lease.announce(screen, wantsLead: screenParts.wantsLead)
        if screenParts.lease === lease { screenParts.leaseState = state }
        return state
    }

    private func takeTurn() {
        guard let turn = screenParts.turn, !turn.takeAtOnce() else { return feed(.tookTurn(true)) }
        screenParts.takingTurn = Task {
            // Other managers' alerts may be on the terminal for a long time.
            let leaving = Task {
                try await Task.sleep(for: .milliseconds(50))
                // The turn may have come after the sleep had ended.
                if !Task.isCancelled { feed(.turnIsLate) }
            }
            let isTaken = await turn.take()
            leaving.cancel()
            feed(.tookTurn(isTaken))
        }
    }

    /// Gives up the lead, and announces that this screen can't show anything for now.
    ///
    /// - Parameter presenters: Those that will be available again when another queue's alert has
    ///   left them.
    private func stayAway(busy presenters: [String]) {
        Task.immediate {
            await announce(wantsLead: false) {
                $0.offer(presenters, isBusy: !presenters.isEmpty)
            }
        }
    }

    /// Announces an alert to the other screens.
    private func announce(_ shown: AlertRecord?, _ current: Alert.ID?) async -> LeaseState {
        var hasDelegate = false
        if let shown {
            // From here on no event of the alert is missed, however long this takes.
            if context.caller.isAsker(shown.source) { await context.delegates.waitForArrivals() }
            hasDelegate = context.delegates[shown.id] != nil
        }
        let state = await announce {
            $0.show(shown?.id, current: current, hasDelegate: hasDelegate)
        }
        screenParts.epoch = screenParts.lease?.epoch
        return state
    }

    /// Announces that an alert has left this screen, and logs it unless others show it.
    private func noteLeft(_ record: AlertRecord, because reason: EntryDetail.Return) async {
        // In this order: if two screens leave at once, one of them finds that none is left.
        let others = await announce { $0.show(nil, current: nil) }.others
        let isElsewhere = others.map {
            $0.shows(record.id) || $0.canShow(record.alert, record.id)
        }
        if isElsewhere == true { return }
        store.post(.returned(record, because: reason), by: context.caller)
    }
}

// MARK: - Looking

extension AlertManager {
    /// Finds the alert to show: for the leader one that others already show, else the next one; for
    /// a follower the one that the leader announces.
    private func find(_ look: Screen.Look) async -> Screen.Found {
        let lease = await announce(wantsLead: true) { $0.offer(look.able, isBusy: false) }
        var found = Screen.Found(lease: lease)
        switch lease {
        case .lost: break
        case .following(let others):
            if let current = others.current { await find(current, look, &found) }
        case .leading(let others):
            let shown = Set(others.all.filter(\.isThere).compactMap(\.alert)).sorted()
            for id in shown where !look.skipped.unshown.contains(id) {
                await find(id, look, &found)
                guard found.upcoming == nil, found.error == nil else { return found }
            }
            await findNext(look, besides: others, &found)
        }
        if look.asksIfEmpty, found.upcoming?.record == nil || !lease.isLeading {
            var rest = Screen.Found(lease: lease)
            await findNext(look, besides: nil, &rest)
            found.isEmpty = rest.upcoming.map { $0.record == nil } ?? false
        }
        return found
    }

    /// Finds the next alert for the presenters here and on other screens, or, without those, for
    /// the presenters here even if they rest.
    private func findNext(
        _ look: Screen.Look, besides others: ScreenRoster?, _ found: inout Screen.Found
    ) async {
        let isAlone = others?.all.isEmpty == true
        var (presenters, own) = (others ?? ScreenRoster()).query
        if let only = look.only {
            own.append(only)
        } else {
            let here = others == nil ? look.unstuck : look.able
            presenters = here + presenters.filter { !here.hasIdentical($0) }
        }
        var except = look.skipped.alerts(besides: others ?? ScreenRoster(), isAlone: isAlone)
        while true {
            // After a notice, a question of any priority comes next: otherwise a stream of notices
            // would hold it up forever.
            let query = ScreenQuery(
                for: presenters, own: own, except: except,
                prefersQuestions: look.prefersQuestions)
            do throws(AlertError) {
                let upcoming = try await store.next(query)
                found.upcoming = upcoming
                found.refused += upcoming.refused.sorted { $0.key < $1.key }.map {
                    (id: $0.key, error: $0.value)
                }
                let count = except.count
                except = Set(except).union(upcoming.refused.keys).sorted()
                // One look skips up to a hundred; others may wait after them.
                guard upcoming.record == nil, except.count > count else { return }
            } catch {
                found.error = error
                return
            }
        }
    }

    /// Finds one alert, if it waits and may be shown; one that the log contradicts is tried again
    /// only when it has rested.
    private func find(
        _ id: Alert.ID, _ look: Screen.Look, _ found: inout Screen.Found
    ) async {
        guard !look.skipped.refused.contains(id) else { return }
        do throws(AlertError) {
            // In this order: if the alert ends while the others are counted, it is not shown.
            let waiting = try await store.waiting(besides: id)
            let receipt = try await store.find(.id(id))
            let record = receipt.record
            guard record.response == nil, !receipt.isOverdue, record.snoozedUntil == nil else {
                return
            }
            var upcoming = Upcoming(record: record, timeLeft: receipt.timeLeft)
            upcoming.isCancelRequested = receipt.isCancelRequested
            upcoming.waiting = waiting
            found.upcoming = upcoming
        } catch {
            if case .inconsistent = error {
                found.refused.append((id, error))
            } else {
                found.error = error
            }
        }
    }
}

// MARK: - Presenters

extension AlertManager {
    private func carryOutForPresenter(_ effect: Screen.Effect) {
        switch effect {
        case .present(let number, let name, let showing, let failure):
            guard let presenter = screenParts.presenters[name],
                let presentation = presentation(showing)
            else { return feed(.ended(run: number, .failed(CancellationError()))) }
            start(number) { [clock = context.clock] run in
                await presenter.run(presentation.handingOver(to: run), after: failure, clock)
            }
        case .tell(let number, let name, let showing, let departure):
            guard let presenter = screenParts.presenters[name],
                let presentation = presentation(showing)
            else { return feed(.ended(run: number, .told)) }
            start(number) { _ in
                switch departure {
                case .resolved(let response, let choseHere):
                    await presenter.didResolve(
                        presentation, response: response, choseHere: choseHere)
                case .snoozed(let end): await presenter.didSnooze(presentation, until: end)
                }
                return .told
            }
        case .release(let run): screenParts.runs[run]?.release()
        case .end(let run): screenParts.runs[run]?.end()
        default: break
        }
    }

    private func start(
        _ number: Int, _ body: @escaping @Sendable (PresenterRun) async -> Screen.RunEnd
    ) {
        let run = PresenterRun(number) { [weak self] event in
            self?.send(event)
        }
        screenParts.runs[number] = run
        run.start(body)
    }

    /// The alert on the screen as its presenters see it.
    private func presentation(_ number: Int) -> Presentation? {
        if let last = screenParts.presentation, last.number == number { return last.1 }
        guard let showing = screen.showing, showing.number == number else { return nil }
        let (id, waiting) = (showing.id, showing.waiting)
        let presentation = Presentation(
            record: showing.record, waitingCount: waiting.count, expiry: showing.expiry,
            clock: context.clock,
            appeared: { [weak self, clock = context.clock] in
                self?.send(.appeared(showing: number, at: clock.now()))
            },
            dismissal: { [weak self] in await self?.timeUntilDismissal(of: number) },
            waiting: { [weak self] in await self?.waitingNow(besides: id) ?? waiting },
            current: { [weak self] in try? await self?.store.record(id) },
            withdraw: { [weak self] reason in
                _ = try? await self?.withdraw(id, .own(.program), because: reason)
            },
            queueName: context.queueName)
        screenParts.presentation = (number, presentation)
        return presentation
    }

    /// What waits after an alert; the previous value if that can't be read.
    private func waitingNow(besides id: Alert.ID) async -> WaitingAlerts? {
        await countWaiting(besides: id) ?? screen.showing?.waiting
    }

    private func timeUntilDismissal(of number: Int) -> Duration? {
        guard let showing = screen.showing, showing.number == number else { return nil }
        return showing.timeUntilDismissal(at: context.clock.now())
    }
}
