import AlertQueueTesting
import FoundationEssentials
import StoreChecks
import TestSupport

@testable import AlertCore

/// A queue with several screens, where everything around them is a model: the store, the presenters,
/// the people in front of them, the delegates and the time.
///
/// Whatever takes time ends at a random later step, and may fail. Each screen's rules are checked
/// after each of its events.
struct SimulatedQueue: Simulated {
    var random: SeededRandom
    var now = ManualClock().now()
    private(set) var alerts: [Alert.ID: AlertRecord] = [:]
    var desks: [SimulatedDesk] = []
    /// The desk that leads, and the alert that it announces.
    private var leader: Int?
    private var current: Alert.ID?
    /// Whether nothing fails any longer, and everybody acts.
    private var isDraining = false
    private(set) var violations: [String] = []
    private(set) var eventCount = 0
    var alertCount: Int { alerts.count }
    private var lastCall = 0

    init(seed: UInt64, screens: Int = 3) {
        random = SeededRandom(seed: seed)
        for number in 0..<screens {
            desks.append(SimulatedDesk(number: number, presenters: ["terminal", "menu"]))
        }
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func fails(_ percent: Int) -> Bool { !isDraining && chance(percent) }

    mutating func violation(_ text: String) { violations.append(text) }

    private var waiting: [Alert.ID] {
        alerts.values.filter { $0.response == nil && $0.snoozedUntil == nil }.map(\.id).sorted()
    }
}

// MARK: - Steps

extension SimulatedQueue {
    /// One random thing happens.
    mutating func step() {
        let desk = Int.random(in: desks.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<8: ask()
        case 8..<12: answerElsewhere()
        case 12..<14: cancel(on: desk)
        case 14..<16: snoozeElsewhere()
        case 16..<19: startOrStop(desk)
        case 19..<26: pass(.milliseconds(Int.random(in: 1...1500, using: &random)))
        case 26..<34: readLease(of: desk)
        case 34..<36: feed(.waitUntilIdle(call(on: desk)), to: desk)
        case 36: desks[desk].isDetached.toggle()
        case 37: loseScreen(desk)
        case 38..<58: actOnPresenter(of: desk)
        case 58..<68: actOnDelegate(of: desk)
        default: finish(on: desk)
        }
    }

    /// Lets everything come to its end: all alerts get their responses, and all screens rest.
    mutating func drain() {
        isDraining = true
        for desk in desks.indices {
            desks[desk].isDetached = false
            let start = Screen.Start(
                call: call(on: desk), presenters: desks[desk].presenters, only: nil,
                keepsLog: false)
            feed(.start(start), to: desk)
        }
        for _ in 1...6000 {
            if isAtRest { break }
            for desk in desks.indices {
                for _ in 1...4 { finish(on: desk) }
                actOnPresenter(of: desk)
                actOnDelegate(of: desk)
                readLease(of: desk)
            }
            pass(.milliseconds(700))
        }
        guard isAtRest else {
            let left = alerts.values.filter { $0.response == nil }.map(\.id).sorted()
            return violation(
                "it does not come to rest: alerts \(left) wait; "
                    + desks.map(\.description).joined(separator: "; "))
        }
        for desk in desks { violations += desk.unfinished(besides: alerts) }
    }

    private var isAtRest: Bool {
        alerts.values.allSatisfy { $0.response != nil } && desks.allSatisfy(\.isAtRest)
    }

    private mutating func ask() {
        let id = Int64(alerts.count + 1)
        let isNotice = chance(30)
        var alert: Alert = isNotice ? Alert("Notice \(id)") : .yesNo("Question \(id)")
        if chance(25) { alert.presenters = [chance(50) ? "menu" : "terminal"] }
        let source = AlertRecord.Source(
            name: "test", .account(Account(uid: 0)), .process(ProcessIdentity(host: "here", pid: 1))
        )
        alerts[id] = AlertRecord(
            id: id, alert: alert, source: source, state: .queued, askedAt: Date(),
            presentedAt: nil, expiresAt: nil, snoozedUntil: nil, snoozes: 0, response: nil)
        for desk in desks.indices { feed(.queueChanged, to: desk) }
    }

    private mutating func answerElsewhere() {
        guard let id = waiting.randomElement(using: &random) else { return }
        _ = resolve(id, .answered, by: .program, index: 0, from: nil)
    }

    private mutating func snoozeElsewhere() {
        guard let id = waiting.randomElement(using: &random) else { return }
        _ = snooze(id, from: nil)
    }

    private mutating func cancel(on desk: Int) {
        guard let id = desks[desk].screen.shown else { return }
        feed(.cancel(id, .own(.program)), to: desk)
    }

    private mutating func startOrStop(_ desk: Int) {
        if desks[desk].screen.isOn, chance(60) {
            return feed(.stop(call(on: desk)), to: desk)
        }
        let start = Screen.Start(
            call: call(on: desk), presenters: desks[desk].presenters, only: nil, keepsLog: false)
        feed(.start(start), to: desk)
    }

    private mutating func loseScreen(_ desk: Int) {
        if chance(20) {
            feed(.failed(.incompatible(path: "model", "was replaced")), to: desk)
        } else {
            feed(.leave(nil, because: .reason(.unreadable)), to: desk)
        }
    }

    private mutating func call(on desk: Int) -> Screen.Call {
        lastCall += 1
        desks[desk].calls.insert(lastCall)
        return lastCall
    }

    /// Lets time pass: snoozes end, and what waits for a moment is told.
    private mutating func pass(_ time: Duration) {
        now = now.advanced(by: time)
        var hasReturned = false
        for (id, record) in alerts where record.snoozedUntil != nil {
            guard isDraining || chance(40) else { continue }
            alerts[id]?.snoozedUntil = nil
            hasReturned = true
        }
        for desk in desks.indices {
            if hasReturned { feed(.queueChanged, to: desk) }
            if let moment = desks[desk].screen.nextMoment, now.isAtOrAfter(moment) {
                feed(.time, to: desk)
            }
            handle(.time, on: desk)
        }
    }
}

// MARK: - The store

extension SimulatedQueue {
    private mutating func resolve(
        _ id: Alert.ID, _ outcome: Outcome, by: ResolvedBy, index: Int, from desk: Int?,
        handling: CancelHandling? = nil
    ) -> Result<AlertRecord, AlertError> {
        guard var record = alerts[id] else { return .failure(.notFound(id)) }
        if let response = record.response { return .failure(.alreadyResolved(response)) }
        let isChosen = record.alert.buttons.indices.contains(index)
        record.response = Response(
            alertID: id, outcome: outcome, buttonIndex: isChosen ? index : -1,
            button: isChosen ? record.alert.buttons[index] : nil, by: by, responder: nil,
            resolvedAt: Date(), collectedAt: nil, userInfo: [:], cancelHandling: handling)
        record.state = .resolved
        record.snoozedUntil = nil
        alerts[id] = record
        for other in desks.indices where other != desk {
            desks[other].pending.append(.news(.resolved(record)))
        }
        return .success(record)
    }

    private mutating func snooze(
        _ id: Alert.ID, from desk: Int?
    ) -> Result<AlertRecord, AlertError> {
        guard var record = alerts[id] else { return .failure(.notFound(id)) }
        if let response = record.response { return .failure(.alreadyResolved(response)) }
        record.snoozedUntil = Date()
        record.snoozes += 1
        alerts[id] = record
        for other in desks.indices where other != desk {
            desks[other].pending.append(.news(.snoozed(id)))
        }
        return .success(record)
    }

    private mutating func commit(
        _ change: Change, by desk: Int
    ) -> Result<AlertRecord, AlertError> {
        if fails(8) { return .failure(.busy("another process writes")) }
        switch change {
        case .resolve(let id, let resolution, _):
            if fails(1) { return .failure(.inconsistent(id, "the log says otherwise")) }
            switch resolution {
            case .choose(let index?, _, _):
                guard alerts[id]?.alert.buttons.indices.contains(index) == true else {
                    return .failure(.noSuchButton(id, button: "\(index)", known: []))
                }
                return resolve(id, .answered, by: .person, index: index, from: desk)
            case .choose(nil, _, _):
                return resolve(id, .dismissed, by: .person, index: -1, from: desk)
            case .dismiss: return resolve(id, .dismissed, by: .system, index: -1, from: desk)
            case .cancel(let isHandled, _):
                return resolve(
                    id, .cancelled, by: .system, index: 1, from: desk,
                    handling: CancelHandling(isHandled: isHandled))
            case .chooseID, .withdraw, .expireUnattended:
                violation("desk \(desk) stores \(resolution)")
            }
        case .snooze(let id, _): return snooze(id, from: desk)
        case .ask, .claim, .release, .collect, .run, .requestCancel:
            violation("desk \(desk) stores \(change)")
        }
        return .failure(.closed)
    }
}

// MARK: - Effects

extension SimulatedQueue {
    /// As a manager does it: an event that comes while effects are carried out waits for its turn.
    mutating func feed(_ event: Screen.Event, to desk: Int) {
        desks[desk].events.append(event)
        guard desks[desk].events.count == 1 else { return }
        while let event = desks[desk].events.first {
            eventCount += 1
            let effects = desks[desk].screen.handle(event, at: now)
            for effect in effects { carryOut(effect, on: desk) }
            desks[desk].events.removeFirst()
            if desks[desk].events.isEmpty { violations += desks[desk].check(after: event) }
        }
    }

    private mutating func carryOut(_ effect: Screen.Effect, on desk: Int) {
        switch effect {
        case .detach:
            stopLeading(desk)
            desks[desk].detach()
        case .stepBack, .stayAway: stopLeading(desk)
        case .announceNothing:
            desks[desk].shows = nil
            if leader == desk { current = nil }
        case .notify(let number, let id, let callbacks):
            for effect in desks[desk].notify(number, id, callbacks, at: now) {
                carryOut(effect, on: desk)
            }
        case .notifyDismissed(let number, let record, _):
            carryOut(
                .notify(
                    number, record.id, [Callback(.didDismiss, record)]),
                on: desk)
        default: desks[desk].note(effect, &violations)
        }
    }

    private mutating func stopLeading(_ desk: Int) {
        if leader == desk { (leader, current) = (nil, nil) }
    }

    private mutating func carryOut(_ effect: DelegateCalls.Effect, on desk: Int) {
        if let number = desks[desk].note(effect, &violations) {
            feed(.passed(number.screen, isHandled: number.isHandled), to: desk)
        }
    }

    mutating func handle(_ event: DelegateCalls.Event, on desk: Int) {
        for effect in desks[desk].delegate.handle(event, at: now) { carryOut(effect, on: desk) }
    }

    /// Ends something that takes time.
    private mutating func finish(on desk: Int) {
        guard let index = desks[desk].pending.indices.randomElement(using: &random) else { return }
        // News and the ends of commits come in their order; so does everything else of one kind.
        let pending = desks[desk].pending.remove(at: index)
        switch pending {
        case .attach:
            desks[desk].isAttached = !fails(15)
            feed(.attached(desks[desk].isAttached ? nil : .busy("64 screens")), to: desk)
        case .turn:
            let isTaken = !fails(5) || !desks[desk].screen.isOn
            desks[desk].hasTurn = isTaken
            feed(.tookTurn(isTaken), to: desk)
        case .look(let number, let look): feed(.found(number, found(look, by: desk)), to: desk)
        case .announce(let number, let shown, let current):
            guard !fails(5) else {
                stopLeading(desk)
                return feed(.announced(number, .lost), to: desk)
            }
            desks[desk].shows = shown
            if leader == desk { self.current = current }
            feed(.announced(number, lease(of: desk)), to: desk)
        case .read(let id, let reason):
            feed(.reread(id, fails(5) ? nil : alerts[id], otherwise: reason), to: desk)
        case .count(let id):
            let count = waiting.filter { $0 != id }.count
            feed(.waiting(id, WaitingAlerts(count: count)), to: desk)
        case .commit(let number, let change):
            feed(.committed(number, commit(change, by: desk)), to: desk)
        case .leave(let number):
            desks[desk].shows = nil
            feed(.left(number), to: desk)
        case .dismiss(let id):
            if case .success(let record) = resolve(
                id, .dismissed, by: .system, index: -1, from: desk)
            {
                feed(.resolved(record), to: desk)
            }
        case .news(let event): feed(event, to: desk)
        }
    }

    private mutating func lease(of desk: Int) -> LeaseState {
        if desks[desk].isDetached { return .lost }
        if leader == nil {
            leader = desk
            current = desks[desk].shows
        }
        guard leader == desk else {
            var leading = leader.map { desks[$0].attached(at: now) }
            leading?.current = current
            return .following(ScreenRoster(leader: leading))
        }
        return .leading(
            ScreenRoster(
                followers: desks.filter { $0.number != desk && $0.isAttached }
                    .map { $0.attached(at: now) }))
    }

    private mutating func readLease(of desk: Int) {
        guard desks[desk].isAttached, desks[desk].screen.isOn, !desks[desk].screen.isAway else {
            return
        }
        feed(.lease(lease(of: desk)), to: desk)
    }

    private mutating func found(_ look: Screen.Look, by desk: Int) -> Screen.Found {
        var found = Screen.Found(lease: lease(of: desk))
        if fails(3) {
            found.error = .storage(operation: "read the queue", "the disk fails")
            return found
        }
        // What the log contradicts rests before it is tried again.
        let rested = waiting.filter { !look.skipped.refused.contains($0) }
        let record: AlertRecord?
        switch found.lease {
        case .lost: return found
        case .following(let others):
            record = others.current.flatMap { rested.contains($0) ? alerts[$0] : nil }
            if record == nil { return found }
        case .leading(let others):
            let shown = others.all.compactMap(\.alert).filter(rested.contains).min()
            let skipped = look.skipped.alerts(besides: others, isAlone: others.all.isEmpty)
            let able = look.able + others.query.presenters
            let next = waiting.first {
                !skipped.contains($0) && alerts[$0]?.alert.mayBeShown(by: able) == true
            }
            record = (shown ?? next).flatMap { alerts[$0] }
        }
        if let record, fails(2) {
            found.refused = [(record.id, .inconsistent(record.id, "the log says otherwise"))]
            if case .following = found.lease { return found }
            found.upcoming = Upcoming()
            return found
        }
        found.upcoming = Upcoming(record: record)
        found.isEmpty = look.asksIfEmpty && record == nil
        return found
    }
}

// MARK: - People and delegates

extension SimulatedQueue {
    private mutating func actOnPresenter(of desk: Int) {
        guard let (number, run) = desks[desk].runs.randomElement(using: &random) else { return }
        if run.isTold || run.isEnding {
            // One that hangs is given up after a while, and ends later.
            if isDraining || chance(70) {
                endRun(number, run.isTold ? .told : .failed(CancellationError()), of: desk)
            }
            return
        }
        if run.hasChosen {
            // It waits with its choice, unless its window is closed.
            if fails(3) { endRun(number, .returned(.close), of: desk) }
            return
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: feed(.appeared(showing: run.showing, at: now), to: desk)
        case 30..<60:
            desks[desk].runs[number]?.hasChosen = true
            feed(.chose(run: number, choice()), to: desk)
        case 60..<75: endRun(number, .returned(choice()), of: desk)
        case 75..<80 where !isDraining:
            endRun(number, .failed(AlertError.closed), of: desk)
        case 80..<85:
            if let id = desks[desk].screen.shown { feed(.appearedElsewhere(id), to: desk) }
        default: break
        }
    }

    private mutating func choice() -> PresenterChoice {
        if isDraining { return .button(0) }
        return [.button(0), .button(1), .button(7), .close, .later(nil)]
            .randomElement(using: &random) ?? .close
    }

    private mutating func endRun(_ number: Int, _ end: Screen.RunEnd, of desk: Int) {
        desks[desk].runs[number] = nil
        feed(.ended(run: number, end), to: desk)
    }

    private mutating func actOnDelegate(of desk: Int) {
        guard let number = desks[desk].running.keys.randomElement(using: &random) else { return }
        if !isDraining, chance(10) {
            return handle(.reentered(number), on: desk)
        }
        handle(.returned(number, isHandled: chance(50)), on: desk)
    }
}
