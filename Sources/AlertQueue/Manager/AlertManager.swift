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
/// Dispatch queue; handlers run beside it. A manager that nobody holds any more goes on for as long
/// as it has something to show or to wait for; ``close()`` ends it.
///
/// Whatever reads or writes the queue throws ``AlertError``: besides what each method names, that
/// is ``AlertError/incompatible(path:_:)`` or ``AlertError/storage(operation:_:)`` when the file
/// was replaced or deleted meanwhile, and ``AlertError/closed`` after ``close()``.
public actor AlertManager {
    /// Code for the responses of alerts that carry a handler's name.
    ///
    /// If it throws, the response stays uncollected, and is offered again at the next registration.
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
    nonisolated let identity: Identity
    /// What responders of this manager's own verbs are called in records.
    nonisolated let via: String
    nonisolated let turn: PresentationTurn?
    /// Tells the presentation loop to look again.
    nonisolated let pokes = ChangeSignal()
    /// What the presentation loop need not look for.
    nonisolated let fresh = FreshAlerts()
    /// How many resolutions this manager has seen that nobody in it waited for.
    nonisolated let unawaited = Atomic<UInt64>(0)
    weak var delegate: (any AlertManagerDelegate)?

    // What this manager waits for, by alert.
    var watchers: [Alert.ID: [UInt64: CheckedContinuation<AlertRecord, any Error>]] = [:]
    var nextWatcher: UInt64 = 0
    var closures: [Alert.ID: AlertClosures] = [:]
    var deadlines: [Alert.ID: Task<Void, Never>] = [:]

    // Named handlers.
    var registered: [String: RegisteredHandler] = [:]
    var runningHandlers: Set<Alert.ID> = []
    var failedHandlers: [Alert.ID: String] = [:]
    /// Names whose responses came while too many handlers ran.
    var crowdedOut: Set<String> = []

    // The audit log, as far as this manager has followed it.
    var cursor: Int64
    var listener: Task<Void, Never>?
    /// Since when the audit log can't be read.
    var failingSince: ClockReading?

    // Presentation.
    var presenters: [any AlertPresenter]
    var stuckPresenters: Set<String> = []
    var presentsOnly: Alert.ID?
    var presenting: Task<Void, Never>?
    /// What the presentation loop waits for: the slot, or the screen.
    var wait: Task<Void, Never>?
    var lease: (any SlotLease)?
    var showing: Showing?
    var wantsToPresent = false
    /// The audit entry at which nothing waited that could be shown, if that is known.
    var emptySince: Int64?
    var idleWaiters: [CheckedContinuation<Void, Never>] = []
    private nonisolated let closed = Atomic<Bool>(false)

    nonisolated var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// The serial Dispatch queue on which the manager's state lives; see SE-0392.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens a queue.
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
    package init(
        path: String, source: String? = nil, via: String,
        presenters: [any AlertPresenter] = [], delegate: (any AlertManagerDelegate)? = nil,
        clock: any AlertClock = .system, turn: PresentationTurn? = nil
    ) async throws(AlertError) {
        let source = source ?? Self.programName
        try Text.check(source, "source", limit: Alert.Limit.name)
        try Self.check(presenters)
        let store = try await SQLiteAlertStore.open(path: path, clock: clock)
        self.path = path
        self.source = source
        self.store = store
        self.clock = clock
        self.via = via
        self.turn = turn
        self.delegate = delegate
        self.presenters = []
        identity = store.identity
        cursor = store.knownSequence
        if !presenters.isEmpty { await startPresenting(presenters, only: nil) }
    }

    /// The manager of the default database, opened at the first call and kept.
    ///
    /// - Throws: what ``init(path:source:presenters:delegate:clock:)`` throws; the next call tries
    ///   again.
    public static func shared() async throws(AlertError) -> AlertManager {
        let opening = sharedOpening.withLock { opening in
            if let opening { return opening }
            let started = Task { () async -> Result<AlertManager, AlertError> in
                do throws(AlertError) {
                    return .success(try await AlertManager())
                } catch {
                    return .failure(error)
                }
            }
            opening = started
            return started
        }
        let result = await opening.value
        if case .failure = result {
            sharedOpening.withLock { if $0 == opening { $0 = nil } }
        }
        return try result.get()
    }

    private static let sharedOpening = Mutex<Task<Result<AlertManager, AlertError>, Never>?>(nil)

    /// Everything that happens in this queue from now on, in whatever process.
    public nonisolated var events: AlertEvents {
        AlertEvents(store: store, start: store.knownSequence)
    }

    /// Everything that has happened behind a sequence number, and goes on happening.
    ///
    /// - Parameter sequence: The last ``AlertEvent/sequence`` that has been seen; 0 for the whole
    ///   log.
    public nonisolated func events(after sequence: Int64) -> AlertEvents {
        AlertEvents(store: store, start: sequence)
    }

    /// Takes what is shown off the screen, writes what is still to be written, and ends all waiting
    /// with ``AlertError/closed``. What waits in the queue stays there.
    public func close() async {
        guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        await stopPresenting()
        listener?.cancel()
        for deadline in deadlines.values { deadline.cancel() }
        deadlines.removeAll()
        closures.removeAll()
        let waiting = watchers.values.flatMap(\.values)
        watchers.removeAll()
        for watcher in waiting { watcher.resume(throwing: AlertError.closed) }
        await store.close()
    }

    private static var programName: String {
        let path = LinuxFile.link("/proc/self/exe") ?? "unknown"
        return String(path.split(separator: "/").last ?? "unknown")
    }

    private static func check(_ presenters: [any AlertPresenter]) throws(AlertError) {
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
    let handler: AlertManager.Handler?

    var isEmpty: Bool { handler == nil && alert.buttons.allSatisfy { $0.action == nil } }
}
