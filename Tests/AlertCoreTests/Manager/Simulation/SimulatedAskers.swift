import AlertQueueTesting
import FoundationEssentials
import StoreChecks
import TestSupport

@testable import AlertCore

/// A queue with two managers that ask and handle responses, where everything around them is a model:
/// the store, those who answer, the code that runs, other processes and the time.
///
/// Whatever takes time ends at a random later step, and may fail. The rules are checked after each
/// event.
struct SimulatedAskers: Simulated {
    private enum Holder: Equatable {
        case asker(Int)
        case another
    }

    var random: SeededRandom
    private var now = ManualClock().now()
    private var alerts: [Alert.ID: AlertRecord] = [:]
    private var askers: [SimulatedAsker] = []
    /// Those of managers that are gone.
    private var pastAskers: [SimulatedAsker] = []
    private var leases: [Alert.ID: Holder] = [:]
    /// Whether nothing fails any longer.
    private var isDraining = false
    private(set) var violations: [String] = []
    private(set) var eventCount = 0
    private var lastNumber = 0

    var alertCount: Int { alerts.count }

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        for _ in 0..<2 { askers.append(newAsker()) }
    }

    private mutating func newAsker() -> SimulatedAsker { SimulatedAsker(isForgetful: chance(30)) }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func fails(_ percent: Int) -> Bool { !isDraining && chance(percent) }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}

// MARK: - Steps

extension SimulatedAskers {
    mutating func step() {
        let asker = Int.random(in: askers.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10: ask(by: asker, alert: newAlert())
        case 10..<13:
            if let id = alerts.keys.sorted().randomElement(using: &random) {
                ask(by: asker, alert: id)
            }
        case 13..<24: resolve(by: chance(50) ? asker : nil)
        case 24..<29: pass(.milliseconds(Int.random(in: 1...1500, using: &random)))
        case 29: pass(.seconds(Int.random(in: 1...900, using: &random)))
        case 30..<32: register(chance(50) ? "apply" : "tidy", with: asker)
        case 32..<35: cancelCall(of: asker)
        case 35 where chance(30): failCalls(of: asker)
        case 36 where chance(30): close(asker)
        case 37 where chance(30): crash(asker)
        case 38..<42: actElsewhere()
        case 42..<55: hearNews(by: asker)
        default: finish(by: asker)
        }
        if askers[asker].isClosed, askers[asker].pending.isEmpty { replace(asker) }
    }

    mutating func drain() async {
        isDraining = true
        for asker in askers.indices {
            if askers[asker].isClosed { crash(asker) }
            for name in ["apply", "tidy"] { register(name, with: asker) }
        }
        for id in alerts.keys where leases[id] == .another { leases[id] = nil }
        for _ in 1...20_000 {
            if isAtRest || !violations.isEmpty { break }
            resolve(by: nil)
            for asker in askers.indices {
                hearNews(by: asker)
                for _ in 1...4 { finish(by: asker) }
            }
            // What is not due yet is only reached by time.
            if askers.allSatisfy({ $0.pending.isEmpty && $0.news.isEmpty }) {
                pass(.milliseconds(700))
                let next = now.earliest(of: askers.compactMap(\.alarm))
                if let next { pass(max(.zero, now.time(until: next))) }
            }
        }
        guard violations.isEmpty else { return }
        let left = alerts.values.filter(isUnhandled).map(\.id).sorted()
        if !isAtRest { violations.append("it does not come to rest; unhandled are \(left)") }
        for asker in askers.indices {
            let unrun = askers[asker].closures.values.filter { $0.state != .over }.map(\.id)
            if !unrun.isEmpty { violations.append("closures of alerts \(unrun) never run") }
            close(asker)
        }
        for asker in askers + pastAskers { violations += await asker.unfinishedCalls() }
    }

    private var isAtRest: Bool {
        alerts.values.allSatisfy { $0.response != nil && !isUnhandled($0) }
            && askers.allSatisfy { asker in
                asker.pending.isEmpty && asker.news.isEmpty
                    && asker.handlers.nextMoment(after: now) == nil
            }
    }

    private func isUnhandled(_ record: AlertRecord) -> Bool {
        record.source.principal.isRoot && record.response?.collectedAt == nil
            && ["apply", "tidy"].contains(record.alert.handler)
    }

    private mutating func newAlert() -> Alert.ID {
        let id = Int64(alerts.count + 1)
        var alert = Alert.yesNo("Question \(id)")
        alert.handler = [nil, nil, "apply", "apply", "tidy", "other"].randomElement(using: &random)!
        let source = AlertRecord.Source(
            name: "test", .account(Account(uid: chance(85) ? 0 : 1)),
            .process(ProcessIdentity(host: "here", pid: 1)))
        alerts[id] = AlertRecord(
            id: id, alert: alert, source: source, state: .queued, askedAt: Date(),
            presentedAt: nil, expiresAt: nil, snoozedUntil: nil, snoozes: 0, response: nil)
        return id
    }

    /// Asks a new alert, or joins one that may have its response.
    private mutating func ask(by asker: Int, alert id: Alert.ID) {
        guard let record = alerts[id], !askers[asker].isClosed else { return }
        let asking = SimulatedAsker.Asking(
            record: record, resolutionsBefore: askers[asker].waiters.resolutionsSeen)
        let number = nextNumber()
        switch Int.random(in: 0..<3, using: &random) {
        case 0 where record.response == nil:
            askers[asker].calls[number] = SimulatedAsker.Call(id: id)
            askers[asker].pending.append(.wait(call: number, asking))
        case 1 where record.response?.collectedAt == nil:
            askers[asker].pending.append(.keep(closure: number, asking))
        default: break
        }
    }

    private mutating func resolve(by asker: Int?) {
        let waiting = alerts.values.filter { $0.response == nil }.map(\.id).sorted()
        guard let id = waiting.randomElement(using: &random), var record = alerts[id] else {
            return
        }
        record.response = response(to: record, collectedAt: nil)
        record.state = .resolved
        alerts[id] = record
        for other in askers.indices where !askers[other].isClosed {
            if other == asker {
                askers[other].pending.append(.settle(id))
            } else {
                askers[other].news.append(id)
            }
        }
    }

    private mutating func register(_ name: String, with asker: Int) {
        guard !askers[asker].isClosed else { return }
        askers[asker].names.insert(name)
        for (id, record) in alerts where record.response != nil && record.alert.handler == name {
            askers[asker].known.insert(id)
            askers[asker].retries[id] = nil
        }
        feed(.register(name) { _ in }, to: asker)
    }

    private mutating func cancelCall(of asker: Int) {
        let waiting = askers[asker].calls.filter(\.value.isWaiting).keys.sorted()
        guard let number = waiting.randomElement(using: &random),
            let call = askers[asker].calls[number]
        else { return }
        call.wait.deliver(.failure(CancellationError()))
        askers[asker].waiters.remove(call.wait, for: call.id)
        askers[asker].calls[number]?.isWaiting = false
        askers[asker].calls[number]?.outcome = .cancelled
        check(asker)
    }

    private mutating func failCalls(of asker: Int) {
        let error = AlertError.storage(operation: "read the queue", "the disk fails")
        let ids = askers[asker].waiters.ids.sorted()
        if chance(50) {
            askers[asker].waiters.failAll(with: error)
            askers[asker].endCalls(with: .failed)
        } else if let id = ids.randomElement(using: &random) {
            askers[asker].waiters.fail(id, with: error)
            askers[asker].endCalls(for: id, with: .failed)
        }
        check(asker)
    }

    private mutating func close(_ asker: Int) {
        askers[asker].isClosed = true
        askers[asker].news = []
        feed(.close, to: asker, isChecked: false)
        askers[asker].waiters.close()
        askers[asker].endCalls(with: .closed)
        check(asker)
    }

    /// Ends a manager's process, and begins another one.
    private mutating func crash(_ asker: Int) {
        askers[asker].calls = askers[asker].calls.filter { $0.value.outcome != nil }
        for id in alerts.keys where leases[id] == .asker(asker) { leases[id] = nil }
        replace(asker)
    }

    private mutating func replace(_ asker: Int) {
        pastAskers.append(askers[asker])
        askers[asker] = newAsker()
    }

    /// Other processes handle responses and may die while they do.
    private mutating func actElsewhere() {
        let held = leases.filter { $0.value == .another }.keys.sorted()
        if chance(60), let id = held.randomElement(using: &random) {
            leases[id] = nil
            if chance(30) { collect(id) }
        } else {
            let free = alerts.values.filter { $0.response != nil && leases[$0.id] == nil }
            guard let id = free.map(\.id).sorted().randomElement(using: &random) else { return }
            leases[id] = .another
        }
    }

    /// Lets time pass: what waits for a moment is told.
    private mutating func pass(_ time: Duration) {
        now = now.advanced(by: time)
        for asker in askers.indices {
            let isDue = askers[asker].alarm.map(now.isAtOrAfter) ?? false
            guard isDue || chance(10) else { continue }
            askers[asker].alarm = nil
            feed(.time, to: asker)
        }
    }

    private mutating func collect(_ id: Alert.ID) {
        guard let record = alerts[id] else { return }
        let collected = response(to: record, collectedAt: Date())
        alerts[id]?.response = collected
    }

    private func response(to record: AlertRecord, collectedAt: Date?) -> Response {
        Response(
            alertID: record.id, outcome: .answered, buttonIndex: 0,
            button: record.alert.buttons[0], by: .program, responder: nil, resolvedAt: Date(),
            collectedAt: collectedAt, userInfo: [:])
    }
}

// MARK: - Events

extension SimulatedAskers {
    private mutating func feed(_ event: Handlers.Event, to asker: Int, isChecked: Bool = true) {
        eventCount += 1
        askers[asker].reported = []
        for effect in askers[asker].handlers.handle(event, at: now) {
            if let id = askers[asker].note(effect, alerts, at: now, &violations) { collect(id) }
        }
        let moments = [askers[asker].alarm, askers[asker].handlers.nextMoment(after: now)]
        askers[asker].alarm = now.earliest(of: moments.compactMap(\.self))
        if isChecked { check(asker) }
    }

    private mutating func check(_ asker: Int) {
        violations += askers[asker].check(alerts, at: now).map { "asker \(asker): \($0)" }
    }

    /// Reads the next entry of the log, as a manager does.
    private mutating func hearNews(by asker: Int) {
        guard let id = askers[asker].news.first else { return }
        if isAwaited(id, by: asker) {
            // If the disk fails, it is read again.
            if fails(10) { return }
            settle(id, by: asker)
        } else {
            askers[asker].waiters.sawResolution()
        }
        askers[asker].news.removeFirst()
    }

    private func isAwaited(_ id: Alert.ID, by asker: Int) -> Bool {
        askers[asker].waiters.count(for: id) > 0 || askers[asker].handlers.mayWait(for: id)
    }

    private mutating func settle(_ id: Alert.ID, by asker: Int) {
        guard let record = alerts[id] else { return }
        askers[asker].waiters.settle(record)
        askers[asker].endCalls(for: id, with: .response(id))
        askers[asker].known.insert(id)
        feed(.resolved(record, isOwn: record.source.principal.isRoot), to: asker)
    }

    /// Ends something that takes time.
    private mutating func finish(by asker: Int) {
        guard let index = askers[asker].pending.indices.randomElement(using: &random) else {
            return
        }
        switch askers[asker].pending.remove(at: index) {
        case .wait(let number, let asking): wait(number, asking, by: asker)
        case .watch(let number, let asking):
            guard let call = askers[asker].calls[number] else { break }
            if askers[asker].waiters.mayHaveMissed(since: asking.resolutionsBefore) {
                askers[asker].pending.append(.look(call.id))
            }
        case .keep(let number, let asking): keep(number, asking, by: asker)
        case .look(let id):
            if askers[asker].isClosed || !isAwaited(id, by: asker) { break }
            if fails(20) {
                askers[asker].pending.append(.look(id))
            } else if alerts[id]?.response != nil {
                settle(id, by: asker)
            }
        case .settle(let id): settle(id, by: asker)
        case .closure(let number, let id):
            let hasFailed = fails(20)
            askers[asker].closureEnds(number, of: id, hasFailed: hasFailed)
            feed(.closureEnded(id, hasFailed: hasFailed), to: asker)
        case .read(let name, let last): read(name, after: last, by: asker)
        case .lease(let id): lease(id, by: asker)
        case .handler(let id):
            if fails(30) {
                endAttempt(at: id, .failed(AlertError.closed), by: asker)
            } else {
                askers[asker].pending.append(.collection(id))
            }
        case .collection(let id): storeCollection(of: id, by: asker)
        }
    }

    private mutating func wait(_ number: Int, _ asking: SimulatedAsker.Asking, by asker: Int) {
        guard let call = askers[asker].calls[number] else { return }
        askers[asker].waiters.add(call.wait, for: call.id)
        askers[asker].calls[number]?.isWaiting = true
        if askers[asker].isClosed { askers[asker].endCalls(with: .closed) }
        askers[asker].pending.append(.watch(call: number, asking))
        check(asker)
    }

    private mutating func keep(_ number: Int, _ asking: SimulatedAsker.Asking, by asker: Int) {
        let record = asking.record
        var alert = record.alert
        alert.userInfo["number"] = "\(number)"
        if !askers[asker].isClosed { askers[asker].closures[number] = (record.id, .waiting) }
        feed(
            .keep(AlertClosures(alert: alert, asked: record, body: nil), for: record.id),
            to: asker)
        if record.response != nil {
            settle(record.id, by: asker)
        } else if askers[asker].waiters.mayHaveMissed(since: asking.resolutionsBefore) {
            askers[asker].pending.append(.look(record.id))
        }
    }

    private mutating func read(_ name: String, after last: Alert.ID?, by asker: Int) {
        guard !fails(10) else {
            let error = AlertError.storage(operation: "read the queue", "the disk fails")
            return feed(.found(name, .failure(error)), to: asker)
        }
        let page = alerts.values.filter { record in
            record.alert.handler == name && record.id > last ?? 0 && record.response != nil
                && record.response?.collectedAt == nil
        }.sorted { $0.id < $1.id }.prefix(3)
        let own = page.filter { $0.source.principal.isRoot }.map(\.id)
        feed(.found(name, .success(Handlers.Page(ids: own, next: page.last?.id))), to: asker)
    }

    private mutating func lease(_ id: Alert.ID, by asker: Int) {
        if fails(8) {
            let error = AlertError.storage(operation: "open the locks", "too many files")
            return endAttempt(at: id, .notLeased(error), by: asker)
        }
        if leases[id] != nil { return endAttempt(at: id, .held, by: asker) }
        leases[id] = .asker(asker)
        guard alerts[id]?.response?.collectedAt == nil else {
            return endAttempt(at: id, .gone, by: asker)
        }
        askers[asker].pending.append(.handler(id))
    }

    private mutating func storeCollection(of id: Alert.ID, by asker: Int) {
        if fails(20) {
            // While the queue is locked, it is stored later.
            askers[asker].pending.append(.collection(id))
        } else if fails(5) {
            let error = AlertError.storage(operation: "collect", "the disk fails")
            endAttempt(at: id, fails(2) ? .unstored(error) : .failed(error), by: asker)
        } else {
            if alerts[id]?.response?.collectedAt != nil {
                violations.append("alert \(id) is collected twice")
            }
            collect(id)
            endAttempt(at: id, .gone, by: asker)
        }
    }

    private mutating func endAttempt(at id: Alert.ID, _ end: Processing, by asker: Int) {
        if leases[id] == .asker(asker) { leases[id] = nil }
        let pauses = askers[asker].attemptEnds(id, end, at: now)
        feed(.handlerEnded(id, end), to: asker)
        let reported = askers[asker].reported
        if askers[asker].isForgetful ? reported.count != pauses.count : reported != pauses {
            violations.append("alert \(id): pauses of \(reported) and not \(pauses) are reported")
        }
    }
}
