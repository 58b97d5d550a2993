import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import TextFormats

// How this store reads and writes what a change is about; `QueueTransaction` has the rules.
extension WriteContext: QueueTransaction {
    /// Makes a change, or refuses it before anything of it is written.
    ///
    /// - Parameter prepared: The question, if the change asks one.
    func tryToMake(
        _ change: Change, _ prepared: PreparedQuestion?, named name: RequestedChange?,
        by caller: Caller, keeper: Caller
    ) throws -> Result<Receipt, AlertError> {
        let changes = db.totalChanges
        do {
            return try make(change, prepared, named: name, by: caller, keeper: keeper)
        } catch let error as AlertError where db.totalChanges == changes {
            return .failure(error)
        }
    }

    func alert(_ id: Alert.ID) throws -> StoredAlert? { try db.checkedAlert(id)?.alert }

    func alert(key: String, source: String, of principal: Principal) throws -> StoredAlert? {
        try db.checkedAlert(key: key, source: source, of: principal)?.alert
    }

    func keyDigest(of id: Alert.ID) throws -> KeyDigest { try db.keyDigest(of: id) }

    func cancelRequest(of id: Alert.ID) throws -> CancelRequest? {
        try db.cancelRequest(of: id)
    }

    func hasStartedRun(_ id: Alert.ID) throws -> Bool {
        try db.first(
            "SELECT 1 FROM audit WHERE alert_id = ? AND event = 'ran' LIMIT 1", .integer(id)
        ) { _ in true } ?? false
    }

    func wasRestored(after sequence: Int64) throws -> Bool {
        try db.first(
            """
            SELECT 1 FROM audit INDEXED BY audit_restored WHERE seq > ? AND event = 'restored'
            LIMIT 1
            """, .integer(sequence)
        ) { _ in true } ?? false
    }

    func isAwaited(_ id: Alert.ID) -> Bool {
        WaitingClaims.unclaimed(among: [id], in: files).isEmpty
    }

    func pendingCounts(
        of principal: Principal, source: String
    ) throws -> (source: Int, principal: Int) {
        (
            try self.source(of: principal, name: source)?.pending ?? 0,
            try self.source(of: principal, name: "")?.pending ?? 0
        )
    }

    func made(_ change: RequestedChange) throws -> MadeChange? {
        try db.first(
            """
            SELECT alert_id, seq, (SELECT hash FROM audit WHERE audit.seq = requests.seq)
            FROM requests
            WHERE principal = ? AND request = ? AND position = ? AND made_ms >= ?
            """,
            .text(change.principal.text), .blob(change.request.bytes),
            .integer(Int64(change.position)),
            .integer(now.wallMilliseconds.subtractingBounded(RequestedChange.lifetime))
        ) { row in
            let head = AuditHead(sequence: row.integer(at: 1), hash: row.blob(at: 2) ?? [])
            return MadeChange(alert: row.integer(at: 0), head: head)
        }
    }

    func remember(_ change: RequestedChange, _ made: MadeChange) throws {
        // Those that are too old, or from a time to which the clock was set by mistake, go a few at
        // a time.
        for range in ["made_ms < ?1", "made_ms > ?2"] {
            try db.run(
                """
                DELETE FROM requests
                WHERE id IN (SELECT id FROM requests WHERE \(range) AND ?1 < ?2 LIMIT 10)
                """,
                .integer(now.wallMilliseconds.subtractingBounded(RequestedChange.lifetime)),
                .integer(now.wallMilliseconds.addingBounded(RequestedChange.lifetime)))
        }
        try db.change(
            """
            INSERT INTO requests (principal, request, position, alert_id, seq, made_ms)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (request, principal, position) DO UPDATE SET
                alert_id = excluded.alert_id, seq = excluded.seq, made_ms = excluded.made_ms
            """,
            .text(change.principal.text), .blob(change.request.bytes),
            .integer(Int64(change.position)), .integer(made.alert), .integer(made.head.sequence),
            .integer(now.wallMilliseconds))
    }

    private static let insertion = """
        INSERT INTO alerts (\(PreparedQuestion.columns.list))
        VALUES (\(PreparedQuestion.columns.map { _ in "?" }.list))
        """
    private static let resolution = """
        UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL,
            \(Response.columns.map { "\($0) = ?" }.list) WHERE id = ?
        """

    func insert(
        _ prepared: PreparedQuestion, as id: Alert.ID, expiry: ClockReading?
    ) throws {
        let caller = prepared.caller
        let source = try findOrInsertSource(of: caller.principal, name: prepared.question.source)
        let principal = try findOrInsertSource(of: caller.principal, name: "")
        try db.change(
            Self.insertion,
            prepared.values(
                id: id, source: source.id, at: now, expiry: expiry,
                entry: head.sequence.addingBounded(1)))
        didInsert(id, of: source, principal)
    }

    func update(_ record: AlertRecord, _ update: AlertUpdate) throws {
        let id = Value.integer(record.id)
        switch update {
        case .presented(let moment):
            try db.change(
                "UPDATE alerts SET presented_ms = ? WHERE id = ?",
                .integer(moment.wallMilliseconds), id)
            try db.noteTurn(of: record.id, entry: head.sequence)
        case .snoozed(let until, let isRequeued):
            try db.change(
                """
                UPDATE alerts SET snoozes = snoozes + 1, snoozed_ms = ?, snoozed_boot_ms = ?,
                    snoozed_boot = ?, queued_seq = iif(?, ?, queued_seq) WHERE id = ?
                """,
                .integer(until.wallMilliseconds), .integer(until.bootMilliseconds),
                .text(until.boot), .integer(isRequeued ? 1 : 0), .integer(head.sequence), id)
        case .resolved(let response, let givenAt):
            try db.change(
                Self.resolution,
                response.values(
                    of: record, givenAt: givenAt, at: now, entry: head.sequence)
                    + [.integer(record.id)])
            try didResolve(record.source)
        case .superseded(let successor):
            try db.change(
                "UPDATE alerts SET superseded_by = ? WHERE id = ?", .integer(successor), id)
        case .collected(let moment, _):
            // The log says whether it was stale.
            try db.checkUncollected(record.id)
            try db.change(
                "UPDATE alerts SET collected_ms = ? WHERE id = ?",
                .integer(moment.wallMilliseconds), id)
        }
    }

    func append(_ draft: AuditDraft, by caller: Caller, concernsOthers: Bool) throws {
        if concernsOthers { self.concernsOthers = true }
        try audit(draft, by: caller)
    }
}

// What becomes due.
extension WriteContext {
    /// Stores that the deadlines of the first overdue alerts have passed; returns their number.
    ///
    /// Alerts that the log contradicts are skipped.
    ///
    /// - Parameter start: How many overdue alerts to leave out.
    func expireOverdue(atMost limit: Int, from start: Int = 0, by caller: Caller) throws -> Int {
        var expired = 0
        let ids = try db.overdue(at: now, limit: OverdueStart.examined + limit, from: start)
        for id in ids where expired < limit {
            guard let row = try db.consistentAlert(id) else { continue }
            try expire(row.alert, by: caller)
            expired += 1
        }
        return expired
    }

    /// Returns the first alerts whose snooze is over to the queue; returns their number.
    func endSnoozes(atMost limit: Int) throws -> Int {
        let awake = try db.finishedSnoozes(at: now, limit: limit)
        if !awake.isEmpty { concernsOthers = true }
        for id in awake {
            try db.change(
                """
                UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL
                WHERE id = ?
                """, .integer(id))
        }
        return awake.count
    }
}
