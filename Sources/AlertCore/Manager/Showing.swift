import TextFormats

/// One appearance of an alert on a manager's screen, from its first line until all is clear.
///
/// Like ``Screen``, of whose events it gets those of its alert, it is a value and never waits.
struct Showing {
    enum State {
        /// The delegate is told that the alert is about to be shown.
        case beginning(Int)
        case open
        /// A choice, or an end by the system, is on its way to disk: the alert stays on the screen,
        /// the choice marked.
        case storing(Int, Storing)
        case clearing(Clearing)
        /// It has left; `resolved` is its record if it has its response by now, even if that came
        /// while it left.
        case over(End, resolved: AlertRecord?)
    }

    /// How it ended.
    enum End {
        /// It has its response; the name is that of the presenter on which a person chose it.
        case resolved(AlertRecord, chosenOn: String?)
        case snoozed(AlertRecord?)
        /// The screen is needed for something else, or is lost.
        case returned(because: EntryDetail.Return)
        /// Every presenter failed.
        case lost(because: EntryDetail.Return)
        /// No choice made here can be stored, because the log contradicts the alert.
        case refused(AlertError)
    }

    struct Storing {
        /// The run whose person chose; `nil` for a timer and a cancel.
        let run: Int?
        let name: String?
        let isSnooze: Bool
    }

    /// A presenter with the alert.
    struct Run {
        enum State {
            /// It failed, and is tried again then.
            case resting(until: ClockReading)
            /// It made a choice that the alert does not offer; it rests when it has ended.
            case leaving(thenUntil: ClockReading)
            case running
            /// Its person has made a choice, which it still shows.
            case chosen
            /// It has made a choice and is done.
            case done
            /// Its choice was not stored; it is started again when it is done.
            case failed(AlertError)
        }

        let number: Int
        let name: String
        var state: State

        /// Whether the alert is on it, or about to be.
        var isThere: Bool {
            switch state {
            case .running, .chosen, .failed: true
            case .resting, .leaving, .done: false
            }
        }

        /// Whether its presenter can't be used otherwise.
        var isBusy: Bool { if case .leaving = state { true } else { isThere } }
    }

    /// The steps after an alert has ended, in order.
    struct Clearing {
        enum Step {
            /// The other screens are told.
            case leaving(Int)
            case delegate(Int)
            /// The presenters take it off.
            case presenters(until: ClockReading)
            /// The presenters are told how it ended.
            case telling(until: ClockReading)
            /// The delegate is told that it has left the screen.
            case dismissed(Int)
        }

        let end: End
        let since: ClockReading
        var step: Step
        /// The record, if the response came since.
        var resolved: AlertRecord?
    }

    /// How long presenters may take to clear their screens.
    private static let grace = Duration.seconds(2)

    let number: Int
    private(set) var state: State
    private(set) var record: AlertRecord
    /// When it expires.
    let expiry: ClockReading?
    /// The names of the presenters that may show it.
    private let names: [String]
    /// When the presenters were asked to show it.
    private let start: ClockReading
    private var runs: [Run] = []
    /// The alerts that wait after it.
    private(set) var waiting: WaitingAlerts
    private var notice: Notice?
    /// How often its time on the screen was over.
    private var dismissals = 0
    private var isOnScreen = false
    /// Whether its delegate was told that it is on a screen.
    private var isTold = false
    /// A cancel that the delegate is asked about, or was.
    private var cancel: (call: Int, authority: Resolution.Authority)?
    /// The events that came while a choice was being stored.
    private var deferred: [Screen.Event] = []

    var id: Alert.ID { record.id }

    init(_ record: AlertRecord, _ upcoming: Upcoming, _ common: inout Screen.Common) {
        self.record = record
        number = common.nextNumber()
        names = common.presenters.allowed(for: record)
        start = common.now
        waiting = upcoming.waiting
        expiry =
            if record.followsWallClock {
                record.expiresAt.map { ClockReading(onWallClock: Timestamp.milliseconds($0)) }
            } else {
                upcoming.timeLeft.map(common.now.advanced)
            }
        let call = common.nextNumber()
        state = .beginning(call)
        common.effects.append(.notify(call, record.id, [Callback(.willPresent, record)]))
        if upcoming.isCancelRequested { deferred.append(.cancel(record.id, .requested)) }
    }

    var isClearing: Bool {
        switch state {
        case .clearing, .over: true
        case .beginning, .open, .storing: false
        }
    }

    /// When something is to be done.
    var moments: [ClockReading?] {
        switch state {
        case .clearing(let clearing):
            switch clearing.step {
            case .presenters(let end), .telling(let end): [end]
            case .leaving, .delegate, .dismissed: []
            }
        case .open:
            [notice?.next]
                + runs.map { if case .resting(let end) = $0.state { end } else { nil } }
        case .beginning, .storing, .over: []
        }
    }

    func timeUntilDismissal(at now: ClockReading) -> Duration? {
        notice?.timeLeft(at: now, othersWait: waiting.count > 0)
    }
}

// MARK: - Events

extension Showing {
    mutating func handle(_ event: Screen.Event, _ common: inout Screen.Common) {
        switch state {
        case .beginning(let call):
            if case .passed(let passed, _) = event, passed == call {
                open(&common)
            } else {
                reactAtOnce(to: event, &common)
            }
        case .open: react(to: event, &common)
        case .storing(let number, let storing):
            if case .committed(let committed, let result) = event, committed == number {
                state = .open
                stored(result, storing, &common)
                replay(&common)
            } else {
                reactAtOnce(to: event, &common)
            }
        case .clearing(let clearing): clear(clearing, on: event, &common)
        case .over: break
        }
    }

    /// Reacts to an event now if it doesn't change what is on the screen, and otherwise later.
    private mutating func reactAtOnce(to event: Screen.Event, _ common: inout Screen.Common) {
        switch event {
        case .appeared, .appearedElsewhere, .waiting: react(to: event, &common)
        case .ended(let run, _) where isChosen(run): set(run, to: .done)
        // What is due is done once the alert is open again.
        case .time: break
        default: deferred.append(event)
        }
    }

    private mutating func replay(_ common: inout Screen.Common) {
        let events = deferred
        deferred = []
        for event in events { handle(event, &common) }
    }

    private mutating func react(to event: Screen.Event, _ common: inout Screen.Common) {
        switch event {
        case .appeared(let showing, let moment):
            if showing == number { appear(at: moment, &common) }
        case .appearedElsewhere:
            tellAppearance(&common)
        case .chose(let run, let choice):
            guard let name = runs.first(where: { $0.number == run })?.name else { return }
            set(run, to: .chosen)
            appear(at: common.now, &common)
            store(choice, by: run, name, &common)
        case .ended(let run, let end): ended(run, end, &common)
        case .resolved(let record): end(.resolved(record, chosenOn: nil), &common)
        case .snoozed: common.effects.append(.read(id, otherwise: nil))
        case .reread(_, let record, let reason): reread(record, otherwise: reason, &common)
        case .cancel(_, let authority):
            // It is asked once, even if its response could not be stored.
            guard cancel == nil else { return }
            let call = common.nextNumber()
            cancel = (call, authority)
            common.effects.append(.notify(call, id, [Callback(.cancel, recordNow)]))
        case .passed(let call, let isHandled):
            guard let cancel, cancel.call == call else { return }
            let resolution = Resolution.cancel(handled: isHandled, cancel.authority)
            commit(.resolve(id, resolution), by: nil, nil, &common)
        case .leave(_, let reason): end(.returned(because: reason), &common)
        case .waiting(_, let waiting):
            self.waiting = waiting
            if notice?.take(waiting) == true { dismiss(&common) }
        case .lease(let state): note(state, &common)
        case .time: timeHasCome(&common)
        case .start, .stop, .failed, .waitUntilIdle, .attached, .turnIsLate, .tookTurn,
            .queueChanged, .found, .announced, .committed, .left, .changed:
            break
        }
    }

    private func isChosen(_ run: Int) -> Bool {
        if case .chosen? = runs.first(where: { $0.number == run })?.state { true } else { false }
    }

    private mutating func set(_ run: Int, to state: Run.State) {
        guard let index = runs.firstIndex(where: { $0.number == run }) else { return }
        runs[index].state = state
    }

    /// The record, with whether it is on the screen.
    private var recordNow: AlertRecord {
        isOnScreen && record.response == nil ? record.onScreen : record
    }
}

// MARK: - On the screen

extension Showing {
    private mutating func open(_ common: inout Screen.Common) {
        state = .open
        for name in names {
            let time = common.presenters.rest(of: name, at: common.now)
            if time > .zero {
                rest(name, until: common.now.advanced(by: time), &common)
            } else {
                present(name, after: nil, &common)
            }
        }
        replay(&common)
    }

    private mutating func rest(
        _ name: String, until end: ClockReading, _ common: inout Screen.Common
    ) {
        let number = common.nextNumber()
        runs.append(Run(number: number, name: name, state: .resting(until: end)))
    }

    private mutating func present(
        _ name: String, after error: AlertError?, _ common: inout Screen.Common
    ) {
        let run = Run(number: common.nextNumber(), name: name, state: .running)
        runs.append(run)
        common.effects.append(
            .present(run: run.number, name: name, showing: number, after: error))
    }

    private mutating func appear(at moment: ClockReading, _ common: inout Screen.Common) {
        guard !isOnScreen else { return }
        isOnScreen = true
        if record.alert.buttons.isEmpty { notice = Notice(for: record.alert, from: moment) }
        common.effects.append(.noteAppearance(recordNow, on: names))
        tellAppearance(&common)
    }

    private mutating func tellAppearance(_ common: inout Screen.Common) {
        guard !isTold else { return }
        isTold = true
        common.effects.append(
            .notify(common.nextNumber(), id, [Callback(.didPresent, record.onScreen)]))
    }

    private mutating func timeHasCome(_ common: inout Screen.Common) {
        for run in runs {
            guard case .resting(let end) = run.state, common.now.isAtOrAfter(end) else { continue }
            runs.removeAll { $0.number == run.number }
            present(run.name, after: nil, &common)
        }
        switch notice?.takeStep(at: common.now) {
        case .dismiss?: dismiss(&common)
        case .count?: common.effects.append(.countWaiting(id))
        case nil: break
        }
    }

    /// Dismisses an alert without buttons.
    private mutating func dismiss(_ common: inout Screen.Common) {
        // One timer counts for all screens: the leader's, unless it is a second late.
        dismissals += 1
        guard common.isLeading || dismissals > 1 else { return }
        commit(.resolve(id, .dismiss), by: nil, nil, &common)
    }

    private mutating func reread(
        _ found: AlertRecord?, otherwise reason: EntryReason?, _ common: inout Screen.Common
    ) {
        if found?.response != nil, let found {
            end(.resolved(found, chosenOn: nil), &common)
        } else if let found, found.snoozedUntil != nil {
            end(.snoozed(found), &common)
        } else if found == nil, reason == nil {
            end(.snoozed(nil), &common)
        } else if found != nil, let reason {
            end(.returned(because: .reason(reason)), &common)
        }
        // Otherwise it may already have returned before its snooze was noticed.
    }

    private mutating func note(_ lease: LeaseState, _ common: inout Screen.Common) {
        switch lease {
        case .following(let others) where others.current != nil && others.current != id:
            common.effects.append(.read(id, otherwise: .notCurrent))
        // Between two alerts none is current.
        case .following: break
        case .lost: end(.returned(because: .reason(.detached)), &common)
        case .leading(let others):
            // What nobody can see here must not hold up the other screens.
            let limit = start.advanced(by: Elsewhere.patienceWithAnnouncement)
            guard !others.all.isEmpty, !others.shows(id), !others.canShow(record.alert, id),
                !isOnScreen, common.now.isAtOrAfter(limit)
            else { return }
            for run in runs where run.isThere {
                if isClearing { return }
                fail(run.number, run.name, UnseenError(), &common)
            }
        }
    }
}

/// A presenter has not said in time that an alert is on the screen.
struct UnseenError: Error, CustomStringConvertible {
    let description = "it is not on the screen yet"
}

// MARK: - Runs and choices

extension Showing {
    private mutating func ended(
        _ number: Int, _ end: Screen.RunEnd, _ common: inout Screen.Common
    ) {
        guard let run = runs.first(where: { $0.number == number }) else { return }
        switch (run.state, end) {
        case (.failed(let error), _):
            runs.removeAll { $0.number == number }
            present(run.name, after: error, &common)
        case (.chosen, _): set(number, to: .done)
        case (.running, .returned(let choice)):
            set(number, to: .done)
            appear(at: common.now, &common)
            store(choice, by: number, run.name, &common)
        case (.running, .failed(let error)):
            set(number, to: .done)
            fail(number, run.name, error, &common)
        case (.leaving(let end), _): set(number, to: .resting(until: end))
        case (.running, .told), (.resting, _), (.done, _): break
        }
    }

    /// Called when a presenter can't show the alert: the others continue, if there are any, and it
    /// tries again when it has rested.
    private mutating func fail(
        _ number: Int, _ name: String, _ error: any Error, _ common: inout Screen.Common
    ) {
        let wasThere = runs.contains { $0.number == number && $0.isThere }
        runs.removeAll { $0.number == number }
        if !(error is CancellationError) {
            common.effects.append(.report(.presenter(name: name, id, error)))
        }
        // Callers that wait until nothing is left should not wait for a long rest as well.
        let bound: Duration? = common.idleCalls.isEmpty ? nil : .seconds(1)
        let pause = common.presenters.noteFailure(of: name, at: common.now, atMost: bound)
        let end = common.now.advanced(by: pause)
        let goesOn = runs.contains(where: \.isThere)
        if wasThere {
            // It may still be waiting with its choice.
            common.effects.append(.end(run: number))
            runs.append(Run(number: number, name: name, state: .leaving(thenUntil: end)))
        } else if goesOn {
            rest(name, until: end, &common)
        }
        if !goesOn { self.end(.lost(because: .failed(error)), &common) }
    }

    private mutating func store(
        _ choice: PresenterChoice, by run: Int, _ name: String, _ common: inout Screen.Common
    ) {
        let seen = record.seenDigest
        let change: Change =
            switch choice {
            case .button(let index, let input):
                .resolve(id, .choose(button: index, .person, input), seen: seen)
            case .close where record.alert.buttons.isEmpty:
                .resolve(id, .choose(button: nil), seen: seen)
            case .later(let time?): .snooze(id, until: .after(time))
            case .later(nil), .close: .snooze(id, until: nil)
            }
        commit(change, by: run, name, &common)
    }

    private mutating func commit(
        _ change: Change, by run: Int?, _ name: String?, _ common: inout Screen.Common
    ) {
        let number = common.nextNumber()
        let isSnooze = if case .snooze = change { true } else { false }
        state = .storing(number, Storing(run: run, name: name, isSnooze: isSnooze))
        common.effects.append(.commit(number, change, through: name))
    }

    private mutating func stored(
        _ result: Result<AlertRecord, AlertError>, _ storing: Storing,
        _ common: inout Screen.Common
    ) {
        switch result {
        case .success(let stored):
            end(
                storing.isSnooze ? .snoozed(stored) : .resolved(stored, chosenOn: storing.name),
                &common)
        case .failure(.alreadyResolved(let response)), .failure(.late(let response)):
            var resolved = record
            resolved.state = .resolved
            resolved.response = response
            end(.resolved(resolved, chosenOn: nil), &common)
        case .failure(let error): failed(error, storing, &common)
        }
    }

    /// Decides what an error means for the screen.
    private mutating func failed(
        _ error: AlertError, _ storing: Storing, _ common: inout Screen.Common
    ) {
        if case .inconsistent = error { return end(.refused(error), &common) }
        guard let number = storing.run, let name = storing.name else { return }
        let run = runs.first { $0.number == number }
        let isFinal =
            switch error {
            // What a person has not filled in, or has filled in wrongly, can be corrected.
            case .invalid: record.alert.fields.isEmpty
            case .noSuchButton, .notAsSeen: true
            default: false
            }
        if isFinal {
            // A second try would fail, too: the alert does not offer this choice.
            fail(number, name, error, &common)
        } else if run?.isThere == true {
            set(number, to: .failed(error))
            common.effects.append(.release(run: number))
        } else {
            runs.removeAll { $0.number == number }
            present(name, after: error, &common)
        }
    }
}

// MARK: - Off the screen

extension Showing {
    private mutating func end(_ end: End, _ common: inout Screen.Common) {
        var clearing = Clearing(end: end, since: common.now, step: .dismissed(0))
        // A screen that is being cleared does not begin to lead.
        if !common.isLeading { common.effects.append(.stepBack) }
        switch end {
        case .returned(let reason), .lost(let reason):
            leave(because: reason, &clearing, &common)
        case .refused(let error):
            leave(because: .failed(error), &clearing, &common)
        case .resolved, .snoozed: notifyDelegate(&clearing, &common)
        }
        state = .clearing(clearing)
        replay(&common)
    }

    private func leave(
        because reason: EntryDetail.Return, _ clearing: inout Clearing,
        _ common: inout Screen.Common
    ) {
        let number = common.nextNumber()
        clearing.step = .leaving(number)
        common.effects.append(.leave(number, record, because: reason))
    }

    /// Tells the delegate of its appearance first, if it does not know of it.
    private mutating func notifyDelegate(
        _ clearing: inout Clearing, _ common: inout Screen.Common
    ) {
        var callbacks: [Callback] = []
        // It was on another screen, of which only its asker's delegate is told.
        if !isTold, clearing.end.isClick {
            callbacks.append(Callback(.didPresent, record.onScreen, isForOwn: true))
        }
        record = recordNow
        if case .resolved(let resolved, _) = clearing.end { record = resolved }
        if record.response?.isClick == true { callbacks.append(Callback(.clicked, record)) }
        callbacks.append(Callback(.willDismiss, record))
        let number = common.nextNumber()
        clearing.step = .delegate(number)
        common.effects.append(.notify(number, id, callbacks))
    }

    private mutating func clear(
        _ clearing: Clearing, on event: Screen.Event, _ common: inout Screen.Common
    ) {
        var clearing = clearing
        switch (clearing.step, event) {
        case (.leaving(let step), .left(let number)) where step == number:
            notifyDelegate(&clearing, &common)
        case (.delegate(let step), .passed(let number, _)) where step == number:
            endRuns(&clearing, &common)
        case (.presenters(let end), .time) where common.now.isAtOrAfter(end):
            giveUpRuns(&common)
            tellPresenters(&clearing, &common)
        case (.telling(let end), .time) where common.now.isAtOrAfter(end):
            giveUpRuns(&common)
            notifyDismissed(&clearing, &common)
        case (_, .ended(let run, _)):
            runs.removeAll { $0.number == run }
            guard runs.isEmpty else { break }
            switch clearing.step {
            case .presenters: tellPresenters(&clearing, &common)
            case .telling: notifyDismissed(&clearing, &common)
            case .leaving, .delegate, .dismissed: break
            }
        case (.dismissed(let step), .passed(let number, _)) where step == number:
            state = .over(
                clearing.end, resolved: record.response == nil ? clearing.resolved : record)
            return
        case (_, .resolved(let record)): clearing.resolved = record
        case (_, .lease):
            // A screen that is being cleared holds up the others only briefly.
            if clearing.since.time(until: common.now) >= .seconds(2) {
                common.effects.append(.stepBack)
            }
        default: break
        }
        state = .clearing(clearing)
    }

    private mutating func endRuns(_ clearing: inout Clearing, _ common: inout Screen.Common) {
        notice = nil
        var able = runs.filter(\.isThere).map(\.name)
        if case .resolved(_, let name?) = clearing.end { able.append(name) }
        common.presenters.noteSuccess(of: able)
        common.effects += runs.filter(\.isThere).map { .end(run: $0.number) }
        runs = runs.filter(\.isBusy)
        clearing.step = .presenters(until: common.now.advanced(by: Self.grace))
        if runs.isEmpty { tellPresenters(&clearing, &common) }
    }

    /// Tells every presenter that may show the alert how it ended.
    private mutating func tellPresenters(
        _ clearing: inout Clearing, _ common: inout Screen.Common
    ) {
        var chosenOn: String?
        if case .resolved(_, let name) = clearing.end { chosenOn = name }
        for name in names where !common.presenters.stuck.contains(name) {
            let departure: Screen.Departure
            switch clearing.end {
            case .resolved(let record, _):
                guard let response = record.response else { continue }
                departure = .resolved(response, choseHere: name == chosenOn)
            case .snoozed(let record):
                guard let end = record?.snoozedUntil else { continue }
                departure = .snoozed(until: end)
            case .returned, .lost, .refused: continue
            }
            let run = Run(number: common.nextNumber(), name: name, state: .running)
            runs.append(run)
            common.effects.append(.tell(run: run.number, name: name, showing: number, departure))
        }
        clearing.step = .telling(until: common.now.advanced(by: Self.grace))
        if runs.isEmpty { notifyDismissed(&clearing, &common) }
    }

    /// Goes on without the presenters that took too long; they are not used until they end.
    private mutating func giveUpRuns(_ common: inout Screen.Common) {
        for run in runs {
            common.presenters.markStuck(run.name)
            common.lateRuns[run.number] = run.name
        }
        runs = []
    }

    private func notifyDismissed(_ clearing: inout Clearing, _ common: inout Screen.Common) {
        let number = common.nextNumber()
        clearing.step = .dismissed(number)
        let mayGoOn: Bool =
            switch clearing.end {
            case .resolved, .snoozed: false
            case .returned, .lost, .refused: true
            }
        common.effects.append(.notifyDismissed(number, record, mayGoOn: mayGoOn))
    }
}

extension Showing.End {
    /// Whether a person chose a button, here or elsewhere, and so must have seen the alert.
    fileprivate var isClick: Bool {
        guard case .resolved(let record, _) = self, let response = record.response else {
            return false
        }
        return response.outcome == .answered && response.isClick
    }
}
