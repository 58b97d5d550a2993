@_exported import AlertCore

// Opening the queue at a location.
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
        try await self.init(
            path: Self.location(path), source: source, via: "library", presenters: presenters,
            delegate: delegate, clock: clock)
    }

    private static func location(_ path: String?) throws(AlertError) -> String {
        if path == nil { try QueueLocation.checkEnvironment() }
        guard let path = path ?? QueueLocation.defaultPath() else {
            throw .invalid(
                "variable HOME",
                "names no home directory, and the account has none: name the queue")
        }
        return path
    }

    /// Opens a queue or a backup for reading, and never writes to it.
    ///
    /// The database and its log stay as they are, byte for byte, and nothing that is due is stored:
    /// an alert whose deadline has passed reads as expired, and its ``AlertRecord/isStored`` is
    /// `false`. The files may be in a directory, or on a file system, that this account can't write.
    /// Where SQLite can't read them there, a copy in `$TMPDIR` is read instead.
    ///
    /// ```swift
    /// let manager = try await AlertManager(reading: "backup.db")
    /// for record in try await manager.history(limit: 10) { print(record.alert.title) }
    /// ```
    ///
    /// Methods that would write to the queue, wait for an answer or show alerts throw
    /// ``AlertError/notPermitted(path:_:)``, or ``AlertError/backup(path:_:)`` for a backup.
    ///
    /// - Parameters:
    ///   - path: The database file, which must exist; `nil` as in
    ///     ``init(path:source:presenters:delegate:clock:)``.
    ///   - source: The source whose alerts ``record(key:)`` finds; `nil` means the program's name.
    ///   - clock: The time source; replaced in tests.
    /// - Throws: ``AlertError/incompatible(path:_:)``, ``AlertError/notPermitted(path:_:)``,
    ///   ``AlertError/inconsistent(_:_:)`` for a schema that is not alertq's,
    ///   ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)`` also for a missing file, and
    ///   ``AlertError/invalid(_:_:)`` as ``init(path:source:presenters:delegate:clock:)``.
    public init(
        reading path: String?, source: String? = nil, clock: any AlertClock = .system
    ) async throws(AlertError) {
        try await self.init(
            reading: Self.location(path), source: source, clock: clock, onCopy: {})
    }

    /// Opens a queue or a backup for reading.
    ///
    /// - Parameter onCopy: Called before a copy of it is made and read.
    package init(
        reading path: String, source: String? = nil, clock: any AlertClock = .system,
        onCopy: @escaping @Sendable () -> Void
    ) async throws(AlertError) {
        let caller = Caller(via: "reading")
        try await self.init(
            store: try await QueueLocation(path).openForReading(
                clock: clock, caller: caller, onCopy: onCopy),
            path: path, source: source ?? Self.programName, caller: caller, presenters: [],
            delegate: nil, clock: clock)
    }

    /// Opens a queue for the command, whose verb is recorded as `via`.
    package init(
        path: String, source: String? = nil, via: String,
        presenters: [any AlertPresenter] = [], delegate: (any AlertManagerDelegate)? = nil,
        clock: any AlertClock = .system, turn: PresentationTurn? = nil,
        queueName: String? = nil
    ) async throws(AlertError) {
        let source = source ?? Self.programName
        try Text.check(source, "source", limit: Alert.Limit.name)
        try Self.check(presenters)
        let (caller, errors) = (Caller(via: via), BackgroundErrors())
        let store = try await QueueLocation(path).open(clock: clock, caller: caller) {
            [weak errors] in errors?.report($0)
        }
        try await self.init(
            store: store, path: path, source: source, caller: caller, presenters: presenters,
            delegate: delegate, clock: clock, turn: turn, queueName: queueName,
            errors: errors)
    }
}
