import TextFormats

/// The code that waits for responses in one manager: closures given with alerts, and handlers
/// registered by name; which of it runs, and which responses must be tried again.
///
/// It is a value that events change by rules. It never waits: what takes time is an ``Effect``,
/// which ``AlertManager`` carries out and which ends in one last event. The store makes sure that a
/// response's handler runs in one process at a time. Each uncollected response of a registered name
/// is in one of three states: its handler runs, it waits for a moment, or a *walk* through all
/// uncollected responses of the name will reach it.
struct Handlers {
    /// The pause before another look at a response that another process has, in case that process
    /// has died, and before another walk after one that could not read.
    private static let shortPause = Duration.seconds(1)
    /// The pause of all responses after one could not be leased, for lack of descriptors perhaps:
    /// then none can.
    private static let leasePause = Duration.seconds(10)

    enum Event {
        case register(String, AlertManager.RegisteredHandler)
        /// An alert has closures that wait for its response.
        case keep(AlertClosures, for: Alert.ID)
        /// An alert has its response, which is this account's or not.
        case resolved(AlertRecord, isOwn: Bool)
        case closureEnded(Alert.ID, hasFailed: Bool)
        /// A page of a walk has been read.
        case found(String, Result<Page, AlertError>)
        case handlerEnded(Alert.ID, Processing)
        case time
        case close
    }

    enum Effect {
        /// Ends in ``Event/closureEnded(_:hasFailed:)``.
        case runClosures(AlertClosures, of: AlertRecord)
        /// All closures of an alert have run. They collect the response if they have all succeeded
        /// and no named handler has yet to run.
        case closuresEnded(Alert.ID, collects: Bool)
        /// Reads a page of a name's uncollected responses; ends in ``Event/found(_:_:)``.
        case read(String, after: Alert.ID?)
        /// Leases a response and runs its handler; ends in ``Event/handlerEnded(_:_:)``.
        case run(AlertManager.RegisteredHandler, of: String, for: Alert.ID)
        case report(BackgroundError)
    }

    /// A page of uncollected responses.
    struct Page {
        /// Those of this account, oldest first.
        var ids: [Alert.ID]
        /// The id after which the next page begins; `nil` if this one is empty.
        var next: Alert.ID?
    }

    private struct Registration {
        var body: AlertManager.RegisteredHandler
        /// Its responses that wait for moments of their own.
        var retries: RetryList
        var walk = Walk.idle
        /// Whether a walk must follow the present one because of new responses.
        var isWalkWanted = false
        /// When a walk must begin by itself.
        var walkDue: ClockReading?
    }

    private enum Walk {
        case idle
        case reading
        /// What is left of a page, until there is room.
        case starting(ArraySlice<Alert.ID>, next: Alert.ID)
    }

    private struct Run {
        let name: ExactText
        /// How often it has failed before.
        var failures: Int
    }

    private enum Closures {
        /// For the response.
        case waiting([AlertClosures])
        /// One runs, and the others follow.
        case running(AlertRecord, isOwn: Bool, hasFailed: Bool, rest: ArraySlice<AlertClosures>)
    }

    /// How many handlers run at once.
    private let limit: Int
    /// How many responses of a name wait for moments of their own; others are reached by a walk.
    private let memory: Int
    private var registrations: [ExactText: Registration] = [:]
    private var running: [Alert.ID: Run] = [:]
    /// Until when no response is leased.
    private var pauseEnd: ClockReading?
    private var closures: [Alert.ID: Closures] = [:]
    private var isClosed = false

    init(limit: Int = 32, memory: Int = 10_000) {
        (self.limit, self.memory) = (limit, memory)
    }

    /// Whether there is no code. While there is, the manager is kept alive, even if nothing else
    /// references it.
    var isEmpty: Bool { registrations.isEmpty && closures.isEmpty }

    /// Whether code may be waiting for the response to an alert.
    func mayWait(for id: Alert.ID) -> Bool { closures[id] != nil || !registrations.isEmpty }

    mutating func handle(_ event: Event, at now: ClockReading) -> [Effect] {
        guard !isClosed else { return handleWhenClosed(event) }
        var effects: [Effect] = []
        switch event {
        case .register(let name, let body): register(ExactText(name), body, &effects)
        case .keep(let more, let id): keep(more, for: id)
        case .resolved(let record, let isOwn): resolved(record, isOwn, at: now, &effects)
        case .closureEnded(let id, let hasFailed):
            closureEnded(id, hasFailed, at: now, &effects)
        case .found(let name, let page): found(page, for: ExactText(name), at: now, &effects)
        case .handlerEnded(let id, let end): handlerEnded(id, end, at: now, &effects)
        case .time: beginDueWalks(at: now, &effects)
        case .close: close()
        }
        start(at: now, &effects)
        return effects
    }

    /// The earliest future moment at which something must be tried again.
    ///
    /// Responses that are already due are not counted: they wait for a free place, for closures or
    /// for the end of a pause. An alarm for them would go off again and again.
    func nextMoment(after now: ClockReading) -> ClockReading? {
        let moments =
            registrations.values.flatMap { [$0.retries.nextMoment(after: now), $0.walkDue] }
            + [pauseEnd]
        return now.earliest(of: moments.compactMap(\.self).filter { !now.isAtOrAfter($0) })
    }
}

// MARK: - Closing

extension Handlers {
    /// Forgets everything, except for the closures that run.
    private mutating func close() {
        let ending = closures.compactMapValues { closures -> Closures? in
            guard case .running(let record, let isOwn, let hasFailed, _) = closures else {
                return nil
            }
            return .running(record, isOwn: isOwn, hasFailed: hasFailed, rest: [])
        }
        self = Handlers()
        (isClosed, closures) = (true, ending)
    }

    private mutating func handleWhenClosed(_ event: Event) -> [Effect] {
        guard case .closureEnded(let id, _) = event, closures.removeValue(forKey: id) != nil else {
            return []
        }
        return [.closuresEnded(id, collects: false)]
    }
}

// MARK: - Closures

extension Handlers {
    private mutating func keep(_ more: AlertClosures, for id: Alert.ID) {
        switch closures[id] {
        case nil: closures[id] = .waiting([more])
        case .waiting(let all)?: closures[id] = .waiting(all + [more])
        case .running(let record, let isOwn, let hasFailed, let rest)?:
            closures[id] = .running(
                record, isOwn: isOwn, hasFailed: hasFailed, rest: rest + [more])
        }
    }

    /// Runs an alert's closures one after another, and then its named handler.
    private mutating func resolved(
        _ record: AlertRecord, _ isOwn: Bool, at now: ClockReading, _ effects: inout [Effect]
    ) {
        switch closures[record.id] {
        case nil: if isOwn { offer(record, at: now, &effects) }
        case .waiting(let all)?: runNext(of: record, isOwn, false, all[...], at: now, &effects)
        case .running?: break
        }
    }

    private mutating func closureEnded(
        _ id: Alert.ID, _ hasFailed: Bool, at now: ClockReading, _ effects: inout [Effect]
    ) {
        guard case .running(let record, let isOwn, let hadFailed, let rest)? = closures[id] else {
            return
        }
        runNext(of: record, isOwn, hadFailed || hasFailed, rest, at: now, &effects)
    }

    private mutating func runNext(
        of record: AlertRecord, _ isOwn: Bool, _ hasFailed: Bool, _ all: ArraySlice<AlertClosures>,
        at now: ClockReading, _ effects: inout [Effect]
    ) {
        if let next = all.first {
            closures[record.id] = .running(
                record, isOwn: isOwn, hasFailed: hasFailed, rest: all.dropFirst())
            effects.append(.runClosures(next, of: record))
        } else {
            closures[record.id] = nil
            let hasHandler = record.alert.handler != nil
            effects.append(.closuresEnded(record.id, collects: !hasFailed && !hasHandler))
            if isOwn { offer(record, at: now, &effects) }
        }
    }
}

// MARK: - Runs

extension Handlers {
    private func hasRoom(at now: ClockReading) -> Bool {
        running.count < limit && pauseEnd.map(now.isAtOrAfter) ?? true
    }

    /// Whether a response may be processed now: it neither runs nor waits for another try, nor for
    /// closures, which come first even if their response has not been noticed yet.
    private func mayStart(_ id: Alert.ID, of name: ExactText, at now: ClockReading) -> Bool {
        guard running[id] == nil, closures[id] == nil else { return false }
        return registrations[name]?.retries[id].map { now.isAtOrAfter($0.due) } ?? true
    }

    /// Offers a response to its handler, if that is registered here.
    private mutating func offer(
        _ record: AlertRecord, at now: ClockReading, _ effects: inout [Effect]
    ) {
        guard let name = record.alert.handler.map({ ExactText($0) }),
            let registration = registrations[name]
        else { return }
        guard case .idle = registration.walk, hasRoom(at: now) else {
            // Older responses come first.
            return walk(name, &effects)
        }
        if mayStart(record.id, of: name, at: now) { run(record.id, of: name, &effects) }
    }

    private mutating func run(_ id: Alert.ID, of name: ExactText, _ effects: inout [Effect]) {
        guard let body = registrations[name]?.body else { return }
        let failures = registrations[name]?.retries.remove(id)?.failures ?? 0
        running[id] = Run(name: name, failures: failures)
        effects.append(.run(body, of: name.text, for: id))
    }

    private mutating func handlerEnded(
        _ id: Alert.ID, _ end: Processing, at now: ClockReading, _ effects: inout [Effect]
    ) {
        guard let run = running.removeValue(forKey: id) else { return }
        switch end {
        case .collected, .gone, .stale: break
        case .failed(let error), .unstored(let error):
            let pause = RetryList.delay(after: run.failures + 1)
            retry(id, run.name, failures: run.failures + 1, after: pause, at: now)
            effects.append(
                .report(.handler(name: run.name.text, id, error, retryAfter: pause)))
        case .held:
            // If the other process dies, this one takes over.
            retry(id, run.name, failures: run.failures, after: Self.shortPause, at: now)
        case .notLeased(let error):
            retry(id, run.name, failures: run.failures, after: .zero, at: now)
            // Of several at once, the first one begins the pause.
            guard pauseEnd.map(now.isAtOrAfter) ?? true else { return }
            pauseEnd = now.advanced(by: Self.leasePause)
            effects.append(
                .report(
                    .handler(name: run.name.text, id, error, retryAfter: Self.leasePause)))
        }
    }

    private mutating func retry(
        _ id: Alert.ID, _ name: ExactText, failures: Int, after pause: Duration,
        at now: ClockReading
    ) {
        registrations[name]?.retries.add(
            .init(id: id, failures: failures, due: now.advanced(by: pause)), at: now)
    }

    /// Starts what may start, oldest responses first, until there is no more room.
    private mutating func start(at now: ClockReading, _ effects: inout [Effect]) {
        while hasRoom(at: now) {
            let (due, walked) = (firstDue(at: now), firstOfWalks())
            if let due, due.id <= walked?.id ?? .max {
                run(due.id, of: due.name, &effects)
            } else if let walked {
                step(walked.name, &effects)
                if mayStart(walked.id, of: walked.name, at: now) {
                    run(walked.id, of: walked.name, &effects)
                }
            } else {
                return
            }
        }
    }

    /// The oldest response that has waited long enough.
    private func firstDue(at now: ClockReading) -> (id: Alert.ID, name: ExactText)? {
        registrations.lazy.flatMap { name, registration in
            registration.retries.due(at: now).map { (id: $0.id, name: name) }
        }
        .filter { mayStart($0.id, of: $0.name, at: now) }.min { $0.id < $1.id }
    }
}

// MARK: - Walks

extension Handlers {
    /// Walks through all uncollected responses of a name, oldest first; once more if a walk is
    /// already under way.
    private mutating func walk(_ name: ExactText, _ effects: inout [Effect]) {
        registrations[name]?.walkDue = nil
        if case .idle? = registrations[name]?.walk {
            registrations[name]?.walk = .reading
            effects.append(.read(name.text, after: nil))
        } else {
            registrations[name]?.isWalkWanted = true
        }
    }

    private mutating func beginDueWalks(at now: ClockReading, _ effects: inout [Effect]) {
        for (name, registration) in registrations {
            let hasForgotten = registrations[name]?.retries.recall(at: now) != nil
            let isWalkDue = registration.walkDue.map(now.isAtOrAfter) ?? false
            if hasForgotten || isWalkDue { walk(name, &effects) }
        }
    }

    private mutating func found(
        _ page: Result<Page, AlertError>, for name: ExactText, at now: ClockReading,
        _ effects: inout [Effect]
    ) {
        guard case .reading? = registrations[name]?.walk else { return }
        switch page {
        case .success(let page):
            guard let next = page.next else { return endWalk(name, &effects) }
            let ids = page.ids.filter { mayStart($0, of: name, at: now) }
            registrations[name]?.walk = .starting(ids[...], next: next)
            if ids.isEmpty { readOn(name, after: next, &effects) }
        case .failure:
            // The disk fails.
            registrations[name]?.walk = .idle
            registrations[name]?.isWalkWanted = false
            registrations[name]?.walkDue = now.advanced(by: Self.shortPause)
        }
    }

    private mutating func readOn(
        _ name: ExactText, after last: Alert.ID, _ effects: inout [Effect]
    ) {
        registrations[name]?.walk = .reading
        effects.append(.read(name.text, after: last))
    }

    private mutating func endWalk(_ name: ExactText, _ effects: inout [Effect]) {
        registrations[name]?.walk = .idle
        guard registrations[name]?.isWalkWanted == true else { return }
        registrations[name]?.isWalkWanted = false
        walk(name, &effects)
    }

    /// The oldest response that walks have reached.
    private func firstOfWalks() -> (id: Alert.ID, name: ExactText)? {
        let firsts = registrations.compactMap { name, registration in
            guard case .starting(let ids, _) = registration.walk, let id = ids.first else {
                return nil as (id: Alert.ID, name: ExactText)?
            }
            return (id, name)
        }
        return firsts.min { $0.id < $1.id }
    }

    /// Passes the first response that a walk has reached.
    private mutating func step(_ name: ExactText, _ effects: inout [Effect]) {
        guard case .starting(let ids, let next)? = registrations[name]?.walk else { return }
        let rest = ids.dropFirst()
        registrations[name]?.walk = .starting(rest, next: next)
        if rest.isEmpty { readOn(name, after: next, &effects) }
    }

    /// Registers code under a name; responses that failed with its old code no longer have to wait.
    private mutating func register(
        _ name: ExactText, _ body: @escaping AlertManager.RegisteredHandler,
        _ effects: inout [Effect]
    ) {
        registrations[name] = Registration(
            body: body, retries: RetryList(limit: memory, pause: RetryList.delay(after: .max)),
            walk: registrations[name]?.walk ?? .idle)
        for (id, run) in running where run.name == name { running[id]?.failures = 0 }
        walk(name, &effects)
    }
}

/// The closures of one alert, which are lost when this process ends.
struct AlertClosures: Sendable {
    let alert: Alert
    /// The record from when it was asked.
    let asked: AlertRecord
    /// The code that runs for any response.
    let body: Body?

    typealias Body = @Sendable (Alert, Response) async throws -> Void

    var isEmpty: Bool { !Self.isAny(of: alert, body) }

    static func isAny(of alert: Alert, _ body: Body?) -> Bool {
        body != nil || alert.buttons.contains { $0.action != nil }
    }

    /// Runs the chosen button's action, then the code for any response.
    func run(for response: Response) async throws {
        guard response.runsHandlers else { return }
        if alert.buttons.indices.contains(response.buttonIndex) {
            try await alert.buttons[response.buttonIndex].action?()
        }
        try await body?(alert, response)
    }
}
