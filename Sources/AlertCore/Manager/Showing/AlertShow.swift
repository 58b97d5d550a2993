/// One appearance of an alert on a manager's screens, from its first line until all are clear.
actor AlertShow: QueueActor {
    nonisolated let id: Alert.ID
    /// Its record if it has its response by now, even if that came while it left the screen.
    private(set) var ended: AlertRecord?
    private(set) var record: AlertRecord
    private let upcoming: Upcoming
    private let lease: any ScreenLease
    /// The presenters that may show it; resting ones join in when they have rested.
    private let presenters: [any AlertPresenter]
    /// All presenters, as they were when the alert was taken to the screen.
    private let loopPresenters: LoopPresenters
    private let appearance: Appearance
    nonisolated let context: QueueContext
    private nonisolated let signals = ShowSignals()
    private weak let loop: PresentationLoop?
    private let grace: GracePeriod
    var runs: PresenterRuns
    /// When the presenters were asked to show it.
    private let start: ClockReading
    /// When it began to leave the screen, if it has.
    private var leavingSince: ClockReading?
    /// Whether it has ended, and nobody looks at ``ended`` any longer.
    private var isOver = false
    /// How often its time on the screen was reported to be over.
    private var timerCount = 0
    /// Whether the delegate is being asked about a cancel.
    private var isCancelling = false
    /// Its record once it has been snoozed, here or elsewhere.
    var snoozed: AlertRecord?

    /// Prepares an appearance on those of a loop's presenters that may show it.
    init(
        _ record: AlertRecord, _ upcoming: Upcoming, on lease: any ScreenLease,
        by all: LoopPresenters, in context: QueueContext, for loop: PresentationLoop
    ) {
        id = record.id
        self.record = record
        self.upcoming = upcoming
        self.lease = lease
        presenters = all.candidates(for: record)
        loopPresenters = all
        self.context = context
        self.loop = loop
        grace = loop.grace
        start = context.clock.now()
        let (waiting, names) = (upcoming.waiting, presenters.map(\.name))
        appearance = Appearance(of: record, waiting: waiting, on: names, signals, in: context)
        let presentation = appearance.presentation(until: upcoming.expiry, waiting: waiting)
        runs = PresenterRuns(of: presentation, signals, context.clock, for: loop)
    }

    /// Shows the alert, and returns when it has left the screen.
    func run() async -> ShowEnd {
        // From here on no event of the alert is missed, however long this takes.
        if context.caller.isAsker(record.source), await context.delegates.waitForArrivals() {
            _ = await lease.show(id, current: id, hasDelegate: delegate != nil)
        }
        await delegate?.willPresent(record)
        for presenter in presenters {
            let rest = loopPresenters.rest(of: presenter.name, at: context.clock.now())
            runs.start(presenter, rest: rest)
        }
        if upcoming.isCancelRequested { requestCancel(.requested) }
        while true {
            guard let end = await react(to: signals.next()) else { continue }
            await clear(end)
            isOver = true
            return end
        }
    }

    private var delegate: (any AlertManagerDelegate)? { context.delegates[id] }

    /// How long it has been leaving the screen, if it is.
    var leavingTime: Duration? { leavingSince?.time(until: context.clock.now()) }
}

// MARK: - Messages

extension AlertShow {
    /// Called when it has its response by other means than this screen; returns `false` if it is
    /// over, and would not pass the response on.
    @discardableResult
    func hear(_ record: AlertRecord) -> Bool {
        if isOver { return false }
        if leavingSince != nil { ended = record } else { signals.send(.resolved(record)) }
        return true
    }

    /// Called when it was snoozed by other means than this screen.
    nonisolated func hearSnoozed() { signals.send(.snoozed) }

    /// Called when it has appeared on another screen, which its asker's delegate is to know.
    nonisolated func hearAppeared() { appearance.noteElsewhere() }

    /// Lets the presenters fail if it has not appeared in time, and only they may show it: what
    /// nobody can see here must not hold up the other screens.
    func giveUpUnseen(besides others: ScreenRoster) {
        let limit = start.advanced(by: ShownElsewhere.patienceWithClaim)
        guard !others.all.isEmpty, !others.shows(id), !others.canShow(record.alert, id),
            !appearance.isOnScreen, context.clock.now().isAtOrAfter(limit)
        else { return }
        signals.send(.unseen)
    }

    /// Takes it off the screen.
    nonisolated func leave(because reason: String) { signals.send(.leave(reason: reason)) }

    /// Cancels it; the delegate is asked only once. Returns `false` if it is not asked any more,
    /// because the alert leaves the screen.
    @discardableResult
    func requestCancel(_ authority: Resolution.Authority) -> Bool {
        guard leavingSince == nil, delegate != nil || authority != .requested else { return false }
        guard !isCancelling else { return true }
        isCancelling = true
        signals.send(.cancel(authority))
        return true
    }

    /// Carries out a cancel that another process requested, if the log has such a request.
    func lookForCancel() async throws(AlertError) {
        guard delegate != nil, !isCancelling else { return }
        if try await context.store.find(.id(id)).isCancelRequested { requestCancel(.requested) }
    }
}

// MARK: - Signals

extension AlertShow {
    private func react(to signal: ShowSignal) async -> ShowEnd? {
        switch signal {
        case .chose(let run, let choice, let isOnScreen):
            if !isOnScreen { runs.remove(run) }
            appearance.note()
            return await store(choice, by: run)
        case .ended(let run, let error):
            // A run that another one has replaced says nothing about that one.
            return runs.contains(run) ? await ended(run.name, because: error) : nil
        case .resolved(let record):
            return .resolved(record, chosenOn: nil)
        case .snoozed:
            guard let found = try? await context.store.record(id) else { return .waits }
            if found.response != nil { return .resolved(found, chosenOn: nil) }
            // It may already have returned before this was noticed.
            guard found.snoozedUntil != nil else { return nil }
            snoozed = found
            return .waits
        case .dismissTimerFired:
            // One timer counts for all screens: the leader's, unless it is a second late.
            timerCount += 1
            return lease.isLeading || timerCount > 1 ? await resolve(.dismiss, by: nil) : nil
        case .appeared:
            await appearance.tell()
        case .cancel(let authority):
            await context.delegates.calls.wait(for: id)
            noteState()
            let isHandled = await delegate?.cancel(record) == .handled
            return await resolve(.cancel(handled: isHandled, authority), by: nil)
        case .leave(let reason):
            await returned(because: reason)
            return .waits
        case .unseen:
            for run in runs.all where !run.isResting && !appearance.isOnScreen {
                if let end = await ended(run.name, because: UnseenError()) { return end }
            }
        case .graceOver, .told:
            break
        }
        return nil
    }

    /// Called when a presenter can no longer show the alert: the others continue, if there are any,
    /// and it tries again when it has rested.
    func ended(_ name: String, because error: any Error) async -> ShowEnd? {
        // It may still be waiting with a choice that the alert does not offer.
        runs.remove(name)?.leave()
        if !(error is CancellationError) {
            context.errors.report(.presenter(name: name, id, error))
        }
        let rest = await loop?.noteFailure(of: name)
        if runs.isShowing {
            if let rest, let presenter = presenter(name) { runs.start(presenter, rest: rest) }
            return nil
        }
        await returned(because: SafeText.line("\(error)"))
        return .lost
    }

    func presenter(_ name: String) -> (any AlertPresenter)? {
        presenters.first { $0.name == name }
    }

    func returned(because reason: String) async {
        // In this order: if two screens leave at once, one of them finds that none is left.
        _ = await lease.show(nil, current: nil, hasDelegate: false)
        let others = await lease.lookAtOthers()
        let isElsewhere = others.map { $0.shows(id) || $0.canShow(record.alert, id) }
        if isElsewhere == true { return }
        context.store.post(.returned(record, because: reason), by: context.caller)
    }
}

// MARK: - Off the screen

extension AlertShow {
    /// Updates the record's state: whether the alert is on the screen.
    private func noteState() {
        if record.response == nil, appearance.isOnScreen { record.state = .presented }
    }

    /// Takes the alert off every screen, and notifies everyone in the documented order.
    private func clear(_ end: ShowEnd) async {
        leavingSince = context.clock.now()
        // Calls about other screens come first.
        await context.delegates.calls.wait(for: id)
        if end.wasSeen, context.delegates.ofOwn(id) != nil { appearance.noteElsewhere() }
        await appearance.end()
        noteState()
        var chosenOn: String?
        if case .resolved(let resolved, let name) = end { (record, chosenOn) = (resolved, name) }
        let (response, index) = (record.response, record.response?.buttonIndex ?? -1)
        if response?.isClick == true { await delegate?.clicked(record, buttonAt: index) }
        await delegate?.willDismiss(record, withButtonAt: index)
        appearance.stopTimer()
        let able = runs.all.filter { !$0.isResting }.map(\.name)
        await loop?.noteSuccess(of: able + [chosenOn].compactMap(\.self))
        for run in runs.all { run.leave() }
        await waitForPresenters()
        if let response {
            tell { [chosenOn] presenter, presentation in
                await presenter.didResolve(
                    presentation, response: response, choseHere: presenter.name == chosenOn)
            }
        } else if let end = snoozed?.snoozedUntil {
            tell { presenter, presentation in
                await presenter.didSnooze(presentation, until: end)
            }
        }
        await waitForPresenters()
        for case .resolved(let late) in signals.finish() { ended = late }
        if response != nil { ended = record }
        // An asker's delegate is notified of the other screens, too.
        let mayGoOn = response == nil && snoozed == nil && context.delegates.ofOwn(id) != nil
        if mayGoOn, await lease.lookAtOthers()?.shows(id) == true { return }
        context.delegates.endsPresentation(of: id)
        await delegate?.didDismiss(record, withButtonAt: index)
    }

    /// Notifies every presenter that may show the alert of its end.
    private func tell(_ body: @escaping PresenterRuns.Telling) {
        for presenter in presenters { runs.tell(presenter, body) }
    }

    /// Waits for the presenters' tasks; one that takes too long is not used until it ends.
    private func waitForPresenters() async {
        guard !runs.isEmpty else { return }
        let end = grace.begin(for: signals)
        defer { grace.end() }
        while !runs.isEmpty {
            switch await signals.next() {
            case .chose(_, _, isOnScreen: true):
                // Too late: another response was first.
                break
            case .chose(let run, _, _), .ended(let run, _), .told(let run):
                runs.remove(run)
            case .resolved(let record):
                ended = record
            case .graceOver where context.clock.now().isAtOrAfter(end):
                for run in runs.all {
                    // In this order: it may end at any moment, and then reports that it is free.
                    await loop?.note(run.name, isStuck: true)
                    if !runs.noteLate(run) { await loop?.note(run.name, isStuck: false) }
                }
                return runs.removeAll()
            default:
                break
            }
        }
    }
}
