import SQLite

/// The rows of alerts, as both the writer and the reader look for them.
extension Database {
    private static let joined = """
        SELECT \(AlertRow.columns) FROM alerts
        JOIN sources ON sources.id = alerts.source_id
        LEFT JOIN responses ON responses.alert_id = alerts.id
        """

    // Put together once: a statement is found by its text.
    // By no index that somebody may have added, because verifying the log reads alerts this way.
    private static let byID = """
        SELECT \(AlertRow.columns) FROM alerts NOT INDEXED
        JOIN sources NOT INDEXED ON sources.id = alerts.source_id
        LEFT JOIN responses INDEXED BY sqlite_autoindex_responses_1
            ON responses.alert_id = alerts.id
        WHERE alerts.id = ?
        """
    private static let byKey = joined + " WHERE alerts.source_id = ? AND alerts.key = ?"

    func alert(_ id: Alert.ID) throws -> AlertRow? {
        try first(Self.byID, .integer(id)) { try AlertRow($0) }
    }

    /// An alert that the log confirms.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` for one that it contradicts.
    func checkedAlert(_ id: Alert.ID) throws -> AlertRow? {
        try alert(id).map(checked)
    }

    /// An alert; `nil` where the log contradicts it.
    func consistentAlert(_ id: Alert.ID) throws -> AlertRow? {
        do { return try checkedAlert(id) } catch AlertError.inconsistent { return nil }
    }

    /// The alert that an account has asked with a key, and that the log confirms.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` for one that it contradicts.
    func checkedAlert(key: String, source: String, uid: UInt32) throws -> AlertRow? {
        guard let sourceID = try self.source(uid: uid, name: source)?.id,
            let row = try first(
                Self.byKey, .integer(sourceID), .text(key), read: { try AlertRow($0) })
        else { return nil }
        let record = try checked(row).record
        guard record.alert.key.isIdentical(to: key), record.source.uid == uid,
            record.source.name.isIdentical(to: source)
        else { throw AlertError.inconsistent(record.id, "an index finds it under another key") }
        return row
    }

    /// The source of an account's alerts with a name, and how many of them wait.
    func source(uid: UInt32, name: String) throws -> (id: Int64, pending: Int64)? {
        try first(
            "SELECT id, pending FROM sources WHERE uid = ? AND name = ?",
            .integer(Int64(uid)), .text(name)
        ) { (id: $0.integer(0), pending: $0.integer(1)) }
    }

    /// The salt of an alert's hashes; `nil` once its texts have been erased.
    func salt(of id: Alert.ID) throws -> [UInt8]? {
        try first("SELECT salt FROM alerts WHERE id = ?", .integer(id)) { $0.blob(0) } ?? nil
    }

    /// The hash of a content that an entry of the log tells.
    func content(ofEntry sequence: Int64) throws -> [UInt8]? {
        try first(
            "SELECT content FROM audit NOT INDEXED WHERE seq = ?", .integer(sequence)
        ) { $0.blob(0) } ?? nil
    }

    /// The name of an alert's source; `nil` for an alert that does not exist.
    func sourceName(of id: Alert.ID) throws -> String? {
        try first(
            """
            SELECT name FROM alerts JOIN sources ON sources.id = source_id WHERE alerts.id = ?
            """, .integer(id)
        ) { $0.text(0) }
    }

    /// How many alerts could be shown now besides one, counted up to 1,000.
    func ready(besides id: Alert.ID) throws -> WaitingAlerts {
        let count = { [self] (condition: String) in
            try first(
                """
                SELECT count(*) FROM (SELECT 1 FROM alerts
                    WHERE state = 'queued' AND snoozed_ms IS NULL AND id <> ?1\(condition)
                    LIMIT 1000)
                """, .integer(id)
            ) { Int($0.integer(0)) } ?? 0
        }
        return try WaitingAlerts(count: count(""), critical: count(" AND priority = 3"))
    }

    /// The alerts whose deadline has passed: by boot time within this boot, else, and for moments,
    /// by the wall clock.
    func overdue(at now: ClockReading, limit: Int) throws -> [Alert.ID] {
        let lengths = try due(
            """
            SELECT id FROM alerts WHERE state = 'queued' AND expires_ms IS NOT NULL
            AND boot = ? AND expires_boot_ms <= ? ORDER BY expires_boot_ms LIMIT ?
            """,
            """
            SELECT id FROM alerts WHERE state = 'queued' AND expires_ms IS NOT NULL
            AND boot <> ? AND expires_boot_ms IS NOT NULL AND expires_ms <= ?
            ORDER BY expires_ms LIMIT ?
            """, now, limit)
        guard lengths.count < limit else { return lengths }
        return lengths
            + (try rows(
                """
                SELECT id FROM alerts INDEXED BY alerts_expiry_moment
                WHERE state = 'queued' AND expires_ms IS NOT NULL AND expires_boot_ms IS NULL
                AND expires_ms <= ? ORDER BY expires_ms LIMIT ?
                """, .integer(now.wallMilliseconds), .integer(limit - lengths.count)
            ) { $0.integer(0) })
    }

    /// The alerts whose snooze is over, by the same clocks.
    func finishedSnoozes(at now: ClockReading, limit: Int) throws -> [Alert.ID] {
        try due(
            """
            SELECT id FROM alerts WHERE state = 'queued' AND snoozed_ms IS NOT NULL
            AND snoozed_boot = ? AND snoozed_boot_ms <= ?
            ORDER BY snoozed_boot_ms LIMIT ?
            """,
            """
            SELECT id FROM alerts WHERE state = 'queued' AND snoozed_ms IS NOT NULL
            AND snoozed_boot <> ? AND snoozed_ms <= ? ORDER BY snoozed_ms LIMIT ?
            """, now, limit)
    }

    /// Whether a deadline has passed or a snooze is over that can be stored: up to a thousand
    /// alerts that the log contradicts are passed over.
    func isDue(at now: ClockReading) throws -> Bool {
        if try !finishedSnoozes(at: now, limit: 1).isEmpty { return true }
        for limit in [1, 1000] {
            let overdue = try overdue(at: now, limit: limit)
            for id in overdue where try consistentAlert(id) != nil { return true }
            if overdue.count < limit { return false }
        }
        return false
    }

    /// The earliest deadline or end of a snooze among those that were set in this boot, and the
    /// moments; `nil` for none.
    func nextDue(at now: ClockReading) throws -> ClockReading? {
        let boot = now.boot
        let moments = [
            try first(
                """
                SELECT expires_ms, expires_boot_ms FROM alerts
                WHERE state = 'queued' AND expires_ms IS NOT NULL AND boot = ?
                    AND expires_boot_ms > ?
                ORDER BY expires_boot_ms LIMIT 1
                """, .text(boot), .integer(Int64.min), read: Self.moment(in: boot)),
            try first(
                """
                SELECT expires_ms FROM alerts INDEXED BY alerts_expiry_moment
                WHERE state = 'queued' AND expires_ms IS NOT NULL AND expires_boot_ms IS NULL
                ORDER BY expires_ms LIMIT 1
                """
            ) { ClockReading(onWallClock: $0.integer(0)) },
            try first(
                """
                SELECT snoozed_ms, snoozed_boot_ms FROM alerts
                WHERE state = 'queued' AND snoozed_ms IS NOT NULL AND snoozed_boot = ?
                ORDER BY snoozed_boot_ms LIMIT 1
                """, .text(boot), read: Self.moment(in: boot)),
        ]
        return moments.compactMap { $0 }.min { now.time(until: $0) < now.time(until: $1) }
    }

    private static func moment(in boot: String) -> (borrowing Row) -> ClockReading {
        { row in
            ClockReading(
                wallMilliseconds: row.integer(0), bootMilliseconds: row.integer(1), boot: boot)
        }
    }

    /// How many alerts wait. Those whose deadline has passed don't, whether that is stored or not.
    ///
    /// A number that no source can have reached counts for nothing.
    func pendingCount(at now: ClockReading) throws -> Int {
        let stored =
            try first(
                "SELECT coalesce(sum(pending), 0) FROM sources WHERE pending BETWEEN 0 AND ?",
                .integer(Int64(UInt32.max))
            ) { Int($0.integer(0)) } ?? 0
        return max(0, stored - (try overdueCount(at: now)))
    }

    private func overdueCount(at now: ClockReading) throws -> Int {
        let sameBoot = try first(
            """
            SELECT count(*) FROM alerts WHERE state = 'queued' AND expires_ms IS NOT NULL
            AND boot = ? AND expires_boot_ms <= ?
            """, .text(now.boot), .integer(now.bootMilliseconds)
        ) { Int($0.integer(0)) }
        let onWallClock = try first(
            """
            SELECT count(*) FROM alerts WHERE state = 'queued' AND expires_ms IS NOT NULL
            AND (boot <> ? OR expires_boot_ms IS NULL) AND expires_ms <= ?
            """, .text(now.boot), .integer(now.wallMilliseconds)
        ) { Int($0.integer(0)) }
        return (sameBoot ?? 0) + (onWallClock ?? 0)
    }

    func lastSequence() throws -> Int64 {
        try lastHead().sequence
    }

    /// The end of the audit log, ``AuditHead/start`` for an empty one.
    func lastHead() throws -> AuditHead {
        try first("SELECT seq, hash FROM audit NOT INDEXED ORDER BY seq DESC LIMIT 1") { row in
            AuditHead(sequence: row.integer(0), hash: row.blob(1) ?? [])
        } ?? AuditHead.start
    }

    private func due(
        _ sameBoot: String, _ otherBoot: String, _ now: ClockReading, _ limit: Int
    ) throws -> [Alert.ID] {
        let first = try rows(
            sameBoot, .text(now.boot), .integer(now.bootMilliseconds), .integer(limit)
        ) { $0.integer(0) }
        guard first.count < limit else { return first }
        return first
            + (try rows(
                otherBoot, .text(now.boot), .integer(now.wallMilliseconds),
                .integer(limit - first.count)
            ) { $0.integer(0) })
    }
}

extension Database {
    /// Runs a statement that has to change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` where it did not: a trigger can have a statement
    ///   succeed without doing anything; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws {
        try run(sql, values)
        guard changes == 1 else {
            throw AlertError.inconsistent(
                nil, "a statement that changes one row has changed \(changes)")
        }
    }
}
