import FoundationEssentials
import TextFormats

/// The screen of a manager: which alert is on it, who shows it, and what comes next.
///
/// It is a value that events change by rules. It never waits: what takes time is an ``Effect``,
/// which the manager carries out and which ends in one last event with the effect's number. So a
/// state knows what it waits for, and what is over is recognised by its number.
///
/// The leading screen of a queue chooses the current alert for all; a following one shows what the
/// leader announces, if it may. Either continues with the same alert when the lead passes from one
/// to the other.
struct Screen {
    /// A call of the manager that waits for the screen.
    typealias Call = Int

    /// The screen as a caller wants it.
    struct Start {
        let call: Call
        let presenters: [String]
        /// The only alert to be shown; `nil` for all.
        let only: Alert.ID?
        let keepsLog: Bool
    }

    enum State {
        case off
        case attaching(Start)
        /// There is nothing to show here for now.
        case idle(Pause, until: ClockReading?)
        /// It waits until other managers' alerts have left the terminal that they share; if that
        /// takes long, others lead.
        case takingTurn(isLate: Bool)
        case looking(Looking)
        /// The other screens are told which alert is current: the found one, to be shown here, or
        /// one that is left to them.
        case announcing(Looking, Announced)
        case showing(Showing)
    }

    /// Why nothing is shown.
    enum Pause {
        /// Nothing waits.
        case nothing
        /// Others show the current alert, or lead.
        case others
        /// No presenter can show anything before it has rested.
        case presenters
        /// The queue can't be read, or the others can't be told, so that another one should lead.
        case trouble
    }

    /// A look for the alert to show.
    struct Looking {
        let number: Int
        /// Whether something has changed that the look may have missed.
        var mustRepeat = false
        /// The alerts that were resolved or snoozed since it began.
        var changed: Set<Alert.ID> = []
        /// Whether nothing is left for the presenters here.
        var isEmpty = false
    }

    enum Announced {
        case here(AlertRecord, Upcoming)
        case elsewhere
    }

    private(set) var state = State.off
    /// What was asked for last, which may differ from what there is.
    private var wanted: Start?
    /// Why what is being attached is no longer wanted, if that is an error.
    private var startFailure: AlertError?
    private var stops: [Call] = []
    /// The current alert, while this screen leads and can't show it itself.
    private(set) var elsewhere: Elsewhere?
    private var skipped = SkippedAlerts()
    /// Whether the last current alert had no buttons.
    private var hasShownNotice = false
    private var common = Common()

    /// What the screen and its showing share.
    struct Common {
        var presenters = Presenters()
        var isLeading = false
        /// Calls that wait until there is nothing left to show.
        var idleCalls: [Call] = []
        /// The presenters that did not end in time, by the numbers of their runs.
        var lateRuns: [Int: String] = [:]
        var effects: [Effect] = []
        var now = ClockReading(onWallClock: 0)
        private var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }
}

// MARK: - Events and effects

extension Screen {
    /// What a screen is told.
    enum Event {
        case start(Start)
        case stop(Call)
        /// The queue is no longer the one that was opened.
        case failed(AlertError)
        case waitUntilIdle(Call)
        /// The end of ``Effect/attach(_:)``.
        case attached(AlertError?)
        /// Another manager has its turn for longer than a moment.
        case turnIsLate
        /// The end of ``Effect/takeTurn``; `false` if the screen did not get it.
        case tookTurn(Bool)
        /// Something was asked, or has changed.
        case queueChanged
        case found(Int, Found)
        case announced(Int, LeaseState)
        /// The screens may have changed.
        case lease(LeaseState)
        /// The alert of a showing is on the screen, since a moment.
        case appeared(showing: Int, at: ClockReading)
        /// The alert is on another screen, which its asker's delegate is to know.
        case appearedElsewhere(Alert.ID)
        /// A person has made a choice, which the presenter still shows.
        case chose(run: Int, PresenterChoice)
        /// A presenter is done.
        case ended(run: Int, RunEnd)
        /// A delegate has been notified; `isHandled` is its response to a cancel.
        case passed(Int, isHandled: Bool)
        case committed(Int, Result<AlertRecord, AlertError>)
        /// The end of ``Effect/leave(_:_:because:)``.
        case left(Int)
        case waiting(Alert.ID, WaitingAlerts)
        /// An alert was resolved or snoozed, here or elsewhere.
        case changed(Alert.ID)
        case resolved(AlertRecord)
        case snoozed(Alert.ID)
        /// An alert as it is now; if it still waits, it leaves for the reason, if there is one.
        case reread(Alert.ID, AlertRecord?, otherwise: EntryReason?)
        case cancel(Alert.ID, Resolution.Authority)
        /// An alert must leave the screen; `nil` means whichever is on it.
        case leave(Alert.ID?, because: EntryDetail.Return)
        /// A moment has come; see ``nextMoment``.
        case time
    }

    /// What a manager does for its screen.
    enum Effect {
        case attach(Start)
        case detach
        /// Ends a call.
        case resume(Call, AlertError?)
        case fail(AlertError)
        case takeTurn
        case cancelTurn
        case endTurn
        /// Lets another screen lead.
        case stepBack
        /// The same, and says that nothing can be shown here, or that these presenters are busy.
        case stayAway(busy: [String])
        case look(Int, Look)
        case announce(Int, shown: AlertRecord?, current: Alert.ID?)
        case announceNothing
        case read(Alert.ID, otherwise: EntryReason?)
        case countWaiting(Alert.ID)
        /// Lets a presenter show an alert, after telling it that its choice was not stored.
        case present(run: Int, name: String, showing: Int, after: AlertError?)
        case tell(run: Int, name: String, showing: Int, Departure)
        /// A presenter that has made a choice continues: it was not stored.
        case release(run: Int)
        /// A presenter takes the alert off.
        case end(run: Int)
        case notify(Int, Alert.ID, [Callback])
        /// Notifies the delegate that an alert has left the screen, unless it may be on others.
        case notifyDismissed(Int, AlertRecord, mayGoOn: Bool)
        case commit(Int, Change, through: String?)
        case noteAppearance(AlertRecord, on: [String])
        /// Says that an alert has left this screen, and logs it unless others show it.
        case leave(Int, AlertRecord, because: EntryDetail.Return)
        case post(PostedEntry)
        case dismissElsewhere(Alert.ID)
        /// Passes on a response, once the alert has left this screen.
        case settle(AlertRecord)
        /// Passes on a response to an alert that is not on this screen.
        case resolvedElsewhere(AlertRecord)
        case snoozedElsewhere(Alert.ID)
        /// The log contradicts an alert.
        case refuse(Alert.ID, AlertError)
        case report(BackgroundError)
    }

    /// How an alert has left the screen, as its presenters are told.
    enum Departure {
        case resolved(Response, choseHere: Bool)
        case snoozed(until: Date)
    }

    enum RunEnd {
        case returned(PresenterChoice)
        case failed(any Error)
        case told
    }

    /// What to look for.
    struct Look {
        /// The presenters that can show something now.
        var able: [String]
        /// The same, and those that rest.
        var unstuck: [String]
        var only: Alert.ID?
        var skipped: SkippedAlerts.Now
        var prefersQuestions: Bool
        /// Whether to find out whether nothing is left for the presenters here.
        var asksIfEmpty: Bool
    }

    /// What a look has found.
    struct Found {
        var lease: LeaseState
        /// `nil` if the queue can't be read.
        var upcoming: Upcoming?
        /// The alerts that would have come first but contradict the log.
        var refused: [(id: Alert.ID, error: AlertError)] = []
        /// The reason why the queue can't be read.
        var error: AlertError?
        var isEmpty = false
    }

    mutating func handle(_ event: Event, at now: ClockReading) -> [Effect] {
        common.now = now
        react(to: event)
        defer { common.effects = [] }
        return common.effects
    }

    private mutating func react(to event: Event) {
        switch event {
        case .start(let start): replace(with: start)
        case .stop(let call):
            stops.append(call)
            replace(with: nil)
        case .failed(let error): fail(error)
        case .waitUntilIdle(let call): waitUntilIdle(call)
        case .attached(let error): attached(error)
        case .turnIsLate: turnIsLate()
        case .tookTurn(let isTaken): tookTurn(isTaken)
        case .queueChanged: lookAgain()
        case .found(let number, let result):
            if case .looking(let looking) = state, looking.number == number {
                found(result, looking)
            }
        case .announced(let number, let result):
            if case .announcing(let looking, let what) = state, looking.number == number {
                announced(result, looking, what)
            }
        case .lease(let state): note(state)
        case .changed(let id): noteChange(of: id)
        case .resolved(let record): resolved(record)
        case .snoozed(let id): snoozed(id)
        case .leave(let id, let reason):
            if let shown, id == nil || id == shown {
                reactToAlert(.leave(shown, because: reason))
            }
        case .waiting(let id, let waiting) where id == elsewhere?.id:
            if elsewhere?.notice?.take(waiting) == true {
                common.effects.append(.dismissElsewhere(id))
            }
        case .appeared, .appearedElsewhere, .chose, .ended, .passed, .committed, .left, .waiting,
            .reread, .cancel:
            reactToAlert(event)
        case .time: timeHasCome()
        }
    }
}

// MARK: - What it is asked

extension Screen {
    /// Whether it shows alerts as they come.
    var isOn: Bool {
        switch state {
        case .off: false
        case .attaching(let start): goesOn(start)
        case .idle, .takingTurn, .looking, .announcing, .showing: goesOn
        }
    }

    /// Whether nothing is attached, nor about to be.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// Whether it has found nothing to do for now.
    var isIdle: Bool { if case .idle = state { true } else { false } }

    /// Whether callers wait until there is nothing left to show.
    var isEndAwaited: Bool { !common.idleCalls.isEmpty }

    /// The alert on the screen.
    var shown: Alert.ID? {
        switch state {
        case .showing(let showing): showing.id
        case .off, .attaching, .idle, .takingTurn, .looking, .announcing: nil
        }
    }

    /// Whether the alert on the screen is about to leave it.
    var isClearing: Bool {
        if case .showing(let showing) = state { showing.isClearing } else { false }
    }

    /// Whether it stays out of the lead because it can't show anything now.
    var isAway: Bool {
        switch state {
        case .idle(.presenters, _), .idle(.trouble, _): true
        case .takingTurn(let isLate): isLate
        case .off, .attaching, .idle, .looking, .announcing, .showing: false
        }
    }

    /// Whether the manager must not end, even if nothing else references it.
    var needsManager: Bool {
        switch state {
        case .off, .idle(.nothing, _): false
        case .idle(.others, _): elsewhere != nil
        case .idle(.presenters, _), .idle(.trouble, _), .attaching, .takingTurn, .looking,
            .announcing, .showing:
            true
        }
    }

    /// The alert on the screen, while it is shown or leaves.
    var showing: Showing? { if case .showing(let showing) = state { showing } else { nil } }

    var presenters: Presenters { common.presenters }

    /// The next moment at which something is to be done.
    var nextMoment: ClockReading? {
        var moments: [ClockReading?] = [elsewhere?.notice?.next]
        switch state {
        case .idle(_, let end): moments.append(end)
        case .showing(let showing): moments += showing.moments
        case .off, .attaching, .takingTurn, .looking, .announcing: break
        }
        return common.now.earliest(of: moments.compactMap(\.self))
    }

    private func goesOn(_ start: Start) -> Bool { wanted?.call == start.call }

    /// Whether it is still wanted as it is attached.
    private var goesOn: Bool { wanted.map { $0.call == common.presenters.start } ?? false }
}

// MARK: - Starting and stopping

extension Screen {
    /// Ends what there is, and then begins what is wanted instead.
    private mutating func replace(with start: Start?) {
        if let replaced = wanted, isPending(replaced) {
            common.effects.append(.resume(replaced.call, nil))
        }
        wanted = start
        end(because: .reason(.stopped))
    }

    /// Whether a start waits for what there is to end.
    private func isPending(_ start: Start) -> Bool {
        if case .attaching(let current) = state, current.call == start.call { return false }
        return common.presenters.start != start.call
    }

    private mutating func fail(_ error: AlertError) {
        guard isOn else { return }
        common.effects.append(.fail(error))
        wanted = nil
        if case .attaching = state { startFailure = error }
        end(because: .failed(error))
    }

    /// Ends what there is, so that what is wanted can begin.
    private mutating func end(because reason: EntryDetail.Return) {
        switch state {
        case .off: detach()
        case .attaching: break
        case .idle: detach()
        case .takingTurn: common.effects.append(.cancelTurn)
        // They end by themselves, and soon; meanwhile others may lead.
        case .looking, .announcing: common.effects.append(.stepBack)
        case .showing(let showing):
            common.effects.append(.stepBack)
            reactToAlert(.leave(showing.id, because: reason))
        }
    }

    /// Ends it, and begins again if that is wanted.
    private mutating func detach() {
        if case .off = state {} else { common.effects.append(.detach) }
        state = .off
        common.presenters = Presenters()
        common.lateRuns = [:]
        common.isLeading = false
        elsewhere = nil
        common.effects += (stops + common.idleCalls).map { .resume($0, nil) }
        (stops, common.idleCalls) = ([], [])
        guard let wanted else { return }
        state = .attaching(wanted)
        common.effects.append(.attach(wanted))
    }

    private mutating func attached(_ error: AlertError?) {
        guard case .attaching(let start) = state else { return }
        let end: Effect = .resume(start.call, error ?? startFailure)
        startFailure = nil
        if error == nil {
            common.presenters = Presenters(start)
        } else {
            // There is nothing to detach.
            state = .off
            if goesOn(start) { wanted = nil }
        }
        if error == nil, goesOn(start) { look() } else { detach() }
        common.effects.append(end)
    }

    private mutating func waitUntilIdle(_ call: Call) {
        guard isOn else { return common.effects.append(.resume(call, nil)) }
        common.idleCalls.append(call)
        lookAgain()
    }
}

// MARK: - The next alert

extension Screen {
    /// Looks for the alert to show.
    private mutating func look() {
        guard goesOn else { return detach() }
        let able = common.presenters.able(at: common.now)
        guard !able.isEmpty else {
            common.effects.append(.stayAway(busy: []))
            common.isLeading = false
            state = .idle(.presenters, until: common.presenters.nextTry(after: common.now))
            return
        }
        state = .takingTurn(isLate: false)
        common.effects.append(.takeTurn)
    }

    private mutating func turnIsLate() {
        guard case .takingTurn = state else { return }
        state = .takingTurn(isLate: true)
        common.isLeading = false
        common.effects.append(.stayAway(busy: common.presenters.able(at: common.now)))
    }

    private mutating func lookAgain() {
        switch state {
        case .idle(.trouble, _), .off, .attaching, .takingTurn, .showing: break
        case .idle: look()
        case .looking, .announcing: noteInLook { $0.mustRepeat = true }
        }
    }

    /// Notes something in the look that is under way, if there is one.
    private mutating func noteInLook(_ note: (inout Looking) -> Void) {
        switch state {
        case .looking(var looking):
            note(&looking)
            state = .looking(looking)
        case .announcing(var looking, let what):
            note(&looking)
            state = .announcing(looking, what)
        case .off, .attaching, .idle, .takingTurn, .showing: break
        }
    }

    private mutating func tookTurn(_ isTaken: Bool) {
        guard case .takingTurn = state else { return }
        guard isTaken, goesOn else {
            if isTaken { common.effects.append(.endTurn) }
            return look()
        }
        let looking = Looking(number: common.nextNumber())
        state = .looking(looking)
        common.effects.append(
            .look(
                looking.number,
                Look(
                    able: common.presenters.able(at: common.now),
                    unstuck: common.presenters.unstuck,
                    only: common.presenters.only, skipped: skipped.now(common.now),
                    prefersQuestions: hasShownNotice, asksIfEmpty: isEndAwaited)))
    }

    private mutating func found(_ found: Found, _ looking: Looking) {
        for (id, error) in found.refused {
            skipped.refused.add(id, at: common.now)
            common.effects.append(.refuse(id, error))
        }
        if let error = found.error, case .incompatible = error { fail(error) }
        guard goesOn else { return endRound() }
        var looking = looking
        looking.isEmpty = found.isEmpty
        common.isLeading = found.lease.isLeading
        switch found.lease {
        case .lost:
            elsewhere = nil
            pauseForOthers(looking)
        case .leading(let others): lead(found, besides: others, looking)
        case .following:
            elsewhere = nil
            guard let upcoming = found.upcoming, let record = upcoming.record,
                common.presenters.canShow(record, at: common.now)
            else {
                common.effects.append(.announceNothing)
                return pauseForOthers(looking)
            }
            announce(.here(record, upcoming), current: record, looking)
        }
    }

    private mutating func lead(_ found: Found, besides others: ScreenRoster, _ looking: Looking) {
        skipped.note(others)
        guard let upcoming = found.upcoming else { return pauseInTrouble() }
        guard let record = upcoming.record else {
            elsewhere = nil
            common.effects.append(.announceNothing)
            let nextTry = skipped.nextTry(after: common.now)
            return pause(.nothing, until: nextTry, looking)
        }
        if common.presenters.canShow(record, at: common.now) {
            elsewhere = nil
            announce(.here(record, upcoming), current: record, looking)
        } else if keepElsewhere(record, on: others) {
            announce(.elsewhere, current: record, looking)
        } else {
            skipped.unshown.add(record.id, at: common.now)
            endRound()
        }
    }

    private mutating func announce(
        _ what: Announced, current record: AlertRecord, _ looking: Looking
    ) {
        hasShownNotice = record.alert.buttons.isEmpty
        state = .announcing(looking, what)
        let shown: AlertRecord? = if case .here = what { record } else { nil }
        common.effects.append(.announce(looking.number, shown: shown, current: record.id))
    }

    private mutating func announced(
        _ lease: LeaseState, _ looking: Looking, _ what: Announced
    ) {
        switch (lease, what) {
        case (.lost, .here): endRound()
        case (.lost, .elsewhere): pauseInTrouble()
        case (_, .elsewhere): pauseForOthers(looking)
        case (_, .here(let record, let upcoming)):
            guard goesOn, !looking.changed.contains(record.id) else { return endRound() }
            show(record, upcoming)
        }
    }

    /// Ends one look with its showing, and begins the next.
    private mutating func endRound() {
        common.effects.append(.endTurn)
        look()
    }

    private mutating func pauseForOthers(_ looking: Looking) { pause(.others, until: nil, looking) }

    private mutating func pause(_ pause: Pause, until end: ClockReading?, _ looking: Looking) {
        guard !looking.mustRepeat else { return endRound() }
        common.effects.append(.endTurn)
        let moments = [end, common.presenters.nextTry(after: common.now)].compactMap(\.self)
        state = .idle(pause, until: common.now.earliest(of: moments))
        if looking.isEmpty {
            common.effects += common.idleCalls.map { .resume($0, nil) }
            common.idleCalls = []
        }
    }

    /// Lets another screen lead, which may be able to read the queue or to tell the others.
    private mutating func pauseInTrouble() {
        guard goesOn else { return endRound() }
        elsewhere = nil
        common.isLeading = false
        common.effects += [.endTurn, .stayAway(busy: common.presenters.able(at: common.now))]
        state = .idle(.trouble, until: common.now.advanced(by: .seconds(1)))
    }
}

// MARK: - Other screens, and what happens to alerts

extension Screen {
    private mutating func note(_ lease: LeaseState) {
        switch state {
        case .off, .attaching, .takingTurn: break
        case .idle, .looking, .announcing:
            if case .leading(let others) = lease, common.isLeading, others.all.isEmpty,
                elsewhere == nil
            {
                return
            }
            lookAgain()
        case .showing:
            // The leader's timer decides when an alert without buttons leaves.
            common.isLeading = lease.isLeading
            reactToAlert(.lease(lease))
        }
    }

    private mutating func noteChange(of id: Alert.ID) {
        skipped.forget(id)
        noteInLook { $0.changed.insert(id) }
    }

    private mutating func resolved(_ record: AlertRecord) {
        noteChange(of: record.id)
        if shown == record.id {
            reactToAlert(.resolved(record))
        } else {
            common.effects.append(.resolvedElsewhere(record))
        }
    }

    private mutating func snoozed(_ id: Alert.ID) {
        noteChange(of: id)
        if shown == id {
            reactToAlert(.snoozed(id))
        } else {
            common.effects.append(.snoozedElsewhere(id))
            lookAgain()
        }
    }

    /// Leaves an alert to other screens, which may already show it; `false` if none of them does.
    private mutating func keepElsewhere(
        _ record: AlertRecord, on others: ScreenRoster
    ) -> Bool {
        var current =
            elsewhere.flatMap { $0.id == record.id ? $0 : nil }
            ?? Elsewhere(record.id, since: common.now)
        let isKept = current.note(record, on: others, at: common.now)
        elsewhere = isKept ? current : nil
        if !isKept, current.wasShown {
            common.effects.append(.post(.returned(record, because: .reason(.unshown))))
        }
        return isKept
    }

    private mutating func timeHasCome() {
        if let id = elsewhere?.id {
            switch elsewhere?.notice?.takeStep(at: common.now) {
            case .count?: common.effects.append(.countWaiting(id))
            case .dismiss?: common.effects.append(.dismissElsewhere(id))
            case nil: break
            }
        }
        switch state {
        case .idle(_, let end):
            if let end, common.now.isAtOrAfter(end) { look() }
        case .showing: reactToAlert(.time)
        case .off, .attaching, .takingTurn, .looking, .announcing: break
        }
    }
}

// MARK: - The alert on the screen

extension Screen {
    private mutating func show(_ record: AlertRecord, _ upcoming: Upcoming) {
        state = .showing(Showing(record, upcoming, &common))
    }

    private mutating func reactToAlert(_ event: Event) {
        if case .ended(let run, _) = event, let name = common.lateRuns.removeValue(forKey: run) {
            common.presenters.markUsable(name)
            return lookAgain()
        }
        guard case .showing(var showing) = state else { return }
        showing.handle(event, &common)
        state = .showing(showing)
        if case .over(let end, let resolved) = showing.state { finish(showing.id, end, resolved) }
    }

    /// Goes on when the screen is clear.
    private mutating func finish(
        _ id: Alert.ID, _ end: Showing.End, _ resolved: AlertRecord?
    ) {
        if let resolved { common.effects.append(.settle(resolved)) }
        switch end {
        case .resolved, .snoozed, .returned: skipped.forget(id)
        case .lost: skipped.failed.add(id, at: common.now)
        case .refused(let error):
            skipped.refused.add(id, at: common.now)
            common.effects.append(.refuse(id, error))
        }
        endRound()
    }
}
