import AlertCore
import AlertTables
import Glibc
import Linux
import PostgreSQLStore
import SQLiteStore
import ServiceStore
import Synchronization

/// Where a queue is: the path of a file, the URI of a database server, or that of a service. Nothing
/// else knows which stores there are.
package struct QueueLocation: Sendable {
    /// The database file, or the URI.
    private let path: String

    package init(_ path: String) {
        // Schemes have no case, RFC 3986 §3.1; but for libpq they do.
        let start = path.prefix(Self.schemes[0].count).lowercased()
        let scheme = (Self.schemes + ServiceLocation.schemes).first(where: start.hasPrefix)
        self.path = scheme.map { $0 + path.dropFirst($0.count) } ?? path
    }

    /// Whether it is a file of this machine.
    package var isFile: Bool { !isOnServer && !isService }

    /// Whether it is on a database server.
    package var isOnServer: Bool { Self.schemes.contains(where: path.hasPrefix) }

    /// Whether it is used through a service, which has it in a file or on a database server.
    package var isService: Bool { ServiceLocation.schemes.contains(where: path.hasPrefix) }

    /// Whether a service of another machine has it, whose accounts this one doesn't know.
    package var isElsewhere: Bool {
        isService && (try? ServiceLocation(path).isElsewhere) ?? false
    }

    /// The sockets of its services on this machine.
    package var sockets: [String] {
        guard isService, let location = try? ServiceLocation(path) else { return [] }
        return location.endpoints.compactMap {
            if case .socket(let path) = $0 { path } else { nil }
        }
    }

    private static let schemes = ["postgresql://", "postgres://"]

    /// Refuses what is meant to be elsewhere, and would be taken for the name of a file; and what can
    /// never be that of a queue on a server.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``, whose text has nothing of the location but names of
    ///   parameters, since the rest may be a password.
    package func check() throws(AlertError) {
        if isOnServer { return try PostgreSQLLocation(path).check() }
        if isService {
            _ = try ServiceLocation(path)
            return
        }
        let text = path.drop(while: \.isWhitespace)
        let word = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+.-_".contains($0)) }
        let rest = text.dropFirst(word.count)
        if rest.drop(while: \.isWhitespace).hasPrefix("="), Self.keywords.contains(String(word)) {
            throw .invalid(
                "location",
                "is a list of keywords of libpq; write it as postgresql://USER@HOST/DATABASE, with "
                    + "other keywords after it as ?KEYWORD=VALUE&…, or the name of a file as ./NAME"
            )
        }
        // What begins like a URI is one, RFC 3986 §3.1, and so is one with a slip in its scheme.
        let isURI = rest.hasPrefix(":") && word.first?.isLetter == true
        let isPath = ["/", "./", "../"].contains(where: path.hasPrefix)
        if isURI || (!isPath && path.contains("://")) {
            throw .invalid(
                "location",
                "is a URI of another kind: a queue is in a file, which its path names, at "
                    + "postgresql://USER@HOST/DATABASE, or with a service at unix:PATH or "
                    + "ssh://USER@HOST/PATH; write the name of a file as ./NAME")
        }
    }

    /// What a list such as `host=db dbname=alertq` begins with.
    private static let keywords = [
        "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "sslmode",
        "options",
    ]

    /// The location for messages, and for commands that others may run: without a password, and
    /// without the machine whose accounts this process acts for.
    package var description: String { isOnServer ? path.forOthers : path }

    /// The location without a password, for commands that this account may run.
    package var ownDescription: String { isOnServer ? path.withoutPassword : path }

    /// The name of the machine whose accounts this process acts for.
    package var ownHost: String {
        if isOnServer, let location = try? PostgreSQLLocation(path) { return location.ownHost }
        return ProcessIdentity.current.host
    }
}

// MARK: - Stores

extension QueueLocation {
    /// Opens the store, whose deadlines are applied on behalf of a caller; it is created if it does
    /// not exist.
    ///
    /// - Parameters:
    ///   - isShared: Whether several programs will use it, as those of a service do.
    ///   - onTrouble: Called with errors for which no caller waits.
    package nonisolated(nonsending) func open(
        clock: any AlertClock, caller: Caller, isShared: Bool = false,
        onTrouble: @escaping @Sendable (BackgroundError) -> Void
    ) async throws(AlertError) -> any AlertStore {
        try check()
        if isService { return try await openService(isReadOnly: false) }
        if isOnServer {
            return try await PostgreSQLAlertStore.open(
                PostgreSQLLocation(path), clock: ServerClock(replacing: clock), caller: caller,
                appliesDeadlines: true, isShared: isShared, onTrouble: onTrouble)
        }
        try createUserDirectory()
        return try await SQLiteAlertStore.open(
            path: path, clock: clock, caller: caller, appliesDeadlines: true,
            isShared: isShared, onTrouble: onTrouble)
    }

    /// Opens the store of a queue or a backup so that nothing is ever written to it.
    ///
    /// - Parameter onCopy: Called before a copy of it is made and read.
    package nonisolated(nonsending) func openForReading(
        clock: any AlertClock, caller: Caller, onCopy: @escaping @Sendable () -> Void
    ) async throws(AlertError) -> any AlertStore {
        try check()
        if isService { return try await openService(isReadOnly: true) }
        if isOnServer {
            return try await PostgreSQLAlertStore.open(
                PostgreSQLLocation(path), clock: ServerClock(replacing: clock), caller: caller,
                isReadOnly: true)
        }
        return try await SQLiteAlertStore.openForReading(
            path: path, clock: clock, caller: caller, onCopy: onCopy)
    }

    private func openService(isReadOnly: Bool) async throws(AlertError) -> ServiceAlertStore {
        try await ServiceAlertStore.open(ServiceLocation(path), isReadOnly: isReadOnly) { error in
            Self.onWaiting.withLock { $0 }?(error)
        }
    }

    private static let onWaiting = Mutex<(@Sendable (AlertError) -> Void)?>(nil)

    /// Sets what is called when opening a queue waits for its service.
    ///
    /// Only for our own programs, of which each has one place for its messages.
    package static func whenWaiting(_ body: @escaping @Sendable (AlertError) -> Void) {
        onWaiting.withLock { $0 = body }
    }

    /// Counts the waiting alerts on the calling thread, without a manager; if `nil`, use a manager.
    package func pendingCountAtOnce() -> Int? {
        isFile ? SQLiteAlertStore.pendingCountAtOnce(path: path) : nil
    }

    /// Stores an alert on the calling thread, without a manager.
    ///
    /// It never waits: `nil` means that nothing was stored; use a manager, which waits or reports
    /// the problem.
    package func submitAtOnce(_ alert: Alert, via: String) throws(AlertError) -> AlertRecord? {
        guard isFile, let source = alert.source else { return nil }
        try alert.validate()
        return try SQLiteAlertStore.enqueueAtOnce(
            Question(alert: alert, source: source), by: Caller(via: via), path: path)?.record
    }

    package var administration: any QueueAdministration {
        if isService { return ServiceAdministration(path) }
        if isOnServer { return PostgreSQLAdministration(path) }
        return SQLiteAdministration(path: path)
    }

    /// Makes the tables of a queue on a server, and the queue; nothing is done twice.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for a location of another kind, and the errors of the
    ///   server.
    package func setUpServer() throws(AlertError) {
        guard isOnServer else { throw notOnServer }
        try PostgreSQLSchema.setUp(PostgreSQLLocation(path))
    }

    /// The statements with which the owner of a database makes the tables and the queue.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for a location of another kind.
    package func serverSetUp() throws(AlertError) -> String {
        guard isOnServer else { throw notOnServer }
        return PostgreSQLSchema.script(for: try PostgreSQLLocation(path))
    }

    /// Moves a queue to another place, where its log has the same head; see ``QueueCopy``.
    ///
    /// - Parameters:
    ///   - host: The machine whose accounts a file has without a host; `nil` for this one.
    ///   - caller: Who moves it, for the log.
    ///   - progress: Called with the current step, how many rows are done, and the total.
    /// - Throws: ``AlertError/invalid(_:_:)`` for a queue that does not verify, and for a place that
    ///   has another one; ``AlertError/incompatible(path:_:)`` for one that has moved elsewhere, or
    ///   can't be used;
    ///   ``AlertError/busy(_:)``; and the errors of opening queues.
    package nonisolated(nonsending) func move(
        to target: QueueLocation, host: String?, by caller: Caller,
        _ progress: @escaping @Sendable (RestoreReport.Phase, _ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> CopyReport {
        for location in [self, target] {
            try location.check()
            if location.isService { throw ServiceAdministration.filesAlone }
        }
        let place =
            try target.isOnServer
            ? target.path.forOtherRoles : FileCopyTarget.place(target.path)
        // Both sides block their thread.
        return try await QueueConfined((), label: "alertq.copy").run { _ throws(AlertError) in
            let source = try self.copySource(by: caller)
            let contents = source.contents
            guard host == nil || contents.home == nil else {
                throw .invalid(
                    "machine",
                    "can't be named with --host: this queue is not in a file, and knows it")
            }
            do {
                if let move = contents.move {
                    if move.place == place, target.holds(contents.head) == true {
                        if !move.hasArrived {
                            try source.mark(as: QueueMove(to: place, hasArrived: true))
                        }
                        return CopyReport(
                            head: contents.head, alerts: contents.alerts, place: place)
                    }
                    // It goes on there, or nobody knows; a move that did not end may go elsewhere if
                    // that place certainly does not have it.
                    let mayGoOn =
                        !move.hasArrived
                        && (move.place == place
                            || QueueLocation(move.place).holds(contents.head) == false)
                    guard mayGoOn else {
                        throw AlertError.moved(self.description, to: move.place)
                    }
                }
                return try QueueCopy(to: place).run(
                    from: source, to: try target.copyTarget(of: source, home: host), progress)
            } catch let error as AlertError {
                throw error
            } catch {
                throw (isOnServer ? self : target).copyError(error)
            }
        }
    }

    private func copyError(_ error: any Error) -> AlertError {
        if isOnServer, let location = try? PostgreSQLLocation(path),
            let error = ServerCopySource.error(error, at: location)
        {
            return error
        }
        return .storage(operation: "copy the queue", "\(error)")
    }

    private func copySource(by caller: Caller) throws(AlertError) -> any CopySource {
        guard isOnServer else { return try FileCopySource(path: path, caller: caller) }
        return try ServerCopySource(PostgreSQLLocation(path), caller: caller)
    }

    private func copyTarget(
        of source: any CopySource, home: String?
    ) throws(AlertError) -> any CopyTarget {
        guard isOnServer else {
            try createUserDirectory()
            return try FileCopyTarget(path: path, from: (source as? FileCopySource)?.status)
        }
        let location = try PostgreSQLLocation(path)
        return try ServerCopyTarget(
            location, home: home ?? location.ownHost, from: source as? ServerCopySource)
    }

    /// Whether the log of the queue has an entry; `nil` if there is no queue that can be read.
    private func holds(_ head: AuditHead) -> Bool? {
        guard isOnServer else { return FileCopyTarget.holds(head, at: path) }
        guard let location = try? PostgreSQLLocation(path) else { return nil }
        return ServerCopyTarget.holds(head, at: location)
    }

    private var notOnServer: AlertError {
        .invalid("location", "is not one in PostgreSQL, such as postgresql:///alertq")
    }

    /// Configures the stores for use by this process alone, before their first use, which makes
    /// them faster.
    ///
    /// Only for our own programs: a program that uses the library may use SQLite in other ways.
    package static func configureStores() { SQLiteAlertStore.disableMemoryStatistics() }
}

// MARK: - Defaults

extension QueueLocation {
    /// The queue shared by the machine's services and the group `alertq`.
    package static let systemPath = "/var/lib/alertq/queue.db"
    /// Whose members use it.
    package static let systemGroup = "alertq"

    /// `$ALERTQ_DATABASE`, else the system queue for root, and for others their own queue; `nil` for
    /// an account without a home directory, whose questions must not get into a queue that others
    /// read.
    package static func defaultPath() -> String? {
        if let path = LinuxProcess.environment("ALERTQ_DATABASE") { return path }
        return UserAccounts.isRootOfFiles ? systemPath : userPath()
    }

    /// Rejects environment variables with paths that are not valid UTF-8: if repaired, they would
    /// name a different queue.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)``.
    package static func checkEnvironment() throws(AlertError) {
        for name in ["ALERTQ_DATABASE", "XDG_STATE_HOME", "HOME"] {
            guard let value = getenv(name), String(validatingCString: value) == nil else {
                continue
            }
            throw .invalid("variable \(name)", "is not valid UTF-8")
        }
    }

    /// The user's queue; `nil` for root and for an account without a home directory.
    ///
    /// See the XDG Base Directory Specification, `XDG_STATE_HOME`.
    package static func userPath() -> String? {
        guard !UserAccounts.isRootOfFiles else { return nil }
        // The specification says that a path that is not absolute is ignored.
        if let state = LinuxProcess.environment("XDG_STATE_HOME"), state.hasPrefix("/") {
            return state + "/alertq/queue.db"
        }
        return UserAccounts.home.map { $0 + "/.local/state/alertq/queue.db" }
    }

    /// Creates the directories of the user's queue, with no access for others.
    package func createUserDirectory() throws(AlertError) {
        guard path == Self.userPath() else { return }
        let directory = FilePath.directory(of: path)
        try AlertError.onFile(directory) { () throws(LinuxError) in
            try FilePath.create(directory: directory, mode: 0o700)
        }
    }
}
