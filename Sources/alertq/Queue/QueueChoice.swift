import AlertQueue
import Glibc
import Linux
import TextFormats

/// Which queue a verb works on.
enum QueueChoice: Sendable, Hashable {
    /// The queue that the environment names, or the user's own.
    case standard(String)
    case system
    case file(String)

    /// - Parameters:
    ///   - path: The file that `--database` names.
    ///   - isSystem: Whether `--system` was given.
    init(database path: String?, isSystem: Bool) throws {
        switch (path, isSystem) {
        case (nil, false):
            try QueueLocation.checkEnvironment()
            guard let path = QueueLocation.defaultPath() else {
                throw CommandError(
                    .notFound,
                    """
                    this account has no home directory for a queue of its own, and $HOME names \
                    none; name a queue with --database, or add --system for the system queue
                    """)
            }
            self = .standard(path)
        case (nil, true): self = .system
        case (let path?, false): self = .file(path)
        case (_?, true):
            throw UsageError("--database and --system can't be combined; give one of them")
        }
        try location.check()
        if location.isElsewhere { UserAccounts.stopLookingUpNames() }
    }

    /// What the queue calls this machine; `nil` if accounts without a host are another one's.
    var ownHost: String? { location.isElsewhere ? nil : location.ownHost }

    /// Whether neither an option nor the environment chose the queue.
    var isDefault: Bool {
        if case .standard = self { !isNamed } else { false }
    }

    /// The database file.
    var path: String {
        switch self {
        case .standard(let path), .file(let path): path
        case .system: QueueLocation.systemPath
        }
    }

    var location: QueueLocation { QueueLocation(path) }

    /// Whether the user named the queue, and so expects it to exist.
    var isNamed: Bool {
        switch self {
        case .standard: isNamedByEnvironment
        case .system: false
        case .file: true
        }
    }

    /// Whether a variable of the environment names it, and no option.
    var isNamedByEnvironment: Bool {
        guard case .standard = self else { return false }
        return LinuxProcess.environment("ALERTQ_DATABASE") != nil
    }

    /// The option that makes another process choose the same queue, whatever its environment.
    ///
    /// - Parameter isForOthers: Whether a process of another machine may be meant, which then acts
    ///   for its own accounts.
    static func option(forPath path: String, isForOthers: Bool) -> String? {
        if path == QueueLocation.userPath() { return nil }
        if path == QueueLocation.systemPath { return "--system" }
        let location = QueueLocation(absolute(path))
        return "--database "
            + ShellText.quoted(isForOthers ? location.description : location.ownDescription)
    }

    /// The account or person that was typed, as the queue's records have it.
    func principal(_ typed: TypedPrincipal) throws(UsageError) -> Principal {
        try typed.principal(on: ownHost)
    }

    /// Refuses a queue on a server, for what only one in a file can do.
    ///
    /// - Parameter advice: What to do instead.
    func requireFile(otherwise advice: String) throws(UsageError) {
        try requireOwn()
        guard location.isOnServer else { return }
        throw UsageError("this queue is on a server: \(advice)")
    }

    /// Refuses a queue that a service keeps, for what is done beside the service.
    func requireOwn() throws(UsageError) {
        guard location.isService else { return }
        throw UsageError(
            "this queue is a service's: run the same command on the service's machine, with "
                + "--database and the queue's own path")
    }

    /// The words that make another process choose the same queues, whatever its environment.
    var words: [String] {
        switch self {
        case .standard: isNamed ? ["--database", Self.absolute(path)] : []
        case .system: ["--system"]
        case .file(let path): ["--database", Self.absolute(path)]
        }
    }

    /// A path that means the same in every directory.
    static func absolute(_ path: String) -> String {
        if !QueueLocation(path).isFile { return path }
        guard !path.hasPrefix("/"), let directory = LinuxFile.workingDirectory else {
            return path
        }
        return directory + "/" + path
    }
}

extension AlertManager {
    /// Where the queue is, for people and logs.
    nonisolated var place: String { QueueLocation(path).description }
}

// MARK: - Opening

extension QueueChoice {
    /// Opens the queue for a verb, creates it if need be, and closes it in every case.
    ///
    /// - Parameter wait: For a verb that waits anyway: how it waits for a server that is away.
    func open<Result: Sendable>(
        via verb: String, source: String? = nil, waiting wait: ServerWait? = nil,
        _ body: (AlertManager) async throws -> Result
    ) async throws -> Result {
        let open = { try await Self.manager(path: path, source: source, via: verb) }
        let manager = if let wait { try await wait.run(open) } else { try await open() }
        return try await manager.closing(body)
    }

    /// Opens the queue for a verb that does not ask; `nil` if nobody has asked anything there yet.
    ///
    /// - Parameter wait: As for ``open(via:source:waiting:_:)``.
    /// - Throws: ``CommandError`` if a queue that the user named does not exist.
    func openExisting<Result: Sendable>(
        via verb: String, source: String? = nil, waiting wait: ServerWait? = nil,
        _ body: (AlertManager) async throws -> Result
    ) async throws -> Result? {
        try await exists ? open(via: verb, source: source, waiting: wait, body) : nil
    }

    /// Opens the queue for a verb that only reads it, or a backup; `nil` if nobody has asked
    /// anything there yet.
    ///
    /// - Parameter context: Where a note says that a copy is read, because the queue can't be read
    ///   in place.
    /// - Throws: ``CommandError`` if a queue that the user named does not exist.
    func read<Result: Sendable>(
        in context: Context? = nil, _ body: (AlertManager) async throws -> Result
    ) async throws -> Result? {
        guard try exists else { return nil }
        // Where asking could not create it either, it is missing all the same.
        if QueuePresence.isMissing(path) {
            guard isNamed else { return nil }
            throw noQueue
        }
        let manager = try await Self.reader(path: path, in: context)
        return try await manager.closing { manager in
            let result = try await body(manager)
            if let context, let place = try? await manager.movedTo() {
                context.note("the queue has moved to \(place), and this is how it was before")
            }
            return result
        }
    }

    /// Opens the queue at a path for reading; if that fails, the error says what to do.
    static func reader(path: String, in context: Context? = nil) async throws -> AlertManager {
        try await advising(path) {
            try await AlertManager(reading: path) {
                context?.note("\(path) can't be read where it is: a copy of it is read")
            }
        }
    }

    /// Whether there is a queue, unless that is an error.
    private var exists: Bool {
        get throws {
            switch QueuePresence(path: path) {
            case .absent where isNamed, .noDirectory where isNamed || self == .system: throw noQueue
            case .absent, .noDirectory: false
            case .present, .closed: true
            }
        }
    }

    /// Opens the queue that alerts are in.
    ///
    /// - Parameters:
    ///   - id: One of them, if any was named by its id.
    ///   - context: For a verb that changes nothing.
    ///   - wait: As for ``open(via:source:waiting:_:)``.
    /// - Throws: ``CommandError`` if there is no queue, or no such alert in it; it says where else
    ///   the alert is.
    func open<Result: Sendable>(
        with id: Alert.ID?, via verb: String, readingIn context: Context? = nil,
        waiting wait: ServerWait? = nil, _ body: (AlertManager) async throws -> Result
    ) async throws -> Result {
        do {
            let result =
                if let context {
                    try await read(in: context, body)
                } else {
                    try await openExisting(via: verb, waiting: wait, body)
                }
            guard let result else { throw noQueue }
            return result
        } catch {
            throw await locating(error, id)
        }
    }

    /// The error, and where else the alert is that is missing in this queue.
    ///
    /// - Parameter id: The alert that was looked for, where the error doesn't say so.
    func locating(_ error: any Error, _ id: Alert.ID?) async -> any Error {
        guard ExitCode(error) == .notFound else { return error }
        if case AlertError.noSuchButton = error { return error }
        let missing = if case AlertError.notFound(let missing) = error { missing } else { id }
        guard let missing, await isInSystemQueue(missing) else { return error }
        return CommandError(.notFound, "\(error); the system queue has one: add --system")
    }

    /// Opens the queue at a path; if that fails, the error says what to do.
    static func manager(
        path: String, source: String? = nil, via verb: String, turn: PresentationTurn? = nil,
        queueName: String? = nil
    ) async throws -> AlertManager {
        let manager = try await advising(path) {
            try await AlertManager(
                path: path, source: source, via: verb, turn: turn, queueName: queueName)
        }
        // A command that is asked to end does not wait for a lock that another process holds.
        SignalWatch.whenEnding { [weak manager] in manager?.prepareToEnd() }
        return manager
    }

    /// Opens the queue for a service; if that fails, the error says what to do.
    ///
    /// - Parameter onTrouble: Called with errors for which no client waits.
    func store(
        via verb: String, onTrouble: @escaping @Sendable (BackgroundError) -> Void
    ) async throws -> any AlertStore {
        try await Self.advising(path) {
            try await location.open(
                clock: .system, caller: Caller(via: verb), isShared: true, onTrouble: onTrouble)
        }
    }

    /// Opens a queue; if that fails, the error says what to do.
    private static func advising<Opened>(
        _ path: String, _ open: () async throws -> Opened
    ) async throws -> Opened {
        do {
            return try await open()
        } catch {
            let code = ExitCode(error)
            var presence = QueuePresence(path: path)
            // A user who may enter a directory may still have no access to a file in it.
            if case AlertError.notPermitted(_, let reason) = error,
                [EACCES, EPERM].contains(where: { String(cString: strerror($0)) == reason })
            {
                presence = .closed(FilePath.directory(of: path))
            }
            guard let advice = presence.advice(path: path) else { throw error }
            throw CommandError(code, "\(error); \(advice)")
        }
    }

    /// The error for a missing queue, with how to create it where asking does not.
    var noQueue: CommandError {
        let isSystem = path == QueueLocation.systemPath
        let advice = isSystem ? QueuePresence(path: path).advice(path: path) : nil
        return CommandError(
            .notFound,
            "there is no queue at \(location.description)" + (advice.map { "; \($0)" } ?? ""))
    }

    private func isInSystemQueue(_ id: Alert.ID) async -> Bool {
        let system = QueueLocation.systemPath
        guard case .standard = self, path != system, QueuePresence(path: system) == .present,
            let manager = try? await AlertManager(reading: system)
        else { return false }
        let record = try? await manager.record(id)
        await manager.close()
        return record != nil
    }
}
