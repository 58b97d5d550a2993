import TextFormats

/// The code that waits for responses in one manager: closures given with alerts, and handlers
/// registered by name; which of it runs, and which responses must be tried again.
///
/// It only does the bookkeeping: ``AlertManager`` runs the code, and the store makes sure that a
/// response's handler runs in one process at a time. Each response of a registered name is in one
/// of four states: its handler runs, it waits for another try, another process has it, or a *walk*
/// through all uncollected responses will reach it.
struct Handlers {
    /// How many handlers of one manager run at once.
    static let limit = 32
    /// How many failures are remembered; other failed responses are tried again by a walk.
    private static let memory = 10_000
    private static let backoff = Backoff(longest: .seconds(600))

    private struct Retry {
        let name: String
        let failures: Int
        let due: ClockReading
    }

    private struct Walk {
        /// Whether one is running.
        var isRunning = false
        /// Whether another must follow because of new responses.
        var isWanted = false
        /// When one must begin by itself.
        var due: ClockReading?
    }

    private var bodies: [ExactText: AlertManager.RegisteredHandler] = [:]
    private var running: Set<Alert.ID> = []
    private var retries: [Alert.ID: Retry] = [:]
    /// The responses that another process works on or has finished.
    private var held: [Alert.ID: String] = [:]
    private var walks: [ExactText: Walk] = [:]

    private var closures: [Alert.ID: [AlertClosures]] = [:]
    /// The alerts whose closures run now.
    private var runningClosures: Set<Alert.ID> = []

    /// Whether there is any code. While there is, the manager is kept alive, even if nothing else
    /// references it.
    var isEmpty: Bool { bodies.isEmpty && closures.isEmpty }
    var isFull: Bool { running.count >= Self.limit }

    func body(of name: String) -> AlertManager.RegisteredHandler? { bodies[ExactText(name)] }

    /// Registers code under a name; responses that failed with its old code no longer have to wait.
    mutating func register(_ name: String, _ body: @escaping AlertManager.RegisteredHandler) {
        bodies[ExactText(name)] = body
        retries = retries.filter { !$0.value.name.isIdentical(to: name) }
    }

    mutating func removeAll() { self = Handlers() }
}

// MARK: - Closures

extension Handlers {
    /// Whether code may be waiting for the response to an alert.
    func mayWait(for id: Alert.ID) -> Bool { closures[id] != nil || !bodies.isEmpty }

    func hasClosures(for id: Alert.ID) -> Bool { closures[id] != nil }

    /// Keeps the closures of an alert until it has its response.
    mutating func add(_ closures: AlertClosures, for id: Alert.ID) {
        self.closures[id, default: []].append(closures)
    }

    /// Begins to run an alert's closures; `false` if they are already running.
    mutating func beginClosures(of id: Alert.ID) -> Bool { runningClosures.insert(id).inserted }

    /// The closures to run next; `nil` if none are left and a new run may begin.
    mutating func takeClosures(of id: Alert.ID) -> AlertClosures? {
        guard let next = closures[id]?.first else {
            closures[id] = nil
            runningClosures.remove(id)
            return nil
        }
        closures[id]?.removeFirst()
        return next
    }
}

// MARK: - Runs

extension Handlers {
    /// Whether a response may be processed now: it neither runs nor waits for another try.
    func mayStart(_ id: Alert.ID, at now: ClockReading) -> Bool {
        guard !isFull, !running.contains(id) else { return false }
        return retries[id].map { now.isAtOrAfter($0.due) } ?? true
    }

    mutating func didStart(_ id: Alert.ID) { running.insert(id) }

    /// Records that a handler that was about to start could not.
    mutating func didNotStart(_ id: Alert.ID) { running.remove(id) }

    /// Records that another process has the response.
    mutating func noteHeld(_ id: Alert.ID, for name: String) { held[id] = name }

    mutating func didSucceed(_ id: Alert.ID) {
        running.remove(id)
        retries[id] = nil
    }

    /// Records a failure, and returns the pause before the next try.
    mutating func didFail(_ id: Alert.ID, for name: String, at now: ClockReading) -> Duration {
        running.remove(id)
        let failures = (retries[id]?.failures ?? 0) + 1
        let pause = Self.backoff.pause(after: failures)
        if retries.count < Self.memory || retries[id] != nil {
            retries[id] = Retry(name: name, failures: failures, due: now.advanced(by: pause))
        } else {
            // It may be tried earlier if a walk reaches it for another reason.
            let due = now.advanced(by: Self.backoff.pause(after: .max))
            walks[ExactText(name), default: Walk()].due = due
        }
        return pause
    }

    /// The earliest future moment at which something must be tried again.
    ///
    /// Responses that are already due are not counted: their handlers run or wait for a free place,
    /// or another process has them. An alarm for them would go off again and again.
    func nextDue(after now: ClockReading) -> ClockReading? {
        let moments = retries.values.map(\.due) + walks.values.compactMap(\.due)
        return now.earliest(of: moments.filter { !now.isAtOrAfter($0) })
    }

    /// The responses to try now, oldest first: those that failed and have paused long enough, and
    /// those that another process had.
    func due(at now: ClockReading) -> [(id: Alert.ID, name: String)] {
        let paused = retries.filter { now.isAtOrAfter($0.value.due) && !running.contains($0.key) }
        let all = held.merging(paused.mapValues(\.name)) { $1 }
        return all.sorted { $0.key < $1.key }.map { (id: $0.key, name: $0.value) }
    }

    /// Forgets that another process had a response; the next try will find out.
    mutating func forgetHeld(_ id: Alert.ID) { held[id] = nil }
}

// MARK: - Walks

extension Handlers {
    /// Whether new responses of a name must wait for those that a walk has not reached.
    func isWalking(_ name: String) -> Bool { walks[ExactText(name)]?.isRunning == true }

    /// Begins a walk; `false` if one is already running, after which another follows.
    mutating func beginWalk(_ name: String) -> Bool {
        var walk = walks[ExactText(name)] ?? Walk()
        defer { walks[ExactText(name)] = walk }
        walk.due = nil
        walk.isWanted = walk.isRunning
        guard !walk.isRunning else { return false }
        walk.isRunning = true
        return true
    }

    /// Ends a walk; returns whether another must follow at once.
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

    /// The names whose walks must begin now.
    func dueWalks(at now: ClockReading) -> [String] {
        walks.filter { $0.value.due.map(now.isAtOrAfter) == true }.map(\.key.text)
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

    var isEmpty: Bool { body == nil && alert.buttons.allSatisfy { $0.action == nil } }

    /// Runs the chosen button's action, then the code for any response.
    func run(for response: Response) async throws {
        guard response.runsHandlers else { return }
        if alert.buttons.indices.contains(response.buttonIndex) {
            try await alert.buttons[response.buttonIndex].action?()
        }
        try await body?(alert, response)
    }
}
