import Linux
import Synchronization

/// Asks people, shows what is asked, and hands the answers back: the entrance to a queue.
///
/// ```swift
/// let manager = try await AlertManager(path: path, presenters: [try TerminalPresenter()])
/// let response = try await manager.ask(
///     "Apply 14 updates?", buttons: ["Apply", .cancel("Not now")])
/// if response.button?.id == "Apply" { print("applying") }
/// ```
///
/// A manager without presenters asks and listens; one with presenters also waits for the queue's
/// one presentation slot, and shows one alert at a time once it has it. Any number of managers, in
/// any number of processes, may share a database. State, timers and presentation live on one serial
/// Dispatch queue; handlers run beside it.
///
/// Every open manager applies the deadlines of all alerts of the queue and ends their snoozes; it
/// need not show, read or wait for anything. A manager that is no longer referred to goes on for as
/// long as it has an alert to show, a closure to run or a registered handler, and then ends as if
/// by ``close()``.
///
/// Whatever reads or writes the queue throws ``AlertError``: besides what each method names, that
/// is ``AlertError/incompatible(path:_:)`` or ``AlertError/storage(operation:_:)`` when the file
/// was replaced or deleted meanwhile, and ``AlertError/closed`` after ``close()``.
public actor AlertManager {
    /// Code for the responses of alerts that carry a handler's name.
    ///
    /// If it throws, the response stays uncollected, and the code is tried again after a second,
    /// then after two, four and so on up to ten minutes.
    public typealias RegisteredHandler = @Sendable (Response) async throws -> Void
    /// Code for one alert: it gets the alert and the chosen button's index from 0, or −1 for none.
    ///
    /// If it throws, the response stays uncollected, and can be taken by key or id.
    public typealias Handler = @Sendable (Alert, Int) async throws -> Void

    /// The database file.
    public nonisolated let path: String
    /// The name under which alerts are asked that name no source of their own.
    public nonisolated let source: String

    private nonisolated let executor = QueueExecutor(label: "alertq.manager")
    nonisolated let store: any AlertStore
    nonisolated let clock: any AlertClock
    /// On whose behalf it acts; what a presenter does is done through that.
    nonisolated let caller: Caller
    nonisolated let turn: PresentationTurn?
    /// Tells the presentation loop to look again.
    nonisolated let pokes: ChangeSignal
    /// What the presentation loop need not look for.
    nonisolated let fresh: FreshAlerts
    /// How many resolutions this manager has seen.
    nonisolated let resolutionsSeen = Atomic<UInt64>(0)
    weak var delegate: (any AlertManagerDelegate)?
    /// Those that were given with single alerts, which they hear of in its place.
    nonisolated let ownDelegates = OwnDelegates()

    /// Hears of errors that no caller waits for.
    private nonisolated let errorHandler = Mutex<@Sendable (BackgroundError) -> Void>(
        BackgroundError.log)

    // What this manager waits for, by alert.
    var watchers: [Alert.ID: [UInt64: CheckedContinuation<AlertRecord, any Error>]] = [:]
    var nextWatcher: UInt64 = 0
    var closures: [Alert.ID: [AlertClosures]] = [:]
    /// The alerts whose closures run now.
    var runningClosures: Set<Alert.ID> = []
    /// The manager itself, while closures or handlers need it: nobody else may refer to it.
    private var ownReference: AlertManager?

    // Named handlers.
    var handlers = HandlerAgenda()
    /// Changes when one of them ends.
    nonisolated let handlerEnds = ChangeSignal()

    // Time.
    var timekeeper: Task<Void, Never>?
    /// The deadlines of the alerts that are waited for.
    var deadlines: [Alert.ID: ClockReading] = [:]
    var alarm: Alarm?
    /// Whether time is being kept just now, and has to be once more.
    var isKeepingTime = false
    var mustKeepTimeAgain = false
    /// Since when time can't be kept, and whether that has been told.
    var timeFailingSince: (start: ContinuousClock.Instant, isTold: Bool)?
    /// Since when expiries can't be stored.
    var expiryFailingSince: ContinuousClock.Instant?

    // The audit log, as far as this manager has followed it.
    var cursor: Int64
    var listener: Task<Void, Never>?
    /// How much news of the store this manager has acted upon.
    var newsFollowed: UInt64 = 0
    /// Since when the audit log can't be read.
    var failingSince: ClockReading?

    // Presentation.
    var presenters: [any AlertPresenter]
    var stuckPresenters: Set<String> = []
    var presentsOnly: Alert.ID?
    var presenting: Task<Void, Never>?
    /// What the presentation loop waits for: the slot, the screen, or the end of a pause.
    var wait: Task<Void, Never>?
    /// How often in a row every presenter has failed.
    var failedShowings = 0
    var resting: [Alert.ID: Rest] = [:]
    var lease: (any SlotLease)?
    var showing: Showing?
    /// Whether the last alert on the screen had no buttons.
    var hasShownNotice = false
    var wantsToPresent = false
    /// The audit entry at which nothing waited that could be shown, if that is known.
    var emptySince: Int64?
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
    private nonisolated let closed = Atomic<Bool>(false)
    private var closing: Task<Void, Never>?

    nonisolated var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// The serial Dispatch queue on which the manager's state lives; see SE-0392.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens a queue.
    ///
    /// ```swift
    /// let manager = try await AlertManager(path: path, source: "backup")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The database file; `nil` means `$ALERTQ_DATABASE`, else the user's queue,
    ///     `$XDG_STATE_HOME/alertq/queue.db` or `~/.local/state/alertq/queue.db`, else, for root
    ///     and where there is no home, the system queue, `/var/lib/alertq/queue.db`. The file is
    ///     created if it does not exist; its directory is created for the user's queue alone.
    ///   - source: The name under which alerts are asked, 1 to 256 bytes; `nil` means the
    ///     program's name.
    ///   - presenters: Who shows alerts, all of them at once; none means that this manager only
    ///     asks and listens.
    ///   - delegate: Who hears what happens on the screen; held weakly.
    ///   - clock: The time; replaced in tests.
    /// - Throws: ``AlertError/incompatible(path:_:)``, ``AlertError/notPermitted(path:_:)``,
    ///   ``AlertError/inconsistent(_:_:)`` for a schema that is not alertq's,
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``, and
    ///   ``AlertError/invalid(_:_:)`` for a source or a presenter's name.
    public init(
        path: String? = nil, source: String? = nil, presenters: [any AlertPresenter] = [],
        delegate: (any AlertManagerDelegate)? = nil, clock: any AlertClock = .system
    ) async throws(AlertError) {
        if path == nil { try QueueLocation.checkEnvironment() }
        try await self.init(
            path: path ?? QueueLocation.defaultPath(), source: source, via: "library",
            presenters: presenters, delegate: delegate, clock: clock)
    }

    /// Opens a queue for the command, whose verb stands in the records as `via`.
    ///
    /// - Parameter keepsTime: Whether it applies the queue's deadlines. Who only reads a backup
    ///   writes nothing to it.
    package init(
        path: String, source: String? = nil, via: String,
        presenters: [any AlertPresenter] = [], delegate: (any AlertManagerDelegate)? = nil,
        clock: any AlertClock = .system, turn: PresentationTurn? = nil, keepsTime: Bool = true
    ) async throws(AlertError) {
        let source = source ?? Self.programName
        try Text.check(source, "source", limit: Alert.Limit.name)
        try Self.check(presenters)
        let caller = Caller(via: via)
        let store = try await SQLiteAlertStore.open(
            path: path, clock: clock, caller: caller, isReadOnly: !keepsTime)
        self.path = path
        self.source = source
        self.store = store
        self.clock = clock
        self.caller = caller
        self.turn = turn
        self.delegate = delegate
        self.presenters = []
        pokes = ChangeSignal()
        fresh = FreshAlerts(pokes: pokes)
        cursor = store.knownSequence
        if keepsTime { startTimekeeping() }
        if !presenters.isEmpty { await startPresenting(presenters, only: nil) }
    }

    deinit {
        // What the store still has to write it writes by itself.
        for task in [timekeeper, alarm?.task, listener, presenting, wait] { task?.cancel() }
        lease?.release()
    }

    /// Everything that happens in this queue from now on, in whatever process.
    ///
    /// ```swift
    /// for try await event in manager.events where event.kind == .resolved {
    ///     print(event.title ?? "-", event.outcome?.rawValue ?? "-")
    /// }
    /// ```
    public nonisolated var events: AlertEvents {
        AlertEvents(store: store, start: store.knownSequence)
    }

    /// Everything that has happened after a sequence number, and what happens from now on.
    ///
    /// ```swift
    /// for try await event in manager.events(after: 0) { print(event.sequence, event.kind) }
    /// ```
    ///
    /// - Parameter sequence: The last ``AlertEvent/sequence`` that has been seen; 0 for the whole
    ///   log.
    public nonisolated func events(after sequence: Int64) -> AlertEvents {
        AlertEvents(store: store, start: sequence)
    }

    /// Takes what is shown off the screen, writes what is still to be written, and ends all waiting
    /// with ``AlertError/closed``. What waits in the queue stays there.
    ///
    /// ```swift
    /// await manager.close()
    /// ```
    public func close() async {
        if closing == nil {
            closed.store(true, ordering: .releasing)
            closing = Task { await end() }
        }
        // Whoever comes second waits for the same end.
        await closing?.value
    }

    private func end() async {
        await stopPresenting()
        listener?.cancel()
        timekeeper?.cancel()
        alarm?.task.cancel()
        deadlines.removeAll()
        closures.removeAll()
        handlers.removeAll()
        handlerEnds.change()
        ownReference = nil
        let waiting = watchers.values.flatMap(\.values)
        watchers.removeAll()
        for watcher in waiting { watcher.resume(throwing: AlertError.closed) }
        await store.close()
    }

    /// Sets the closure that hears of errors for which no caller waits: those of closures, handlers
    /// and presenters, and alerts that no screen can show.
    ///
    /// Without one, each error is printed as a line on the standard error.
    ///
    /// ```swift
    /// manager.onError { error in print("alertq: \(error)") }
    /// ```
    ///
    /// - Parameter body: Called where the error happens, on any thread; it must return soon. It
    ///   replaces the closure that was set before.
    public nonisolated func onError(_ body: @escaping @Sendable (BackgroundError) -> Void) {
        errorHandler.withLock { $0 = body }
    }

    /// Tells of an error that no caller waits for.
    nonisolated func report(_ error: BackgroundError) {
        // Called outside of the lock: it may set another closure itself.
        let body = errorHandler.withLock { $0 }
        body(error)
    }

    /// Keeps this manager for as long as closures or handlers need it, even if nobody refers to it.
    func stayWhileNeeded() {
        let isNeeded = !isClosed && (!closures.isEmpty || !handlers.isEmpty)
        ownReference = isNeeded ? self : nil
    }

    private static var programName: String {
        let path = LinuxFile.link("/proc/self/exe") ?? "unknown"
        return String(path.split(separator: "/").last ?? "unknown")
    }

    static func check(_ presenters: [any AlertPresenter]) throws(AlertError) {
        var names: Set<String> = []
        for presenter in presenters {
            try Text.check(presenter.name, "name of a presenter", limit: Alert.Limit.name)
            guard names.insert(presenter.name).inserted else {
                throw .invalid("presenters", "have the name “\(presenter.name)” twice")
            }
        }
    }
}

/// The closures of one alert, which die with this process.
struct AlertClosures: Sendable {
    let alert: Alert
    /// The record when it was asked.
    let asked: AlertRecord
    /// Code for the response, whichever button it has.
    let body: Body?

    typealias Body = @Sendable (Alert, Response) async throws -> Void

    var isEmpty: Bool { body == nil && alert.buttons.allSatisfy { $0.action == nil } }
}
