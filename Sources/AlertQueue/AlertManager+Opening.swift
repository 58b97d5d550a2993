@_exported import AlertCore
import SQLiteStore

// Where a location becomes a store.
extension AlertManager {
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
    ///   - delegate: Hears what happens on this manager's screen, and to its own alerts on any;
    ///     held weakly.
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
        let (caller, errors) = (Caller(via: via), BackgroundErrors())
        let store = try await SQLiteAlertStore.open(
            path: path, clock: clock, caller: caller, isReadOnly: !keepsTime, keepsTime: keepsTime
        ) { [weak errors] in errors?.report(.deadlines($0)) }
        try await self.init(
            store: store, path: path, source: source, caller: caller, presenters: presenters,
            delegate: delegate, clock: clock, turn: turn, errors: errors)
    }
}
