import CPostgreSQL
import Glibc

/// A session of a PostgreSQL server.
///
/// It is deliberately not `Sendable`: each connection lives on one thread or queue. Its calls
/// block, but none for longer than its time: every wait is poll(2) with a deadline, and an
/// ``Interruption`` ends it. Only the look-up of a host's name is not bounded.
///
/// After an error of input or output, a timeout or an interruption, the connection is closed, and
/// every further call throws the same error. It never connects again by itself: session and
/// transaction would be others. A server notices that its client has gone, and ends what it does
/// for it, after `client_connection_check_interval`. To cancel a statement, run
/// `pg_cancel_backend` with ``serverProcess`` in another connection.
package final class Connection {
    /// How statements are sent.
    package enum Preparation: Sendable {
        /// Each is prepared once, under a name, and then run again and again.
        case named
        /// Each is parsed whenever it runs. A pooler in transaction mode gives every transaction
        /// another session, which knows nothing of the names in the last one.
        case unnamed
    }

    /// A filter of the history may have any of many thousands; those after them are not prepared.
    private static let maximumPrepared = 256

    private let lib: LibPQ
    /// `nil` once the connection is lost.
    private var handle: OpaquePointer?
    private var loss: PostgreSQLError?
    /// What ends its waits.
    package var interruption: Interruption?
    private let preparation: Preparation
    private var prepared: [String: String] = [:]
    private var cursors = 0
    private let received: Notices

    /// How long a call may take; for a pipeline, all of it.
    package var timeLimit: Duration = .seconds(30)

    /// What comes first in the transaction that a call of ``run(_:within:)`` is where none is open,
    /// such as a setting for it.
    package var preamble: Statement?

    /// What comes first in every transaction: behind a pooler, settings of a session are anybody's.
    package var settings: Statement?

    // MARK: Opening

    /// Connects to the first host that accepts it as a session that may write.
    ///
    /// - Parameters:
    ///   - location: A URI, `postgresql://…`, or a list of `keyword=value`; see
    ///     <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>.
    ///   - overriding: Parameters that replace those in `location`.
    ///   - limit: How long that may take, for all hosts together. Each host, and each address of
    ///     one, gets an equal share of what is left, or `connect_timeout`, if that is shorter.
    package init(
        _ location: String, overriding: [String: String] = [:],
        within limit: Duration = .seconds(10), preparation: Preparation = .named,
        interruption: Interruption? = nil
    ) throws(PostgreSQLError) {
        lib = try LibPQ.load()
        self.preparation = preparation
        self.interruption = interruption
        received = Notices(lib)
        let settings = try Settings(location, overriding: overriding, of: lib)
        let deadline = ContinuousClock.now + limit
        var hosts = Array(settings.hosts.reversed())
        var failures: [(reason: String, state: SQLState?)] = []
        while let host = hosts.popLast() {
            let addresses = Settings.addresses(of: host)
            hosts += addresses.dropFirst().reversed()
            let now = ContinuousClock.now
            let share = now.duration(to: deadline) / (hosts.count + 1)
            do throws(PostgreSQLError) {
                handle = try start(addresses[0])
                try finishOpening(
                    at: addresses[0]["hostaddr"] ?? host["host"] ?? "the server",
                    by: now + min(share, settings.hostTimeout ?? share))
                return
            } catch {
                close()
                switch error.cause {
                case .unreachable(let reason): failures.append((reason, nil))
                case .rejected(let state, let reason):
                    failures.append((reason, state))
                    // As libpq does: a wrong password is not sent to each address of a host.
                    if state.meaning.lasts { hosts.removeLast(addresses.count - 1) }
                default: throw error
                }
            }
        }
        let reasons = failures.map(\.reason).joined(separator: "; ")
        let states = failures.compactMap(\.state)
        // One that can't be reached might let us in.
        guard states.count == failures.count, states.allSatisfy(\.meaning.lasts),
            let state = states.last
        else {
            throw PostgreSQLError(.unreachable(reasons), "connect")
        }
        throw PostgreSQLError(.rejected(state, reasons), "connect")
    }

    private func start(_ parameters: [String: String]) throws(PostgreSQLError) -> OpaquePointer {
        guard let handle = lib.start(parameters) else {
            throw PostgreSQLError(.refused("no memory"), "connect")
        }
        // Until the session has begun, libpq has the server's code in this text alone.
        _ = lib.pq.PQsetErrorVerbosity(handle, cpostgresql_verbosity_verbose)
        _ = lib.pq.PQsetNoticeReceiver(
            handle,
            { notices, result in
                guard let notices, let result else { return }
                Unmanaged<Notices>.fromOpaque(notices).takeUnretainedValue().add(result)
            }, Unmanaged.passUnretained(received).toOpaque())
        return handle
    }

    /// See <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PQCONNECTSTARTPARAMS>.
    private func finishOpening(
        at host: String, by deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) {
        var isReading = false
        while lib.pq.PQstatus(handle) != cpostgresql_connection_bad {
            guard
                try isReady(
                    reading: isReading, writing: !isReading, until: deadline, "connect")
            else {
                throw PostgreSQLError(
                    .unreachable("\(host) did not answer in time"), "connect")
            }
            switch lib.pq.PQconnectPoll(handle) {
            case cpostgresql_polling_ok:
                _ = lib.pq.PQsetnonblocking(handle, 1)
                _ = lib.pq.PQsetErrorVerbosity(handle, cpostgresql_verbosity_default)
                return
            case cpostgresql_polling_reading: isReading = true
            case cpostgresql_polling_writing: isReading = false
            default: throw notOpened
            }
        }
        throw notOpened
    }

    /// Why there is no session.
    private var notOpened: PostgreSQLError {
        let (state, reason) = RejectionText.parse(errorLines)
        if let state { return PostgreSQLError(.rejected(state, reason), "connect") }
        if lib.pq.PQconnectionNeedsPassword(handle) == 1 {
            // invalid_password
            return PostgreSQLError(.rejected(SQLState("28P01"), reason), "connect")
        }
        let error = PostgreSQLError(.unreachable(reason), "connect")
        guard error.isAboutTLS else { return error }
        // invalid_authorization_specification
        return PostgreSQLError(.rejected(SQLState("28000"), reason), "connect")
    }

    deinit { close() }

    /// Ends the session. A server rolls back what has not been committed.
    private func close() {
        guard let handle else { return }
        lib.pq.PQfinish(handle)
        self.handle = nil
    }

    // MARK: The session

    /// Why the connection can't be used any longer; `nil` while it can.
    package var failure: PostgreSQLError? { loss }

    /// The process that serves this session, for `pg_cancel_backend`.
    package var serverProcess: Int32 { lib.pq.PQbackendPID(handle) }

    /// The server's version: 150004 is 15.4.
    package var serverVersion: Int { Int(lib.pq.PQserverVersion(handle)) }

    /// A setting that the server reports by itself, such as `in_hot_standby`; see
    /// <https://www.postgresql.org/docs/current/libpq-status.html#LIBPQ-PQPARAMETERSTATUS>.
    package func parameter(_ name: String) -> String? {
        lib.pq.PQparameterStatus(handle, name).map { String(cString: $0) }
    }

    /// Whether a transaction is open, which may have failed already.
    package var isInTransaction: Bool {
        let status = lib.pq.PQtransactionStatus(handle)
        return status == cpostgresql_in_transaction || status == cpostgresql_in_failed_transaction
    }

    /// What the server has said beside its answers to the last call, at most 32 messages.
    package var notices: [ServerMessage] { received.messages }

    // MARK: Statements

    /// Runs a script of any number of statements without parameters.
    package func execute(_ script: String) throws(PostgreSQLError) {
        let handle = try live()
        received.messages.removeAll()
        let deadline = ContinuousClock.now + timeLimit
        guard lib.pq.PQsendQuery(handle, script) == 1 else { throw lose(script) }
        var failure: PostgreSQLError?
        while let result = try nextResult(script, by: deadline) {
            failure = try self.failure(of: result, script) ?? failure
        }
        if let failure { throw failure }
    }

    /// Runs one statement.
    @discardableResult
    package func run(
        _ sql: String, _ values: Value...
    ) throws(PostgreSQLError) -> QueryResult {
        try run(Statement(sql, values))
    }

    /// Runs one statement.
    @discardableResult
    package func run(_ statement: Statement) throws(PostgreSQLError) -> QueryResult {
        try run([statement])[0]
    }

    /// Reads the first row, or returns `nil` if there is none.
    package func first<Result>(
        _ sql: String, _ values: Value..., read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        try run(Statement(sql, values)).first(read)
    }

    /// Reads every row, in order.
    package func rows<Result>(
        _ sql: String, _ values: Value..., read: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        try run(Statement(sql, values)).rows(read)
    }

    /// Runs statements that are sent together, so that all of them take one round trip, and returns
    /// the result of each.
    ///
    /// If one of them fails, those after it are not run. Outside of a transaction they are one
    /// transaction. See <https://www.postgresql.org/docs/current/libpq-pipeline-mode.html>.
    ///
    /// - Parameter limit: How long that may take; ``timeLimit`` by default.
    @discardableResult
    package func run(
        _ statements: [Statement], within limit: Duration? = nil
    ) throws(PostgreSQLError) -> [QueryResult] {
        let first = isInTransaction ? [] : [settings, preamble].compactMap(\.self)
        return Array(try exchange(first + statements, within: limit).dropFirst(first.count))
    }

    /// Runs statements that only read, in one round trip; all of them see the same state.
    package func readAtOnce(_ statements: [Statement]) throws(PostgreSQLError) -> [QueryResult] {
        if isInTransaction { return try run(statements) }
        let first = [Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")] + ownSettings
        let all = first + statements + [Statement("COMMIT")]
        do throws(PostgreSQLError) {
            return Array(try exchange(all, within: nil).dropFirst(first.count).dropLast())
        } catch {
            rollBack()
            throw error
        }
    }

    private var ownSettings: [Statement] { settings.map { [$0] } ?? [] }

    private func exchange(
        _ statements: [Statement], within limit: Duration?
    ) throws(PostgreSQLError) -> [QueryResult] {
        let handle = try live()
        received.messages.removeAll()
        let deadline = ContinuousClock.now + (limit ?? timeLimit)
        var parameters: [Parameters] = []
        for statement in statements {
            parameters.append(try Parameters(of: statement))
        }
        guard lib.pq.PQenterPipelineMode(handle) == 1 else { throw lose("enter pipeline mode") }
        let replies = try send(statements, parameters, on: handle)
        return try receive(replies, on: handle, by: deadline)
    }
}

// MARK: - Transactions

extension Connection {
    /// Begins a transaction and runs its first statements, in one round trip. If it throws, no
    /// transaction is open.
    @discardableResult
    package func begin(
        _ statements: [Statement] = [], within limit: Duration? = nil
    ) throws(PostgreSQLError) -> [QueryResult] {
        precondition(!isInTransaction, "a transaction is open")
        do throws(PostgreSQLError) {
            let first = [Self.beginning] + ownSettings
            let all = first + statements
            return Array(try exchange(all, within: limit).dropFirst(first.count))
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs the last statements of a transaction and commits it, in one round trip.
    ///
    /// If no transaction is open, the statements are a whole one. Afterwards none is open.
    ///
    /// - Parameter limit: How long that may take. A `COMMIT` that waits for a replica is not
    ///   cancelled, which would not undo it.
    package func commit(
        _ statements: [Statement] = [], within limit: Duration? = nil
    ) -> CommitOutcome {
        let first = failure == nil && !isInTransaction ? [Self.beginning] + ownSettings : []
        let all = first + statements + [Statement("COMMIT")]
        let wasLost = failure != nil
        do throws(PostgreSQLError) {
            let results = try exchange(all, within: limit)
            guard let last = results.last, last.command == "COMMIT" else {
                // The transaction had failed before.
                let reason = "the transaction was rolled back"
                return .refused(PostgreSQLError(.refused(reason), "COMMIT"))
            }
            return .committed(Array(results.dropFirst(first.count).dropLast()))
        } catch {
            rollBack()
            // An error that left the session open came before anything was committed.
            let isCertain = wasLost || (!error.isConnectionLost && error.meaning != .lookUp)
            return isCertain ? .refused(error) : .unknown(error)
        }
    }

    /// Ends a transaction without storing anything. If that fails, the connection is lost, and
    /// the server does it.
    package func rollBack() {
        if failure == nil, isInTransaction { _ = try? execute("ROLLBACK") }
    }

    /// Runs a closure in a transaction whose statements see one state of the database.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try beginReading("REPEATABLE READ")
        defer { rollBack() }
        return try body()
    }

    /// Begins a transaction that only reads. It may rest for ten minutes, for whatever is done with
    /// what it has read, unless the role has a limit of its own: only a session that alters tables
    /// waits for its locks.
    private func beginReading(_ isolation: String) throws(PostgreSQLError) {
        try execute(
            """
            BEGIN ISOLATION LEVEL \(isolation) READ ONLY;
            SELECT pg_catalog.set_config('idle_in_transaction_session_timeout', '10min', true)
            WHERE pg_catalog.current_setting('idle_in_transaction_session_timeout')
                OPERATOR(pg_catalog.=) '10s'
            """)
        if let settings { try run(settings) }
    }

    private static let beginning = Statement(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
}

// MARK: - Many rows

extension Connection {
    /// Visits rows for as long as the closure returns `true`, with a page of them in memory.
    ///
    /// The closure may run other statements. A transaction is needed for that: if none is open,
    /// one begins, and ends with the visit. See
    /// <https://www.postgresql.org/docs/current/sql-declare.html>.
    package func visit(
        _ statement: Statement, pageSize: Int = 500, _ body: (borrowing Row) throws -> Bool
    ) throws {
        let isWhole = !isInTransaction
        if isWhole { try beginReading("READ COMMITTED") }
        cursors += 1
        let name = "alertq_rows_\(cursors)"
        defer {
            cursors -= 1
            // A transaction that failed, or a session that is over, has no cursors left.
            if isWhole { rollBack() } else { _ = try? run("CLOSE \(name)") }
        }
        let fetch = Statement("FETCH \(pageSize) FROM \(name)")
        var page = try run(
            [
                Statement(
                    "DECLARE \(name) NO SCROLL CURSOR FOR \(statement.sql)", statement.values),
                fetch,
            ])[1]
        while true {
            for number in 0..<Int32(page.count) where try !body(Row(number, of: page)) {
                return
            }
            guard page.count == pageSize else { return }
            page = try run(fetch)
        }
    }
}

// MARK: - Notifications

/// What `NOTIFY` sent to a channel.
package struct Notification: Sendable, Hashable {
    package let channel: String
    package let payload: String
    /// The process of the session that sent it; see ``Connection/serverProcess``.
    package let serverProcess: Int32
}

extension Connection {
    /// Waits for the next notification of a channel that this session listens to; `nil` if none
    /// comes in time, or the bell rings.
    ///
    /// See <https://www.postgresql.org/docs/current/libpq-notify.html>.
    package func nextNotification(
        within limit: Duration, bell: Bell? = nil
    ) throws(PostgreSQLError) -> Notification? {
        let operation = "wait for a notification"
        let handle = try live()
        let deadline = ContinuousClock.now + limit
        while true {
            if let found = lib.pq.PQnotifies(handle) {
                defer { lib.pq.PQfreemem(found) }
                return Notification(
                    channel: String(cString: found.pointee.relname),
                    payload: String(cString: found.pointee.extra),
                    serverProcess: found.pointee.be_pid)
            }
            guard
                try isReady(
                    reading: true, writing: false, until: deadline, operation, bell: bell)
            else { return nil }
            guard lib.pq.PQconsumeInput(handle) == 1 else { throw lose(operation) }
        }
    }
}

// MARK: - The protocol

extension Connection {
    /// An answer that the server owes.
    private struct Reply {
        let sql: String
        /// The name under which the statement is prepared; `nil` when it is run.
        var name: String?
    }

    private func live() throws(PostgreSQLError) -> OpaquePointer {
        guard let handle else { throw loss ?? PostgreSQLError(.lost("closed"), "connect") }
        return handle
    }

    private var message: String { errorLines.joined(separator: " ") }

    private var errorLines: [String] {
        guard let message = lib.pq.PQerrorMessage(handle) else { return ["no memory"] }
        // Those that begin with a tab are libpq's guesses about the line before.
        return String(cString: message).split(whereSeparator: \.isNewline)
            .filter { !$0.hasPrefix("\t") }.map(String.init)
    }

    /// Closes the connection, for the reason given, or else for that of the server or libpq.
    private func lose(
        _ operation: String, because cause: PostgreSQLError.Cause? = nil
    ) -> PostgreSQLError {
        // Between two statements, libpq takes the server's last word for a notice.
        let last = notices.last { $0.endsSession }.map(PostgreSQLError.Cause.server)
        let error = PostgreSQLError(cause ?? last ?? .lost(message), operation)
        loss = loss ?? error
        close()
        return error
    }

    /// Sends statements and a sync after them, or rather has libpq keep them until the answers
    /// are waited for.
    private func send(
        _ statements: [Statement], _ parameters: [Parameters], on handle: OpaquePointer
    ) throws(PostgreSQLError) -> [Reply] {
        var replies: [Reply] = []
        var names = prepared
        for (statement, parameters) in zip(statements, parameters) {
            let sql = statement.sql
            let isNamed = preparation == .named && !statement.isPlannedForValues
            if isNamed, names[sql] == nil, names.count < Self.maximumPrepared {
                let name = "alertq_\(names.count)"
                names[sql] = name
                replies.append(Reply(sql: sql, name: name))
                guard lib.pq.PQsendPrepare(handle, name, sql, 0, nil) == 1 else {
                    throw lose(sql)
                }
            }
            replies.append(Reply(sql: sql))
            let name = isNamed ? names[sql] : nil
            let isSent = parameters.withArrays { count, values, lengths, formats in
                if let name {
                    lib.pq.PQsendQueryPrepared(
                        handle, name, count, values, lengths, formats, 0)
                } else {
                    lib.pq.PQsendQueryParams(
                        handle, sql, count, nil, values, lengths, formats, 0)
                }
            }
            guard isSent == 1 else { throw lose(sql) }
        }
        guard lib.pq.PQpipelineSync(handle) == 1 else { throw lose("end a pipeline") }
        return replies
    }

    /// Reads all answers up to the sync, and throws the first error among them.
    private func receive(
        _ replies: [Reply], on handle: OpaquePointer, by deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) -> [QueryResult] {
        var results: [QueryResult] = []
        var failure: PostgreSQLError?
        for reply in replies {
            guard let result = try nextResult(reply.sql, by: deadline) else {
                throw lose(reply.sql)
            }
            if let error = try self.failure(of: result, reply.sql) {
                failure = failure ?? error
            } else if let name = reply.name {
                prepared[reply.sql] = name
            } else {
                results.append(result)
            }
            // Each answer ends in none.
            guard try nextResult(reply.sql, by: deadline) == nil else { throw lose(reply.sql) }
        }
        let sync = try nextResult("end a pipeline", by: deadline)
        guard let sync, lib.pq.PQresultStatus(sync.handle) == cpostgresql_pipeline_sync,
            lib.pq.PQexitPipelineMode(handle) == 1
        else { throw lose("end a pipeline") }
        if let failure { throw failure }
        return results
    }

    /// The error that a result is; throws if the connection is lost with it.
    private func failure(
        of result: QueryResult, _ sql: String
    ) throws(PostgreSQLError) -> PostgreSQLError? {
        switch lib.pq.PQresultStatus(result.handle) {
        case cpostgresql_command_ok, cpostgresql_tuples_ok, cpostgresql_empty_query: return nil
        case cpostgresql_pipeline_aborted:
            return PostgreSQLError(.refused("an earlier statement failed"), sql)
        case cpostgresql_fatal_error:
            guard let message = ServerMessage(result.handle, of: lib) else { throw lose(sql) }
            if message.endsSession { throw lose(sql, because: .server(message)) }
            return PostgreSQLError(.server(message), sql)
        default:
            // COPY, which nothing here answers.
            throw lose(sql, because: .lost("the statement copies data"))
        }
    }

    /// Sends what is left to send, and waits for the next result; `nil` is the end of an answer.
    private func nextResult(
        _ operation: String, by deadline: ContinuousClock.Instant
    ) throws(PostgreSQLError) -> QueryResult? {
        while true {
            let handle = try live()
            let left = lib.pq.PQflush(handle)
            guard left >= 0 else { throw lose(operation) }
            if lib.pq.PQisBusy(handle) == 0 { break }
            guard
                try isReady(reading: true, writing: left > 0, until: deadline, operation)
            else { throw lose(operation, because: .timedOut) }
            // A message may have come before the end, such as why the server ends.
            if lib.pq.PQconsumeInput(handle) == 0 { break }
        }
        return lib.pq.PQgetResult(handle).map { QueryResult(owning: $0, of: lib) }
    }

    /// Waits for the socket, and returns whether it is ready in time; see poll(2).
    private func isReady(
        reading: Bool, writing: Bool, until deadline: ContinuousClock.Instant,
        _ operation: String, bell: Bell? = nil
    ) throws(PostgreSQLError) -> Bool {
        let events = Int16((reading ? POLLIN : 0) | (writing ? POLLOUT : 0))
        var files = [
            pollfd(fd: lib.pq.PQsocket(handle), events: events, revents: 0),
            // A negative one is passed over.
            pollfd(fd: interruption?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            let time = Int32(max(0, min(left.rounded(.up), 1e9)))
            let count = poll(&files, nfds_t(files.count), time)
            if files[1].revents != 0 { throw lose(operation, because: .interrupted) }
            if count > 0 { return files[0].revents != 0 }
            if count == 0, left <= 1e9 { return false }
            guard count == 0 || errno == EINTR else {
                throw lose(operation, because: .lost(String(cString: strerror(errno))))
            }
        }
    }
}

/// What libpq writes when a server doesn't let us in, with the server's codes: see
/// `PQERRORS_VERBOSE`,
/// <https://www.postgresql.org/docs/current/libpq-control.html#LIBPQ-PQSETERRORVERBOSITY>.
///
/// `connection to server on socket "…" failed: FATAL:  3D000: database "x" does not exist`, and
/// then a line with the place in the server's source.
enum RejectionText {
    /// The code that came last, and the text without codes and places; one attempt after another.
    ///
    /// There is no code unless every attempt ended with one: a host may have several addresses,
    /// and one that can't be reached might let us in.
    static func parse(_ lines: [String]) -> (state: SQLState?, reason: String) {
        var (state, isRefused) = (SQLState?.none, true)
        var reasons: [String] = []
        for line in lines {
            // The word before the code is one of the server's language.
            if let found = line.firstMatch(of: /:[ ]{2}([0-9A-Z]{5}):[ ]/) {
                state = SQLState(String(found.1))
                reasons.append(line.replacing(found.0, with: ": "))
            } else if line.wholeMatch(of: /\S+:[ ]+\w+, \S+\.\w+:[0-9]+/) == nil {
                if line.hasPrefix("connection to server ") { isRefused = false }
                reasons.append(line)
            }
        }
        let reason = reasons.enumerated().reduce(into: "") { text, next in
            let isAttempt = next.element.hasPrefix("connection to server ")
            text += (next.offset == 0 ? "" : isAttempt ? "; " : " ") + next.element
        }
        guard isRefused, let state else { return (nil, reason) }
        return (state, reason + " (SQLSTATE \(state))")
    }
}

extension RejectionText {
    /// What libpq says if both sides don't agree on encryption, or on who the other one is; see its
    /// files fe-secure-openssl.c and fe-connect.c.
    fileprivate static let disagreements = [
        "does not support SSL", "certificate", "channel binding", "SSL error: tlsv1 alert",
        "SSL error: sslv3 alert",
    ]

    /// Whether each attempt that the reason tells of ended with one of some texts.
    fileprivate static func eachAttempt(of reason: String, says texts: [String]) -> Bool {
        let attempts = reason.split(separator: "connection to server ")
        return !attempts.isEmpty
            && attempts.allSatisfy { attempt in texts.contains { attempt.contains($0) } }
    }
}

extension PostgreSQLError {
    /// Whether no server lets us in for want of a common encryption or identity, which does not
    /// pass by itself.
    package var isAboutTLS: Bool {
        RejectionText.eachAttempt(of: "\(self)", says: RejectionText.disagreements)
    }

    /// Whether all servers that were reached are standbys; see `target_session_attrs`,
    /// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-TARGET-SESSION-ATTRS>.
    package var hasReachedOnlyStandbys: Bool {
        RejectionText.eachAttempt(of: "\(self)", says: ["session is read-only"])
    }
}

/// What a server says beside its answers, which libpq would print to standard error.
private final class Notices {
    private static let maximumCount = 32

    private let lib: LibPQ
    var messages: [ServerMessage] = []

    init(_ lib: LibPQ) { self.lib = lib }

    func add(_ result: OpaquePointer) {
        guard messages.count < Self.maximumCount,
            let message = ServerMessage(result, of: lib)
        else { return }
        messages.append(message)
    }
}
