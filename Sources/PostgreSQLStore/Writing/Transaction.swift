import AlertCore
import AlertTables
import PostgreSQL
import TextFormats

/// A transaction that writes to a queue: what its members have changed, and what they read.
///
/// It holds the lock of the queue's head, so it reads what every transaction before it has
/// committed. What it will need is asked for together with the lock, and what it writes is sent
/// together with the commit: two round trips, however many members it has.
final class Transaction {
    /// How many alerts one transaction expires.
    static let maximumExpiries = 100

    let db: Connection
    let query: Query
    var queue: Value { query.queue }
    let now: ClockReading
    /// The end of the log before the transaction.
    let start: AuditHead
    let changes: Int64
    /// The time of the last entry, or of the transaction before.
    private(set) var lastTime: Int64
    /// The lowest id that the next alert may get.
    private(set) var firstID: Alert.ID
    /// How far the queue's time was ahead of the server's clock, and is now.
    private let offset: (before: Int64, now: Int64)
    /// Where the transaction before took place, and where this one does.
    private let place: (before: ServerPlace, now: ServerPlace?)
    /// Whether what is new about both is stored with the transaction.
    private var hasArrived = false
    /// The move of the queue, if it has moved.
    let move: QueueMove?
    /// The entries that the members have added to the log.
    private(set) var entries: [AuditHead] = []
    private(set) var lastID: Alert.ID
    var due: ClockReading?
    /// Whether other callers must examine what the members did.
    var concernsOthers = false
    /// Whether something has changed without an entry.
    private(set) var hasChangedSilently = false
    /// How many rows or statements write something.
    private(set) var writes = 0
    /// The statements that were not sent yet.
    private var pending: [Statement] = []
    /// The rows that come after these statements.
    private var newAlerts: [[Value]] = []
    /// The rows that come after all others: nothing that is pending depends on them.
    private var newEntries: [[Value]] = []
    let sources = KnownSources()
    /// What came with the lock, as far as it is still true.
    private var found: [Statement: QueryResult] = [:]
    let input = HashInput()

    // MARK: Beginning

    /// Locks the queue, and reads what the members will need.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the log no longer has the head that is known,
    ///   ``AlertError/incompatible(path:_:)`` if the queue has moved.
    init(
        on db: Connection, _ session: Session, known: AuditHead,
        reading needed: [Statement], within limit: Duration, allowsMoved: Bool = false
    ) throws {
        let (queue, location) = (session.queue, session.location)
        let isShort = limit < Session.lockLimit * 1.2
        let asksPlace = location.isPooled && session.tellsPlace
        var first = asksPlace ? [ServerPlace.query] : []
        if isShort {
            let time = Value.text("\((limit * 0.8).milliseconds)")
            first.append(Statement("SELECT set_config('lock_timeout', $1, true)", time))
        }
        // Deciding takes other statements than locking: a statement sees the past in which it
        // began to wait. The row's lock is what counts; but whoever comes as a change of the row
        // is committed can have it before those who wait. The other lock is given in their order.
        let lock = Statement(
            """
            SELECT seq, hash, at_ms, last_id, first_id, changes, offset_ms, cluster, timeline
            FROM heads
            WHERE queue = $1
                AND pg_advisory_xact_lock('heads'::regclass::oid::int, $1) IS NOT NULL
            FOR UPDATE
            """, queue)
        let state = Statement(
            """
            SELECT \(Lease.clock),
                last.seq, last.hash, (SELECT hash FROM audit WHERE queue = $1 AND seq = $2),
                (SELECT coalesce(max(alert_id), 0) FROM audit WHERE queue = $1),
                moved_to, host, current_setting('synchronous_commit')
            FROM queues LEFT JOIN (\(Query.logEnd[.postgreSQL])) AS last ON true WHERE id = $1
            """, queue, .integer(known.sequence))
        let start = session.clock.bootMilliseconds
        let all = try db.begin(first + [lock, state] + needed, within: limit)
        let place = asksPlace ? all[0].first { ServerPlace($0) } : session.place
        let results = Array(all.dropFirst(first.count))
        let read = results[0].first { row in
            (
                head: AuditHead(row, at: 0),
                time: row.integer(at: 2), lastID: row.integer(at: 3),
                firstID: row.integer(at: 4), changes: row.integer(at: 5),
                offset: row.integer(at: 6),
                place: ServerPlace(
                    cluster: row.optionalText(at: 7),
                    timeline: row.isNull(at: 8) ? nil : row.integer(at: 8))
            )
        }
        guard let read else { throw Connection.noHead }
        let seen = results[1].first { row in
            (
                time: row.integer(at: 0), last: AuditHead(row, at: 1),
                known: row.blob(at: 3), lastID: row.integer(at: 4),
                move: row.optionalText(at: 5).map { QueueMove(detail: $0) },
                home: row.optionalText(at: 6), commit: row.optionalText(at: 7) ?? ""
            )
        }
        let path = location.description
        if let place = seen?.move?.place, !allowsMoved {
            throw AlertError.moved(path, to: place)
        }
        guard session.acceptsCommits(seen?.commit ?? "") else {
            // Since it was opened, somebody has changed that.
            throw AlertError.busy(
                "synchronous_commit is \(seen?.commit ?? "") on the server of the queue: an answer "
                    + "could be lost; set it to on")
        }
        guard seen?.home == session.home else {
            // Who is meant by an account without a host is known from the beginning.
            throw AlertError.incompatible(
                path: path, "is no longer the queue that was opened: another was copied to it")
        }
        guard let seen, seen.last == read.head else {
            throw AlertError.inconsistent(nil, "the last entry of its log is not its head")
        }
        guard seen.lastID <= read.lastID else {
            throw AlertError.inconsistent(
                nil, "the log has entries about alert \(seen.lastID), which was not given yet")
        }
        guard known == .start || seen.known == known.hash else {
            throw AlertError.inconsistent(
                nil, "its log no longer has entry \(known.sequence), which was there")
        }
        self.db = db
        query = .ofServer(queue)
        let moment = session.clock.moment(
            seen.time, offset: read.offset, askedAt: start, notBefore: read.time)
        now = moment.now
        offset = (read.offset, moment.offset)
        self.place = (read.place, place)
        move = seen.move
        self.start = read.head
        lastTime = read.time
        changes = read.changes
        firstID = read.firstID
        lastID = read.lastID
        for (statement, result) in zip(needed, results.dropFirst(2)) {
            found[statement] = result
        }
    }

    /// Has the transaction store that the server's clock was set since the last one, and that the
    /// queue goes on elsewhere: ids that were given there may be unknown here, and are passed over.
    ///
    /// - Parameter caller: On whose behalf.
    func arrive(by caller: Caller) throws {
        hasArrived = true
        if let change = place.now?.change(since: place.before) {
            let restored = RestoredQueue.elsewhere(change, after: head, lastAlert: greatestID)
            firstID = restored.firstAlert
            var entry = AuditDraft(kind: .restored)
            entry.detail = .restored(restored)
            try append(entry, by: caller, concernsOthers: true)
        }
        if offset.now != offset.before {
            var entry = AuditDraft(kind: .clock)
            entry.detail = .clock(
                step: offset.before.subtractingBounded(offset.now), offset: offset.now)
            try append(entry, by: caller, concernsOthers: true)
        }
    }

    /// The greatest id that may have been given.
    private var greatestID: Alert.ID { max(lastID, firstID.subtractingBounded(1)) }

    // MARK: Reading and writing

    func rows<Found: TableRow>(_ statement: Statement, as type: Found.Type) throws -> [Found] {
        try result(statement).rows { try Found($0) }
    }

    func first<Found: TableRow>(_ statement: Statement, as type: Found.Type) throws -> Found? {
        try result(statement).first { try Found($0) }
    }

    private func result(_ statement: Statement) throws -> QueryResult {
        if let result = found[statement] { return result }
        try flush()
        return try db.run(statement)
    }

    func forget(_ statements: @autoclosure () -> [Statement]) {
        guard !found.isEmpty else { return }
        for statement in statements() { found[statement] = nil }
    }

    func forgetAll() { found = [:] }

    func write(_ statement: Statement, changing count: Int?) {
        writes += 1
        takeNewAlerts()
        pending.append(statement)
    }

    func writeCount(of principal: Principal, _ name: String, by difference: Int) {
        write(query.counted(principal, name, by: difference), changing: 1)
    }

    /// Makes statements of the new alerts.
    private func takeNewAlerts() {
        pending += Self.alertInsertion.statements(newAlerts, queue)
        newAlerts = []
    }

    /// Takes what is pending, all of it as statements.
    private func takePending() -> [Statement] {
        takeNewAlerts()
        pending += Self.entryInsertion.statements(newEntries, queue)
        defer { (pending, newEntries) = ([], []) }
        return pending
    }

    /// Sends what is pending, so that what is read next is true.
    private func flush() throws {
        let statements = takePending()
        if !statements.isEmpty { try db.run(statements) }
    }

    // MARK: Ending

    /// The statements that end the transaction.
    private func ending() -> [Statement] {
        let end = Statement(
            """
            UPDATE heads SET seq = $2, hash = $3, at_ms = $4, last_id = $5,
                changes = changes + $6, first_id = $7, offset_ms = $8,
                cluster = coalesce($9, cluster), timeline = coalesce($10, timeline)
            WHERE queue = $1
            """, queue, .integer(head.sequence), .blob(head.hash),
            .integer(now.wallMilliseconds), .integer(lastID),
            .integer(hasChangedSilently ? 1 : 0), .integer(firstID),
            .integer(hasArrived ? offset.now : offset.before),
            .optional(hasArrived ? place.now?.cluster : nil),
            .optional(hasArrived ? place.now?.timeline : nil))
        return takePending() + [end]
    }

    /// Whether anything is to be stored.
    var hasChanges: Bool { writes > 0 }

    func commit(within limit: Duration) -> CommitOutcome { db.commit(ending(), within: limit) }

    func rollBack() { db.rollBack() }

    private static let entryInsertion = RowInsertion(into: "audit", AuditEntry.columns)
    private static let alertInsertion = RowInsertion(into: "alerts", PreparedQuestion.columns)
}

// MARK: - The rules' view

extension Transaction: TableTransaction {
    var head: AuditHead { entries.last ?? start }

    func words(of alert: Alert, _ input: Alert.Input) -> Value? {
        .texts(SearchLexemes.of(alert, input))
    }

    func isAwaited(_ id: Alert.ID) throws -> Bool {
        try hasRow(query.waitingLeases([id]))
    }

    func nextID() throws -> Alert.ID {
        let last = greatestID
        guard last < .max else { throw AlertError.usedUp("alerts") }
        return last + 1
    }

    func insertAlert(_ values: [Value], as id: Alert.ID) {
        writes += 1
        newAlerts.append(values)
        lastID = id
    }

    func insert(_ entry: AuditEntry) {
        writes += 1
        newEntries.append(entry.values)
        entries.append(entry.event.cursor)
        lastTime = max(lastTime, Timestamp.milliseconds(entry.event.at))
    }

    /// An expression for the number of the next source of the queue `$1`, which no other queue has.
    static let nextSource = """
        (SELECT coalesce(max(id), $1::int::bigint << 32) + 1 FROM sources WHERE queue = $1)
        """

    func insertSource(_ principal: Principal, _ name: String) throws -> Int64 {
        let statement = Statement(
            """
            INSERT INTO sources (queue, id, principal, name)
            VALUES ($1, \(Self.nextSource), $2, $3) RETURNING id
            """, queue, .text(principal.text), .text(name))
        guard let id: Int64 = try first(statement) else {
            throw AlertError.inconsistent(nil, "a source could not be stored")
        }
        writes += 1
        return id
    }

    /// Returns the first alerts whose snooze is over to the queue; returns whether there were any.
    func wake() throws -> Bool {
        guard try endSnoozes(atMost: 500) > 0 else { return false }
        hasChangedSilently = true
        return true
    }
}
