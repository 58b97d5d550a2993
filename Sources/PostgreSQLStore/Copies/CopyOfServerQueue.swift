import AlertCore
import AlertTables
import PostgreSQL

/// How long a copy waits for the lock of a queue's head, and for a commit.
private let lockTime = Duration.seconds(10)

/// Lets the transaction of a copy rest while the other side works.
private let patience = Statement("SET LOCAL idle_in_transaction_session_timeout = 0")

extension Session {
    /// A session for a copy.
    fileprivate convenience init(_ location: PostgreSQLLocation) throws {
        self.init(
            location, clock: ServerClock(), known: KnownHead(),
            interruption: try Interruption(), checksDurability: true)
    }

    /// What tells the queue from any other one, however its server is reached; `nil` if the server
    /// does not say.
    fileprivate func identity() throws -> String? {
        let db = try open()
        let found = try db.run(ServerPlace.query).first { ServerPlace($0).cluster }
        // A role may be forbidden to ask, and nothing depends on it.
        return (found ?? nil).map { "\($0) \(queue)" }
    }

    /// A transaction that has the lock of the queue, for as long as a copy takes.
    fileprivate func lock(allowsMoved: Bool = false) throws -> Transaction {
        let db = try open()
        let transaction = try Transaction(
            on: db, self, known: .start, reading: [], within: lockTime,
            allowsMoved: allowsMoved)
        db.timeLimit = Self.longTime
        try db.run(patience)
        return transaction
    }
}

extension CommitOutcome {
    /// - Throws: If it is not known that the transaction is stored, where it has to be.
    fileprivate func check(_ db: Connection, _ what: String) throws {
        switch self {
        case .committed where !db.hasStoppedWaiting: return
        case .refused(let error): throw error
        case .committed, .unknown:
            throw AlertError.busy(
                "the server was lost while it stored \(what), and it is not known whether it "
                    + "did; run the same command again, which finds out")
        }
    }
}

/// A queue in PostgreSQL that is copied elsewhere, locked for as long as this exists.
package final class ServerCopySource: CopySource {
    package let contents: CopiedQueue
    fileprivate let identity: String?
    private let session: Session
    private var transaction: Transaction
    private let caller: Caller

    /// - Throws: ``AlertError/busy(_:)`` if it can't be reached or is locked, and the other errors
    ///   of opening the queue.
    package init(_ location: PostgreSQLLocation, caller: Caller) throws(AlertError) {
        do {
            let session = try Session(location)
            identity = try session.identity()
            let transaction = try session.lock(allowsMoved: true)
            let (db, queue) = (transaction.db, transaction.queue)
            let head = try db.first(
                """
                SELECT seq, hash FROM audit WHERE queue = $1
                    AND (event <> 'moved' OR alert_id IS NOT NULL) ORDER BY seq DESC LIMIT 1
                """, queue
            ) { AuditHead($0, at: 0) }
            let count = try db.first("SELECT count(*) FROM alerts WHERE queue = $1", queue) {
                Int($0.integer())
            }
            contents = CopiedQueue(
                head: head ?? .start, firstID: transaction.firstID, alerts: count ?? 0,
                home: session.home, move: transaction.move)
            (self.session, self.transaction) = (session, transaction)
            let hosts = HostNames(own: location.ownHost, home: session.home ?? "")
            self.caller = hosts.stored(caller)
        } catch {
            throw translated(error, "copy the queue", at: location)
        }
    }

    deinit { transaction.rollBack() }

    /// The error for one of the server or its connection; `nil` for another one.
    package static func error(
        _ error: any Error, at location: PostgreSQLLocation
    ) -> AlertError? {
        (error as? PostgreSQLError).map { translated($0, "copy the queue", at: location) }
    }

    package func visit(_ table: CopiedTable, _ body: ([Value]) throws -> Void) throws {
        let limit = table == .audit ? "AND seq <= \(contents.head.sequence)" : ""
        let columns = table.columns
        let rows = Statement(
            """
            SELECT \(columns.list) FROM \(table.rawValue)
            WHERE queue = $1 \(limit) ORDER BY \(table.order)
            """, transaction.queue)
        try transaction.db.visit(rows) { row in
            try body(columns.indices.map { row.value(at: Int32($0)) })
            return true
        }
    }

    package func mark(as move: QueueMove) throws {
        if !transaction.db.isInTransaction {
            transaction = try session.lock(allowsMoved: true)
        }
        try transaction.append(AuditDraft(move), by: caller, concernsOthers: true)
        try transaction.commit(within: lockTime).check(
            transaction.db, "that the queue has moved")
    }
}

/// An empty queue in PostgreSQL, whose contents appear when they are complete.
package final class ServerCopyTarget: CopyTarget {
    private let db: Connection
    private let queue: Value
    private let home: String
    private var pending: [Statement] = []
    /// The ids that the sources have here.
    private var sources: [Value: Value] = [0: 0]

    /// - Parameters:
    ///   - home: The machine whose accounts have no host in a file.
    ///   - source: The queue that is copied; `nil` if that is in a file.
    /// - Throws: ``AlertError/invalid(_:_:)`` if the queue is not empty, or is the one that is
    ///   copied, ``AlertError/notPermitted(path:_:)`` for a role that may not fill it, and the
    ///   errors of opening one.
    package init(
        _ location: PostgreSQLLocation, home: String, from source: ServerCopySource? = nil
    ) throws(AlertError) {
        do {
            let session = try Session(location)
            // The lock of the queue that is copied is held.
            if let source = source?.identity, try session.identity() == source {
                throw AlertError.sameQueue
            }
            let mayFill = try session.open().first(
                "SELECT has_table_privilege('queues', 'UPDATE')"
            ) { $0.optionalText(at: 0) == "t" }
            guard mayFill == true else {
                throw AlertError.notPermitted(
                    path: location.description,
                    "only the owner of the tables can copy a queue to the server")
            }
            let transaction = try session.lock()
            (db, queue, self.home) = (transaction.db, transaction.queue, home)
            guard transaction.start == .start, transaction.lastID == 0 else {
                transaction.rollBack()
                throw AlertError.invalid(
                    "queue",
                    "at \(location.description) is not empty; name another one with ?queue=NAME, "
                        + "which alertq doctor --setup-postgresql makes")
            }
        } catch {
            throw translated(error, "copy the queue", at: location)
        }
    }

    deinit { db.rollBack() }

    /// Whether the queue at a place has a log with an entry; `nil` if it can't be read.
    package static func holds(_ head: AuditHead, at location: PostgreSQLLocation) -> Bool? {
        guard let session = try? Session(location), let db = try? session.open(),
            let found = try? ServerTables(db, session.queue)
                .rows(Query.ofServer(session.queue).entryHash(head.sequence), as: EntryHash.self)
        else { return nil }
        return head == .start || found.first?.bytes == head.hash
    }

    package func insert(_ values: [Value], into table: CopiedTable) throws {
        var (columns, values) = (table.columns, values)
        if table == .sources {
            let id = values.removeFirst()
            columns.removeFirst()
            let row = Statement(
                """
                INSERT INTO sources (queue, id, \(columns.list))
                VALUES ($1, \(Transaction.nextSource), \(columns.indices.map { "$\($0 + 2)" }.list))
                RETURNING id
                """, [queue] + values)
            sources[id] = try db.run(row).first { .integer($0.integer()) }
            return
        }
        for index in 0..<table.sourceIDs {
            guard let id = sources[values[index]] else {
                throw AlertError.inconsistent(nil, "a row names a source that is not there")
            }
            values[index] = id
        }
        if table == .alerts {
            columns.append("words")
            values.append(try words(of: values))
        }
        pending.append(insertion(into: table, columns, values))
        if pending.count >= 200 { try flush() }
    }

    private func insertion(
        into table: CopiedTable, _ columns: [String], _ values: [Value]
    ) -> Statement {
        Statement(
            """
            INSERT INTO \(table.rawValue) (queue, \(columns.list))
            VALUES ($1, \(zip(columns, 2...).map(Self.parameter).list))
            """, [queue] + values)
    }

    private static func parameter(_ column: String, _ number: Int) -> String {
        column == "words" ? "array_to_tsvector($\(number)::text[])" : "$\(number)"
    }

    private func flush() throws {
        let statements = pending
        pending = []
        if !statements.isEmpty { try db.run(statements) }
    }

    package func finish(_ copied: CopiedQueue, at now: ClockReading) throws -> AuditReport {
        let hosts = Set(
            try db.rows("SELECT DISTINCT principal FROM sources WHERE queue = $1", queue) {
                $0.text()
            }.compactMap { Principal(text: $0)?.account?.host })
        // Accounts without a machine are those of one machine, which must have no others.
        let home = hosts.contains("") ? copied.home ?? home : ""
        guard home.isEmpty || !hosts.contains(home) else {
            throw AlertError.invalid(
                "machine",
                "\(home) has accounts with its name in this queue, and those without a machine "
                    + "are of another one: name that with --host")
        }
        pending.append(
            Statement("UPDATE queues SET host = $2 WHERE id = $1", queue, .text(home)))
        pending.append(
            Statement(
                """
                UPDATE heads SET seq = $2, hash = $3, first_id = $4,
                    last_id = (SELECT coalesce(max(id), 0) FROM alerts WHERE queue = $1),
                    at_ms = coalesce((SELECT at_ms FROM audit WHERE queue = $1
                        ORDER BY seq DESC LIMIT 1), 0),
                    offset_ms = coalesce((SELECT (detail::json->>'offset_ms')::bigint FROM audit
                        WHERE queue = $1 AND event = 'clock' ORDER BY seq DESC LIMIT 1), 0)
                WHERE queue = $1
                """, queue, .integer(copied.head.sequence), .blob(copied.head.hash),
                .integer(copied.firstID)))
        try flush()
        // Otherwise what follows would not know how many rows there are now.
        try db.run("ANALYZE (SKIP_LOCKED) alerts, audit, sources")
        return try ServerTables(db, queue).verify(expecting: copied.savedHead, at: now) { _ in
            guard !Task.isCancelled else { throw AlertError.cancelled("the verification") }
        }
    }

    /// The words of an alert that has ended.
    private func words(of values: [Value]) throws -> Value {
        // The source has no words.
        let row = CopiedTable.alertRow(in: values, source: ["", "0"])
        let alert = try AlertRow(row).record
        guard let response = alert.response, !alert.isErased else { return .null }
        return .texts(SearchLexemes.of(alert.alert, response.input))
    }

    package func publish() throws {
        try db.commit(within: lockTime).check(db, "the copy")
    }
}
