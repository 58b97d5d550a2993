import Linux
import Synchronization

/// The entry point to a queue: asks people, shows alerts, and returns the answers.
///
/// ```swift
/// let manager = try await AlertManager(path: path, presenters: [try TerminalPresenter()])
/// let response = try await manager.ask(
///     "Apply 14 updates?", buttons: ["Apply", .cancel("Not now")])
/// if response.button?.id == "Apply" { print("applying") }
/// ```
///
/// A manager without presenters asks and listens; one with presenters also shows the current alert
/// of the queue, one at a time. Any number of managers, in any number of processes, may share a
/// database; those that present show the same alert, and the first answer counts. A manager's state
/// lives on one serial Dispatch queue; presenters and handlers run concurrently.
///
/// Every manager that is open for writing enforces the deadlines of all alerts of the queue and
/// ends their snoozes, even if it does not show, read or wait for anything. A manager that is no
/// longer referenced continues to run for as long as it has an alert to show, a closure to run or a
/// registered handler, and then ends as if by ``close()``.
///
/// Every method that reads or writes the queue throws ``AlertError``: besides the errors in its
/// documentation, ``AlertError/incompatible(path:_:)`` or ``AlertError/storage(operation:_:)`` if
/// the file was replaced or deleted in the meantime, and ``AlertError/closed`` after ``close()``.
public actor AlertManager {
    /// Code for the responses of alerts that carry a handler's name.
    ///
    /// If it throws, the response stays uncollected, and the code is tried again after a second,
    /// then after two, four and so on up to ten minutes.
    public typealias RegisteredHandler = @Sendable (Response) async throws -> Void
    /// Code for one alert: it gets the alert and the chosen button's index, or −1 if there is none.
    ///
    /// If it throws, the response stays uncollected and can be taken by key or id, unless the alert
    /// names a handler, which still runs and collects it.
    public typealias Handler = @Sendable (Alert, Int) async throws -> Void

    /// The database file, or what locates a queue on a server.
    public nonisolated let path: String
    /// The source of alerts that name none of their own.
    public nonisolated let source: String

    nonisolated let context: QueueContext
    nonisolated let waiters = Waiters()
    nonisolated let failure = PresentationFailure()
    /// What is shown, and by whom.
    var screen = Screen()
    /// The parts of the system that the screen uses.
    var screenParts: ScreenParts
    /// The events of the screen that are yet to be handled; the first one is being handled.
    private var screenEvents: [Screen.Event] = []
    /// Events from other threads, in their order.
    private nonisolated let inbox = Mutex<[Screen.Event]>([])
    nonisolated let isPresenting = Atomic<Bool>(false)
    var delegateCalls = DelegateCalls()
    var callsInLine: [Int: DelegateCall] = [:]
    var handlers = Handlers()
    /// Tell other processes that closures here wait for a response.
    var closureWaits: [Alert.ID: AskerLease] = [:]
    /// The leases on the responses whose closures run.
    var closureLeases: [Alert.ID: any AlertLease] = [:]
    var log = LogReading()
    private let alarm: Alarm
    /// The manager, while it must not end.
    private var keptAlive: AlertManager?
    private var lastNumber = 0

    private nonisolated let closed = Atomic<Bool>(false)
    private var closing: Task<Void, Never>?

    package nonisolated var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// The serial Dispatch queue on which the manager's state lives; see SE-0392.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        context.executor.asUnownedSerialExecutor()
    }

    /// Opens a queue in an existing store.
    ///
    /// - Parameters:
    ///   - path: Its location, for messages.
    ///   - queueName: What screens call it, where they show several queues.
    ///   - errors: Reports errors for which no caller waits, including those of the store.
    package init(
        store: any AlertStore, path: String, source: String, caller: Caller,
        presenters: [any AlertPresenter], delegate: (any AlertManagerDelegate)?,
        clock: any AlertClock, turn: PresentationTurn? = nil, queueName: String? = nil,
        errors: BackgroundErrors = BackgroundErrors()
    ) async throws(AlertError) {
        try Text.check(source, "source", limit: Alert.Limit.name)
        try Self.check(presenters)
        self.path = path
        self.source = source
        var caller = caller
        // Its own alerts are those of the account that the store acts for.
        caller.principal = store.actingPrincipal ?? caller.principal
        context = QueueContext(
            store: store, clock: clock, caller: caller, queueName: queueName,
            delegates: Delegates(delegate), errors: errors)
        screenParts = ScreenParts(turn: turn)
        alarm = Alarm(clock: clock)
        if !presenters.isEmpty { try await startPresenting(presenters, only: nil) }
    }

    deinit {
        // The store itself writes the remaining posted entries.
        log.task?.cancel()
        screenParts.end()
    }

    nonisolated var store: any AlertStore { context.store }

    /// This process, as screens and records of the queue name it.
    package nonisolated var process: ProcessIdentity { store.actingProcess ?? .current }

    /// The events of this queue from now on, from any process.
    ///
    /// ```swift
    /// for try await event in manager.events where event.kind == .resolved {
    ///     print(event.title ?? "-", event.outcome?.rawValue ?? "-")
    /// }
    /// ```
    public nonisolated var events: AlertEvents {
        AlertEvents(store: store, start: store.position)
    }

    /// Returns all events after one: the past ones, and then those that follow.
    ///
    /// ```swift
    /// for try await event in manager.events(after: .start) { print(event.sequence, event.kind) }
    /// ```
    ///
    /// - Parameter cursor: The ``AlertEvent/cursor`` of the last event already seen;
    ///   ``AuditHead/start`` for the whole log.
    public nonisolated func events(after cursor: AuditHead) -> AlertEvents {
        AlertEvents(store: store, start: LogPosition(cursor))
    }

    /// Takes the current alert off the screen, writes all pending entries, and ends all waiting calls
    /// with ``AlertError/closed``. Alerts that wait in the queue stay there.
    ///
    /// ```swift
    /// await manager.close()
    /// ```
    public func close() async {
        noteWaitInCallback()
        if closing == nil {
            closed.store(true, ordering: .releasing)
            closing = Task { await end() }
        }
        // A second caller waits for the same close.
        await closing?.value
    }

    private func end() async {
        await endPresenting()
        log.task?.cancel()
        tellHandlers(.close)
        for lease in closureWaits.values { lease.end() }
        closureWaits = [:]
        // One that does not return is waited for until its time is over.
        await waitForDelegates()
        alarm.cancel()
        waiters.close()
        await store.close()
        keptAlive = nil
    }

    /// Sets the closure that receives errors for which no caller waits: those of closures, handlers
    /// and presenters, and alerts that no screen can show.
    ///
    /// By default each error is printed as a line on the standard error.
    ///
    /// ```swift
    /// manager.onError { error in print("alertq: \(error)") }
    /// ```
    ///
    /// - Parameter body: Called where the error occurs, on any thread; it must return soon. It
    ///   replaces the previous closure.
    public nonisolated func onError(_ body: @escaping @Sendable (BackgroundError) -> Void) {
        context.errors.handle(with: body)
    }

    /// The name of the program that this process runs.
    package static var programName: String {
        let path = LinuxFile.link("/proc/self/exe") ?? "unknown"
        return String(path.split(separator: "/").last ?? "unknown")
    }

    package static func check(_ presenters: [any AlertPresenter]) throws(AlertError) {
        var names: Set<String> = []
        for presenter in presenters {
            try Text.check(presenter.name, "name of a presenter", limit: Alert.Limit.name)
            guard names.insert(presenter.name).inserted else {
                throw .invalid("presenters", "have the name “\(presenter.name)” twice")
            }
        }
    }
}

// MARK: - Events and time

extension AlertManager {
    /// A number for a call or an effect.
    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Tells the screen something, from any thread; in the order of these calls.
    nonisolated func send(_ event: Screen.Event) {
        let isFirst = inbox.withLock { events in
            // One look serves all that may have changed.
            if event.isQueueChanged, events.contains(where: \.isQueueChanged) { return false }
            events.append(event)
            return events.count == 1
        }
        // A task would begin on another thread, and only then come to the manager's queue.
        if isFirst { context.executor.run { self.assumeIsolated { $0.feed() } } }
    }

    /// Tells the screen that there may be something to show.
    nonisolated func wake() {
        if isPresenting.load(ordering: .acquiring) { send(.queueChanged) }
    }

    /// Tells the screen what was sent before, and then an event, and does what follows from them.
    ///
    /// An effect that ends at once feeds its event while the screen's other effects are still being
    /// carried out: that event is handled after them.
    func feed(_ event: Screen.Event? = nil) {
        let isHandling = !screenEvents.isEmpty
        inbox.withLock { events in
            screenEvents += events
            events = []
        }
        if let event { screenEvents.append(event) }
        guard !isHandling else { return }
        while let next = screenEvents.first {
            if case .ended(let run, _) = next { screenParts.runs[run] = nil }
            for effect in screen.handle(next, at: context.clock.now()) { carryOut(effect) }
            screenEvents.removeFirst()
        }
        update()
    }

    /// Sets the alarm for the screen and its delegates, and decides whether the manager must be kept
    /// alive.
    func update() {
        keptAlive = !isClosed && (screen.needsManager || !handlers.isEmpty) ? self : nil
        if let moment = screen.nextMoment { setAlarm(at: moment) }
        for moment in delegateCalls.moments { setAlarm(at: moment) }
    }

    /// Makes sure that what is due at a moment is done then.
    func setAlarm(at moment: ClockReading) {
        alarm.set(at: moment) { [weak self] in await self?.timeHasCome() }
    }

    private func timeHasCome() {
        feed(.time)
        handleDelegateCall(.time)
        tellHandlers(.time)
    }
}
