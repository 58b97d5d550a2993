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
    private let interruption: Interruption
    private var connection: Connection?
    /// How long the log was when the server was told to plan its statements anew.
    private var plannedLength: Int64 = 0
    /// The number of the queue in its database.
    private var queueID: Int64?
    let known: KnownHead
    /// Whether a server is refused that may lose what it has acknowledged.
    private let checksDurability: Bool
    /// As in `Connection`.
    private let preamble: Statement?

    init(
        _ location: PostgreSQLLocation, clock: ServerClock, known: KnownHead,
        interruption: Interruption, checksDurability: Bool, preamble: Statement? = nil
    ) {
        self.location = location
        self.clock = clock
        self.known = known
        self.interruption = interruption
        self.checksDurability = checksDurability
        self.preamble = preamble
    }

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
        let opened = try Connection(
            location.uri, within: min(limit, Self.openingTime),
            preparation: location.isPooled ? .unnamed : .named, interruption: interruption)
        opened.timeLimit = limit
        try check(opened)
        // A session of a pooler is anybody's: there, the role must have the settings.
        if !location.isPooled { try opened.run(Self.limits) }
        opened.timeLimit = .seconds(30)
        opened.preamble = preamble
        connection = opened
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
                \(Lease.clock)
            FROM pg_database WHERE datname = current_database()
            """
        ) { row in
            (
                encoding: row.optionalText(at: 0) ?? "", commit: row.optionalText(at: 1) ?? "",
                isSynced: row.optionalText(at: 2) == "on"
                    && row.optionalText(at: 3) == "on",
                hasSchema: row.optionalText(at: 4) == "t", time: row.integer(at: 5)
            )
        }
        guard let settings else { throw problem("the database is gone") }
        clock.note(settings.time)
        guard settings.encoding == "UTF8" else {
            throw problem("its encoding is \(settings.encoding), and not UTF8")
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
        let found = try db.first(
            "SELECT id, host FROM queues WHERE name = $1", .text(location.queue)
        ) { (id: $0.integer(at: 0), home: $0.optionalText(at: 1) ?? "") }
        queueID = found?.id
        if let found {
            known.note(home: found.home)
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
            SELECT quote_ident(nspname), quote_ident(current_user)
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE relname = 'schema_versions' AND quote_ident(nspname) = ANY (
                regexp_split_to_array(replace(current_setting('search_path'), '"$user"',
                    quote_ident(current_user)), ', *'))
                AND NOT has_schema_privilege(pg_namespace.oid, 'USAGE')
            """
        ) { (schema: $0.optionalText(at: 0) ?? "", role: $0.optionalText(at: 1) ?? "") }
        if let closed {
            return .notPermitted(
                path: location.description,
                "the role \(closed.role) may not use the schema \(closed.schema); its owner can "
                    + "let it: GRANT USAGE ON SCHEMA \(closed.schema) TO \(closed.role)")
        }
        let path = try db.first("SHOW search_path") { $0.text() } ?? ""
        return .missing(
            location: location.description,
            "the database has no alertq tables in the schemas of the search_path "
                + "(\(path)); to make them: \(location.setUp)")
    }
}
