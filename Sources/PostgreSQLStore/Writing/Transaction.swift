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
    struct SourceName: Hashable {
        let principal: Principal
        let name: ExactText
    }

    struct SourceRow {
        let id: Int64
        /// How many of its alerts waited before the transaction.
        let pending: Int
    }

    let db: Connection
    let queue: Value
    let now: ClockReading
    /// The end of the log before the transaction.
    let start: AuditHead
    let changes: Int64
    /// The time of the transaction before.
    let lastTime: Int64
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
    private(set) var concernsOthers = false
    /// Whether something has changed without an entry.
    private(set) var hasChangedSilently = false
    /// How many rows or statements write something.
    private var writes = 0
    /// The statements that were not sent yet.
    private var pending = Pipeline()
    /// The rows that come after these statements.
    private var newAlerts: [[Value]] = []
    /// The rows that come after all others: nothing that is pending depends on them.
    private var newEntries: [[Value]] = []
    private var sources: [SourceName: SourceRow] = [:]
    /// How many more alerts of a source, or of an account, wait than before.
    private var counts: [SourceName: Int] = [:]
    /// The alerts and keys about which rows read earlier may no longer be true.
    var changedAlerts: Set<Alert.ID> = []
    private var changedKeys: Set<String> = []
    private var changedRequests: Set<RequestedChange> = []
    private var found: [Statement: QueryResult] = [:]
    private let input = HashInput()

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
        var pipeline = Pipeline()
        let isShort = limit < Session.lockLimit * 1.2
        let asksPlace = location.isPooled && session.tellsPlace
        if asksPlace { pipeline.add(ServerPlace.query) }
        if isShort {
            pipeline.add(
                "SELECT set_config('lock_timeout', $1, true)",
                .text("\((limit * 0.8).milliseconds)"))
        }
        // Deciding takes other statements than locking: a statement sees the past in which it
        // began to wait. The row's lock is what counts; but whoever comes as a change of the row
        // is committed can have it before those who wait. The other lock is given in their order.
        pipeline.add(
            """
            SELECT seq, hash, at_ms, last_id, first_id, changes, offset_ms, cluster, timeline
            FROM heads
            WHERE queue = $1
                AND pg_advisory_xact_lock('heads'::regclass::oid::int, $1) IS NOT NULL
            FOR UPDATE
            """, queue)
        pipeline.add(
            """
            SELECT \(Lease.clock),
                last.seq, last.hash, (SELECT hash FROM audit WHERE queue = $1 AND seq = $2),
                (SELECT coalesce(max(alert_id), 0) FROM audit WHERE queue = $1),
                moved_to, host, current_setting('synchronous_commit')
            FROM queues LEFT JOIN (\(Query.logEnd)) AS last ON true WHERE id = $1
            """, queue, .integer(known.sequence))
        for statement in needed { pipeline.add(statement) }
        let start = session.clock.bootMilliseconds
        let all = try db.begin(pipeline, within: limit)
        let place = asksPlace ? all[0].first { ServerPlace($0) } : session.place
        let results = Array(all.dropFirst((isShort ? 1 : 0) + (asksPlace ? 1 : 0)))
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
        guard let read else { throw AlertError.inconsistent(nil, "the queue has no head") }
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
        self.queue = queue
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

    /// The result of a statement, which may have come with the lock.
    func read(_ statement: Statement, isFresh: Bool = false) throws -> QueryResult {
        if !isFresh, let result = found[statement] { return result }
        try flush()
        return try db.run(statement)
    }

    func write(_ sql: String, _ values: Value...) { write(sql, values) }

    func write(_ sql: String, _ values: [Value]) {
        writes += 1
        takeNewAlerts()
        pending.add(Statement(sql, values))
    }

    /// Makes statements of the new alerts.
    private func takeNewAlerts() {
        for statement in Self.alertInsertion.statements(newAlerts, queue) {
            pending.add(statement)
        }
        newAlerts = []
    }

    /// Takes what is pending, all of it as statements.
    private func takePending() -> Pipeline {
        takeNewAlerts()
        for statement in Self.entryInsertion.statements(newEntries, queue) {
            pending.add(statement)
        }
        defer { (pending, newEntries) = (Pipeline(), []) }
        return pending
    }

    /// Sends what is pending, so that what is read next is true.
    private func flush() throws {
        let pipeline = takePending()
        if !pipeline.statements.isEmpty { try db.run(pipeline) }
    }

    /// Runs a part of the transaction, which is refused before it has written anything.
    ///
    /// - Throws: ``HalfDone`` if it was refused later: nothing of the transaction may stay then. And
    ///   `PostgreSQLError`.
    func attempt<Result>(
        _ body: () throws -> Result
    ) throws -> Swift.Result<Result, AlertError> {
        let before = writes
        do {
            return .success(try body())
        } catch let error as AlertError {
            guard writes == before else { throw HalfDone(error: error) }
            return .failure(error)
        }
    }

    // MARK: Ending

    /// The statements that end the transaction.
    private func ending() -> Pipeline {
        var pipeline = takePending()
        let counts = counts.filter { $0.value != 0 }
        if !counts.isEmpty {
            pipeline.add(
                """
                UPDATE sources SET pending = greatest(0, pending + counts.difference)
                FROM unnest($2::text[], $3::text[], $4::bigint[])
                    AS counts (principal, name, difference)
                WHERE queue = $1 AND sources.principal = counts.principal
                    AND sources.name = counts.name
                """, queue, .texts(counts.keys.map(\.principal.text)),
                .texts(counts.keys.map(\.name.text)),
                .integers(counts.values.map { Int64($0) }))
        }
        pipeline.add(
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
        return pipeline
    }

    /// Whether anything is to be stored.
    var hasChanges: Bool { writes > 0 }

    func commit(within limit: Duration) -> CommitOutcome { db.commit(ending(), within: limit) }

    func rollBack() { db.rollBack() }

    /// Appends an entry to the log, chained to the previous one.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if the clock shows a time that the log can't hold.
    private func audit(_ draft: AuditDraft, by caller: Caller) throws {
        try now.checkYear(of: "clock")
        let entry = draft.entry(after: head, at: now, by: caller, input)
        writes += 1
        newEntries.append(entry.values)
        entries.append(entry.event.cursor)
    }

    private static let entryInsertion = RowInsertion(into: "audit", AuditEntry.columns)
    private static let alertInsertion = RowInsertion(into: "alerts", PreparedQuestion.columns)

    fileprivate static let resolution = """
        UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL,
            words = array_to_tsvector($\(Response.columns.count + 3)::text[]),
            \(Response.columns.enumerated().map { "\($1) = $\($0 + 3)" }.list)
        WHERE queue = $1 AND id = $2
        """
}

/// A part of a transaction was refused after it had written something.
struct HalfDone: Error {
    let error: AlertError
}

// MARK: - The rules' view

extension Transaction: QueueTransaction {
    var head: AuditHead { entries.last ?? start }

    func alert(_ id: Alert.ID) throws -> StoredAlert? {
        let isFresh = changedAlerts.contains(id)
        let row = try read(Query.alert(queue, id), isFresh: isFresh).first { try AlertRow($0) }
        return try row?.checked(by: read(Query.trail(queue, id), isFresh: isFresh)) {
            try read(Query.erasure(queue, $0))
        }.alert
    }

    func alert(key: String, source: String, of principal: Principal) throws -> StoredAlert? {
        let query = Query.key(queue, key, source: source, of: principal)
        var isFresh = changedKeys.contains(key)
        var row = try read(query.row, isFresh: isFresh).first { try AlertRow($0) }
        if !isFresh, let id = row?.record.id, changedAlerts.contains(id) {
            isFresh = true
            row = try read(query.row, isFresh: true).first { try AlertRow($0) }
        }
        return try row?.checked(by: read(query.trail, isFresh: isFresh)) {
            try read(Query.erasure(queue, $0))
        }.checkedKey(key, source: source, of: principal).alert
    }

    func keyDigest(of id: Alert.ID) throws -> KeyDigest {
        try AlertTrail(of: id, from: read(Query.trail(queue, id))).keyDigest()
    }

    func cancelRequest(of id: Alert.ID) throws -> CancelRequest? {
        let isFresh = changedAlerts.contains(id)
        return try read(Query.cancelRequest(queue, id), isFresh: isFresh).cancelRequest(of: id)
    }

    func hasStartedRun(_ id: Alert.ID) throws -> Bool {
        let statement = Statement(
            "SELECT 1 FROM audit WHERE queue = $1 AND alert_id = $2 AND event = 'ran' LIMIT 1",
            queue, .integer(id))
        return try read(statement, isFresh: true).count > 0
    }

    func wasRestored(after sequence: Int64) throws -> Bool {
        try read(Query.restoration(queue, after: sequence), isFresh: true).count > 0
    }

    func isAwaited(_ id: Alert.ID) throws -> Bool {
        try read(Query.waitingClaims(queue, [id]), isFresh: true).count > 0
    }

    func pendingCounts(
        of principal: Principal, source: String
    ) throws -> (source: Int, principal: Int) {
        (try pendingCount(of: principal, source), try pendingCount(of: principal, ""))
    }

    private func pendingCount(of principal: Principal, _ name: String) throws -> Int {
        let key = SourceName(principal: principal, name: ExactText(name))
        return try (source(of: principal, name)?.pending ?? 0) + counts[key, default: 0]
    }

    func made(_ change: RequestedChange) throws -> MadeChange? {
        let oldest = now.wallMilliseconds.subtractingBounded(RequestedChange.lifetime)
        let isFresh = changedRequests.contains(change)
        return try read(Query.request(queue, change), isFresh: isFresh).first {
            row -> MadeChange? in
            guard row.integer(at: 2) >= oldest else { return nil }
            return MadeChange(
                alert: row.integer(at: 0),
                head: AuditHead(sequence: row.integer(at: 1), hash: row.blob(at: 3) ?? []))
        } ?? nil
    }

    func remember(_ change: RequestedChange, _ made: MadeChange) {
        changedRequests.insert(change)
        // Those that are too old go a few at a time.
        write(
            """
            DELETE FROM requests WHERE ctid IN (SELECT ctid FROM requests
                WHERE queue = $1 AND made_ms < $2 LIMIT 10)
            """, queue,
            .integer(now.wallMilliseconds.subtractingBounded(RequestedChange.lifetime)))
        write(
            """
            INSERT INTO requests (queue, principal, request, position, alert_id, seq, made_ms)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (queue, request, principal, position) DO UPDATE SET
                alert_id = excluded.alert_id, seq = excluded.seq, made_ms = excluded.made_ms
            """, queue, .text(change.principal.text), .blob(change.request.bytes),
            .integer(change.position), .integer(made.alert),
            .integer(made.head.sequence), .integer(now.wallMilliseconds))
    }

    func nextID() throws -> Alert.ID {
        let last = greatestID
        guard last < .max else {
            throw AlertError.storage(
                operation: "number the alerts", "the last of them has the greatest number")
        }
        return last + 1
    }

    func insert(
        _ prepared: PreparedQuestion, as id: Alert.ID, expiry: ClockReading?
    ) throws {
        let (principal, name) = (prepared.caller.principal, prepared.question.source)
        let source = try findOrInsertSource(of: principal, name)
        _ = try findOrInsertSource(of: principal, "")
        writes += 1
        newAlerts.append(
            prepared.values(
                id: id, source: source.id, at: now, expiry: expiry,
                entry: head.sequence.addingBounded(1)))
        lastID = id
        count(principal, name, by: 1)
        changedAlerts.insert(id)
        if let key = prepared.question.alert.key { changedKeys.insert(key) }
    }

    func update(_ record: AlertRecord, _ update: AlertUpdate) throws {
        let id = Value.integer(record.id)
        switch update {
        case .presented(let moment):
            write(
                "UPDATE alerts SET presented_ms = $3 WHERE queue = $1 AND id = $2", queue, id,
                .integer(moment.wallMilliseconds))
            write(
                """
                INSERT INTO turns (queue, priority, principal_id, source_id, seq)
                SELECT $1, alerts.priority, ids.principal, ids.source, $3
                FROM alerts JOIN sources ON sources.id = alerts.source_id
                JOIN sources AS principal ON principal.queue = sources.queue
                    AND principal.principal = sources.principal AND principal.name = ''
                CROSS JOIN LATERAL (VALUES (0::bigint, 0::bigint), (principal.id, 0),
                    (principal.id, alerts.source_id)) AS ids (principal, source)
                WHERE alerts.queue = $1 AND alerts.id = $2
                ON CONFLICT (queue, priority, principal_id, source_id) DO UPDATE
                    SET seq = excluded.seq
                """, queue, id, .integer(head.sequence))
        case .snoozed(let until, let isRequeued):
            write(
                """
                UPDATE alerts SET snoozes = snoozes + 1, snoozed_ms = $3, snoozed_boot_ms = $4,
                    snoozed_boot = $5, queued_seq = coalesce($6, queued_seq)
                WHERE queue = $1 AND id = $2
                """, queue, id, .integer(until.wallMilliseconds),
                .integer(until.bootMilliseconds), .text(until.boot),
                .optional(isRequeued ? head.sequence : nil))
        case .resolved(let response, let givenAt):
            write(
                Self.resolution,
                [queue, id]
                    + response.values(
                        of: record, givenAt: givenAt, at: now, entry: head.sequence)
                    + [.texts(SearchLexemes.of(record.alert, response.input))])
            count(record.source.principal, record.source.name, by: -1)
        case .superseded(let successor):
            write(
                "UPDATE alerts SET superseded_by = $3 WHERE queue = $1 AND id = $2", queue, id,
                .integer(successor))
            if let key = record.alert.key { changedKeys.insert(key) }
        case .collected(let moment, _):
            // The log says whether it was stale.
            write(
                "UPDATE alerts SET collected_ms = $3 WHERE queue = $1 AND id = $2", queue, id,
                .integer(moment.wallMilliseconds))
        }
        changedAlerts.insert(record.id)
    }

    func append(_ draft: AuditDraft, by caller: Caller, concernsOthers: Bool) throws {
        if concernsOthers { self.concernsOthers = true }
        try audit(draft, by: caller)
    }
}

extension QueryResult {
    /// Who requested that a screen cancel an alert; `nil` if there is no request.
    func cancelRequest(of id: Alert.ID) throws -> CancelRequest? {
        try first { row in
            let entry = try AuditRow.linkedEntry(row, of: id)
            return entry.event.by.map { CancelRequest(by: $0, caller: entry.caller) }
        } ?? nil
    }
}

// MARK: - Sources

extension Transaction {
    private func source(of principal: Principal, _ name: String) throws -> SourceRow? {
        let key = SourceName(principal: principal, name: ExactText(name))
        if let known = sources[key] { return known }
        let rows = try read(Query.sources(queue, principal, name)).rows { row in
            (
                name: row.optionalText(at: 0) ?? "",
                row: SourceRow(id: row.integer(at: 1), pending: Int(row.integer(at: 2)))
            )
        }
        for (name, row) in rows {
            sources[SourceName(principal: principal, name: ExactText(name))] = row
        }
        return sources[key]
    }

    /// An expression for the number of the next source of the queue `$1`, which no other queue has.
    static let nextSource = """
        (SELECT coalesce(max(id), $1::int::bigint << 32) + 1 FROM sources WHERE queue = $1)
        """

    private func findOrInsertSource(of principal: Principal, _ name: String) throws -> SourceRow {
        if let source = try source(of: principal, name) { return source }
        let statement = Statement(
            """
            INSERT INTO sources (queue, id, principal, name)
            VALUES ($1, \(Self.nextSource), $2, $3) RETURNING id
            """, queue, .text(principal.text), .text(name))
        guard let id = try read(statement, isFresh: true).first({ $0.integer() }) else {
            throw AlertError.inconsistent(nil, "a source could not be stored")
        }
        writes += 1
        let row = SourceRow(id: id, pending: 0)
        sources[SourceName(principal: principal, name: ExactText(name))] = row
        return row
    }

    private func count(_ principal: Principal, _ name: String, by difference: Int) {
        for name in [name, ""] {
            let key = SourceName(principal: principal, name: ExactText(name))
            counts[key, default: 0] += difference
        }
    }
}

// MARK: - What becomes due

extension Transaction {
    /// Stores that the deadlines of some alerts have passed; returns whether it has. Those that the
    /// log contradicts are skipped, and those that have ended in another way meanwhile.
    func expire(_ ids: [Alert.ID], by caller: Caller) throws -> Bool {
        var hasExpired = false
        for id in ids {
            let alert: StoredAlert?
            do { alert = try self.alert(id) } catch AlertError.inconsistent { alert = nil }
            guard let alert, alert.isOverdue(at: now) else { continue }
            try expire(alert, by: caller)
            hasExpired = true
        }
        return hasExpired
    }

    /// Ends snoozes that are over, 500 at most; returns whether there were any.
    func endSnoozes() throws -> Bool {
        let awake = try read(Query.finishedSnoozes(queue, now, limit: 500)).rows {
            $0.integer()
        }
        guard !awake.isEmpty else { return false }
        (concernsOthers, hasChangedSilently) = (true, true)
        write(
            """
            UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL
            WHERE queue = $1 AND id = ANY ($2::bigint[])
            """, queue, .integers(awake))
        changedAlerts.formUnion(awake)
        return true
    }
}
