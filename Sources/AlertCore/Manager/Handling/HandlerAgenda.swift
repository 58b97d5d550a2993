/// Which named handlers a manager has, which of them run, and what has to be tried again.
///
/// It only keeps the books: ``HandlerRunner`` runs the handlers, and the store sees to it that a
/// response's handler runs in one process at a time. Each response of a registered name is in one
/// of four states: it runs, it waits for another try, another process has it, or a *walk* through
/// what nobody has collected comes to it.
struct HandlerAgenda {
    /// How many handlers of one manager run at once.
    static let limit = 32
    /// How many failures are remembered; what fails beyond that is tried again by a walk.
    private static let memory = 10_000
    private static let backoff = Backoff(longest: .seconds(600))

    private struct Retry {
        let name: String
        let failures: Int
        let due: ClockReading
    }

    private struct Walk {
        /// Whether one is under way.
        var isRunning = false
        /// Whether another has to follow, because of what came meanwhile.
        var isWanted = false
        /// When one has to begin by itself.
        var due: ClockReading?
    }

    private var bodies: [ExactText: AlertManager.RegisteredHandler] = [:]
    private var running: Set<Alert.ID> = []
    private var retries: [Alert.ID: Retry] = [:]
    /// The responses that another process works on, or has ended with.
    private var held: [Alert.ID: String] = [:]
    private var walks: [ExactText: Walk] = [:]

    var isEmpty: Bool { bodies.isEmpty }
    var isFull: Bool { running.count >= Self.limit }

    func body(of name: String) -> AlertManager.RegisteredHandler? { bodies[ExactText(name)] }

    /// Registers code under a name; what failed with its old code need not wait any longer.
    mutating func register(_ name: String, _ body: @escaping AlertManager.RegisteredHandler) {
        bodies[ExactText(name)] = body
        retries = retries.filter { !$0.value.name.isIdentical(to: name) }
    }

    mutating func removeAll() { self = HandlerAgenda() }
}

// MARK: - Runs

extension HandlerAgenda {
    /// Whether a response may be worked on now: it neither runs nor waits for another try.
    func mayStart(_ id: Alert.ID, at now: ClockReading) -> Bool {
        guard !isFull, !running.contains(id) else { return false }
        return retries[id].map { now.isAtOrAfter($0.due) } ?? true
    }

    mutating func didStart(_ id: Alert.ID) { running.insert(id) }

    /// Notes that a handler that was about to start could not.
    mutating func didNotStart(_ id: Alert.ID) { running.remove(id) }

    /// Notes that another process has the response.
    mutating func isHeld(_ id: Alert.ID, for name: String) { held[id] = name }

    mutating func didSucceed(_ id: Alert.ID) {
        running.remove(id)
        retries[id] = nil
    }

    /// Notes a failure, and returns the pause before the next try.
    mutating func didFail(_ id: Alert.ID, for name: String, at now: ClockReading) -> Duration {
        running.remove(id)
        let failures = (retries[id]?.failures ?? 0) + 1
        let pause = Self.backoff.pause(after: failures)
        if retries.count < Self.memory || retries[id] != nil {
            retries[id] = Retry(name: name, failures: failures, due: now.advanced(by: pause))
        } else {
            // It may be tried early, when a walk comes to it for another reason.
            let due = now.advanced(by: Self.backoff.pause(after: .max))
            walks[ExactText(name), default: Walk()].due = due
        }
        return pause
    }

    /// The earliest moment to come at which something has to be tried again.
    ///
    /// What is due already is not counted: it runs, or waits until fewer handlers do, or another
    /// process has it. An alarm for it would go off over and over.
    func nextDue(after now: ClockReading) -> ClockReading? {
        let moments = retries.values.map(\.due) + walks.values.compactMap(\.due)
        return now.earliest(of: moments.filter { !now.isAtOrAfter($0) })
    }

    /// What has to be tried now, the oldest first: what failed and has paused for long enough, and
    /// what another process had.
    func due(at now: ClockReading) -> [(id: Alert.ID, name: String)] {
        let paused = retries.filter { now.isAtOrAfter($0.value.due) && !running.contains($0.key) }
        let all = held.merging(paused.mapValues(\.name)) { $1 }
        return all.sorted { $0.key < $1.key }.map { (id: $0.key, name: $0.value) }
    }

    /// Forgets that another process had a response; the next try finds out.
    mutating func isNoLongerHeld(_ id: Alert.ID) { held[id] = nil }
}

// MARK: - Walks

extension HandlerAgenda {
    /// Whether new responses of a name have to wait for those that a walk has not reached.
    func isWalking(_ name: String) -> Bool { walks[ExactText(name)]?.isRunning == true }

    /// Begins a walk; `false` if one is under way, after which another follows.
    mutating func beginWalk(_ name: String) -> Bool {
        var walk = walks[ExactText(name)] ?? Walk()
        defer { walks[ExactText(name)] = walk }
        walk.due = nil
        walk.isWanted = walk.isRunning
        guard !walk.isRunning else { return false }
        walk.isRunning = true
        return true
    }

    /// Ends a walk; returns whether another has to follow at once.
    mutating func endWalk(_ name: String) -> Bool {
        let isWanted = walks[ExactText(name)]?.isWanted == true
        walks[ExactText(name)]?.isRunning = isWanted
        walks[ExactText(name)]?.isWanted = false
        return isWanted
    }

    /// Schedules a walk to begin at a moment.
    mutating func walk(_ name: String, at moment: ClockReading) {
        walks[ExactText(name), default: Walk()].due = moment
    }

    /// The names whose walks have to begin now.
    func dueWalks(at now: ClockReading) -> [String] {
        walks.filter { $0.value.due.map(now.isAtOrAfter) == true }.map(\.key.text)
    }
}
