import AlertCore
import Linux
import PostgreSQL

/// A connection to the server of a queue, which is opened when it is needed, and again after it
/// was lost.
///
/// It belongs to one queue of execution. Its calls block, but not for longer than the time that
/// their connection allows.
final class Session {
    /// How long the server may take to accept a connection.
    static let openingTime = Duration.seconds(5)
    /// How long the server lets a statement wait for a lock. It is less than callers wait: so they
    /// are told of a lock, and not that the server did not answer.
    static let lockLimit = Duration.seconds(4)
    /// What keeps a process that was stopped, or has vanished, from holding a lock for long, unless
    /// the role has other limits.
    private static let limits = Statement(
        """
        SELECT set_config(name, value, false)
        FROM (VALUES ('lock_timeout', '\(lockLimit.milliseconds)'),
            ('idle_in_transaction_session_timeout', '10s'),
            ('client_connection_check_interval', '200ms')) AS limits (name, value)
        WHERE current_setting(name) = '0'
        """)

    /// The values of `synchronous_commit` with which nothing is lost that was acknowledged.
    static let durableCommits = ["on", "remote_apply"]

    let location: PostgreSQLLocation
    let clock: ServerClock
    private var interruption: Interruption
    private var connection: Connection?
    /// How long the log was when the server was told to plan its statements anew.
    private var plannedLength: Int64 = 0
    /// The number of the queue in its database.
    private var queueID: Int64?
    let known: KnownHead
    /// Whether a server is refused that may lose what it has acknowledged.
    private let checksDurability: Bool
    /// Where the connection leads; `nil` behind a pooler, which may lead each transaction elsewhere.
    private(set) var place: ServerPlace?
    /// Whether the server tells where it is.
    private(set) var tellsPlace = false
    /// As in `Connection`.
    private var preamble: Statement?

    init(
        _ location: PostgreSQLLocation, clock: ServerClock, known: KnownHead,
        interruption: Interruption, checksDurability: Bool
    ) {
        self.location = location
        self.clock = clock
        self.known = known
        self.interruption = interruption
        self.checksDurability = checksDurability
    }

    /// Prepares what is done next.
    ///
    /// - Parameters:
    ///   - interruption: What ends its waits.
    ///   - preamble: As in `Connection`.
    func use(_ interruption: Interruption, preamble: Statement? = nil) {
        (self.interruption, self.preamble) = (interruption, preamble)
        connection?.interruption = interruption
        connection?.preamble = preamble
    }

    /// Whether its connection listens to notifications.
    var listens = false

    /// Whether it has a connection.
    var isOpen: Bool { connection != nil }

    /// The number of the queue, as every statement binds it.
    var queue: Value { .integer(queueID ?? 0) }

    /// The machine whose accounts are stored without a host.
    var home: String? { known.home }

    /// A connection that was working when it was last used.
    ///
    /// - Parameter limit: How long opening another one may take.
    /// - Throws: ``AlertError/incompatible(path:_:)`` for a server or a schema that can't be used,
    ///   ``AlertError/missing(location:_:)``, ``AlertError/notPermitted(path:_:)``, and
    ///   `PostgreSQLError`.
    func open(within limit: Duration = openingTime) throws -> Connection {
        if let failure = known.failure { throw failure }
        if let connection, connection.failure == nil {
            try plan(on: connection)
            return connection
        }
        connection = nil
        let opened = try location.connect(
            within: min(limit, Self.openingTime), interruption: interruption)
        opened.timeLimit = limit
        try check(opened)
        // A session of a pooler is anybody's: there, the role must have the settings.
        if !location.isPooled { try opened.run(Self.limits) }
        opened.timeLimit = .seconds(30)
        opened.preamble = preamble
        connection = opened
        listens = false
        plannedLength = known.head.sequence
        return opened
    }

    /// Lets the server plan its statements anew once the log has doubled.
    ///
    /// It keeps a plan for as long as it has no new statistics, also one that reads all of a table
    /// that was empty then. A pooler's sessions have none. See
    /// <https://www.postgresql.org/docs/current/sql-prepare.html>.
    private func plan(on db: Connection) throws {
        let length = known.head.sequence
        guard !location.isPooled, length > 2 * plannedLength else { return }
        try db.execute("DISCARD PLANS")
        plannedLength = length
    }

    /// Whether a commit may be acknowledged with this `synchronous_commit`.
    func acceptsCommits(_ setting: String) -> Bool {
        !checksDurability || Self.durableCommits.contains(setting)
    }

    /// Forgets the connection: the next call opens another one.
    func drop() { connection = nil }

    private func check(_ db: Connection) throws {
        let problem = { [location] (what: String) in
            AlertError.incompatible(path: location.description, "can't be used: " + what)
        }
        if db.serverVersion < 140_000 {
            throw problem("PostgreSQL 14 or newer is needed, and this is \(db.serverVersion)")
        }
        let settings = try db.first(
            """
            SELECT pg_encoding_to_char(encoding), current_setting('synchronous_commit'),
                current_setting('fsync'), current_setting('full_page_writes'),
                to_regclass('schema_versions') IS NOT NULL AND to_regclass('heads') IS NOT NULL,
                \(ServerPlace.isTold)
            FROM pg_database WHERE datname = current_database()
            """
        ) { row in
            (
                encoding: row.optionalText(at: 0) ?? "", commit: row.optionalText(at: 1) ?? "",
                isSynced: row.optionalText(at: 2) == "on"
                    && row.optionalText(at: 3) == "on",
                hasSchema: row.optionalText(at: 4) == "t",
                tellsPlace: row.optionalText(at: 5) == "t"
            )
        }
        guard let settings else { throw problem("the database is gone") }
        guard settings.encoding == "UTF8" else {
            throw problem(
                "its encoding is \(settings.encoding), and not UTF8; a database with that is made by: "
                    + "createdb --encoding=UTF8 --template=template0")
        }
        guard Self.durableCommits.contains(settings.commit) else {
            throw problem(
                "synchronous_commit is \(settings.commit): an answer could be lost; set it to on"
            )
        }
        guard settings.isSynced || !checksDurability else {
            throw problem(
                "fsync or full_page_writes is off: an answer could be lost; set both to on")
        }
        guard settings.hasSchema else { throw try noTables(db) }
        if let reason = try PostgreSQLSchema.problem(in: db, at: location) {
            throw problem(reason)
        }
        tellsPlace = settings.tellsPlace
        place =
            tellsPlace && !location.isPooled
            ? try db.run(ServerPlace.query).first { ServerPlace($0) } : nil
        let start = clock.bootMilliseconds
        let found = try db.first(
            """
            SELECT id, host, \(Lease.clock), offset_ms
            FROM queues LEFT JOIN heads ON queue = id WHERE name = $1
            """, .text(location.queue)
        ) { row in
            (
                id: row.integer(at: 0), home: row.optionalText(at: 1) ?? "",
                time: row.integer(at: 2), offset: row.integer(at: 3)
            )
        }
        queueID = found?.id
        if let found {
            known.note(home: found.home)
            clock.note(found.time, offset: found.offset, askedAt: start)
        } else {
            throw AlertError.missing(
                location: location.description,
                "the database has no queue “\(location.queue)”; to make it: \(location.setUp)")
        }
    }

    /// Why no tables are found: there are none, or the role may not look into their schema.
    private func noTables(_ db: Connection) throws -> AlertError {
        let closed = try db.first(
            """
            SELECT quote_ident(current_user) FROM pg_namespace
            WHERE nspname = 'alertq' AND NOT has_schema_privilege(oid, 'USAGE')
            """
        ) { $0.text() }
        if let closed {
            return .notPermitted(
                path: location.description,
                "the role \(closed) may not use the schema alertq; its owner can let it: GRANT "
                    + "USAGE ON SCHEMA alertq TO \(closed)")
        }
        return .missing(
            location: location.description,
            "the database has no alertq tables; to make them: \(location.setUp)")
    }
}

/// Which server a transaction takes place on, as far as ids depend on it.
struct ServerPlace: Equatable {
    /// The cluster, the database and the table: another one is a copy.
    let cluster: String?
    /// What counts the failovers; see
    /// <https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES>.
    let timeline: Int64?

    /// Whether the role may ask, which everybody may unless somebody has taken that right.
    static let isTold = ["control_system()", "walfile_name(pg_lsn)", "current_wal_lsn()"]
        .map { "has_function_privilege('pg_\($0)', 'EXECUTE')" }.joined(separator: " AND ")

    /// A failover is in the names of files at once, and in what a checkpoint says only after the next.
    static let query = Statement(
        """
        SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()),
                (SELECT oid FROM pg_database WHERE datname = current_database()),
                'heads'::regclass::oid),
            left(pg_walfile_name(pg_current_wal_lsn()), 8)
        """)

    init(_ row: borrowing Row) {
        cluster = row.optionalText(at: 0)
        timeline = row.optionalText(at: 1).flatMap { Int64($0, radix: 16) }
    }

    init(cluster: String?, timeline: Int64?) { (self.cluster, self.timeline) = (cluster, timeline) }

    /// What has happened since a transaction took place elsewhere; `nil` if nothing has, as far as
    /// that is known.
    func change(since last: ServerPlace) -> RestoredQueue.Replaced? {
        if let cluster, let known = last.cluster, cluster != known { return .server }
        if let timeline, let known = last.timeline, timeline != known { return .timeline }
        return nil
    }
}
