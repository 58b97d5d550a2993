@_exported import AlertCore
import SQLiteStore

// Turning a location into a store.
extension AlertManager {
    /// Opens a queue.
    ///
    /// ```swift
    /// let manager = try await AlertManager(path: path, source: "backup")
    /// ```
    ///
    /// - Parameters:
    ///   - path: The database file; `nil` means `$ALERTQ_DATABASE`, else the user's queue,
    ///     `$XDG_STATE_HOME/alertq/queue.db` or `~/.local/state/alertq/queue.db`, or, for root, the
    ///     system queue, `/var/lib/alertq/queue.db`. The file is created if it does not exist; its
    ///     directory is created only for the user's queue.
    ///   - source: The source of this manager's alerts, 1 to 256 bytes; `nil` means the program's
    ///     name.
    ///   - presenters: The presenters that show alerts, all at once; an empty array means that this
    ///     manager only asks and listens.
    ///   - delegate: An observer of this manager's screen, and of its own alerts on any screen;
    ///     held weakly.
    ///   - clock: The time source; replaced in tests.
    /// - Throws: ``AlertError/incompatible(path:_:)``, ``AlertError/backup(path:_:)``,
    ///   ``AlertError/notPermitted(path:_:)``,
    ///   ``AlertError/inconsistent(_:_:)`` for a schema that is not alertq's,
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``, and
    ///   ``AlertError/invalid(_:_:)`` for a source or a presenter's name, or if `path` is `nil` and
    ///   the account has no home directory.
    public init(
        path: String? = nil, source: String? = nil, presenters: [any AlertPresenter] = [],
        delegate: (any AlertManagerDelegate)? = nil, clock: any AlertClock = .system
    ) async throws(AlertError) {
        if path == nil { try QueueLocation.checkEnvironment() }
        guard let path = path ?? QueueLocation.defaultPath() else {
            throw .invalid(
                "variable HOME",
                "names no home directory, and the account has none: name the queue")
        }
        try await self.init(
            path: path, source: source, via: "library", presenters: presenters, delegate: delegate,
            clock: clock)
    }

    /// Opens a queue for the command, whose verb is recorded as `via`.
    ///
    /// - Parameter keepsTime: Whether it applies the queue's deadlines. A process that only reads a
    ///   backup must not write to it.
    package init(
        path: String, source: String? = nil, via: String,
        presenters: [any AlertPresenter] = [], delegate: (any AlertManagerDelegate)? = nil,
        clock: any AlertClock = .system, turn: PresentationTurn? = nil,
        queueName: String? = nil, keepsTime: Bool = true
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
            delegate: delegate, clock: clock, turn: turn, queueName: queueName,
            errors: errors)
    }
}
