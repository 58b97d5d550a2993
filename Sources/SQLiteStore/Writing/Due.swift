import AlertCore
import SQLite

/// The effects of time on a queue.
struct Due: Sendable {
    /// Whether a deadline has passed or a snooze is over, and that is not stored yet.
    var isNow: Bool
    /// The next deadline or end of a snooze among those set in this boot, or the earliest given as
    /// a date; `nil` if there is none. Dates, and times set in an earlier boot, follow the wall
    /// clock, which may jump: that is only noticed by looking often.
    var next: ClockReading?
}

// Passed deadlines and finished snoozes.
extension Database {
    /// The alerts whose deadline has passed, each with the kind of its clock and its time: those of
    /// this boot by its clock; others by the wall clock, those of earlier boots before moments.
    /// `?1` is the boot, `?2` its time, `?3` that of the wall clock.
    private static let overdue = """
        SELECT id, 0 AS kind, expires_boot_ms AS time FROM alerts INDEXED BY alerts_expiry
            WHERE \(hasDeadline) AND boot = ?1 AND expires_boot_ms <= ?2
        UNION ALL SELECT id, 2, expires_ms FROM alerts INDEXED BY alerts_expiry
            WHERE \(hasDeadline) AND boot = ?1 AND expires_boot_ms IS NULL AND expires_ms <= ?3
        UNION ALL SELECT id, iif(expires_boot_ms IS NULL, 2, 1), expires_ms
            FROM alerts INDEXED BY alerts_expiry
            WHERE \(hasDeadline) AND boot < ?1 AND expires_ms <= ?3
        UNION ALL SELECT id, iif(expires_boot_ms IS NULL, 2, 1), expires_ms
            FROM alerts INDEXED BY alerts_expiry
            WHERE \(hasDeadline) AND boot > ?1 AND expires_ms <= ?3
        """
    private static let hasDeadline = "outcome IS NULL AND expires_ms IS NOT NULL"

    /// The alerts whose snooze is over, likewise.
    private static let finished = """
        SELECT id, 0 AS kind, snoozed_boot_ms AS time FROM alerts INDEXED BY alerts_snoozed
            WHERE \(isSnoozed) AND snoozed_boot = ?1 AND snoozed_boot_ms <= ?2
        UNION ALL SELECT id, 1, snoozed_ms FROM alerts INDEXED BY alerts_snoozed
            WHERE \(isSnoozed) AND snoozed_boot < ?1 AND snoozed_ms <= ?3
        UNION ALL SELECT id, 1, snoozed_ms FROM alerts INDEXED BY alerts_snoozed
            WHERE \(isSnoozed) AND snoozed_boot > ?1 AND snoozed_ms <= ?3
        """
    private static let isSnoozed = "outcome IS NULL AND snoozed_ms IS NOT NULL"

    /// The alerts whose deadline has passed: by boot time within this boot; by the wall clock
    /// otherwise, and for deadlines given as dates.
    func overdue(at now: ClockReading, limit: Int) throws -> [Alert.ID] {
        try due(Self.overdue, at: now, limit)
    }

    /// The alerts whose snooze is over, by the same clocks.
    func finishedSnoozes(at now: ClockReading, limit: Int) throws -> [Alert.ID] {
        try due(Self.finished, at: now, limit)
    }

    private func due(_ sql: String, at now: ClockReading, _ limit: Int) throws -> [Alert.ID] {
        try rows(
            "SELECT id FROM (\(sql)) ORDER BY kind, time, id LIMIT ?4", .text(now.boot),
            .integer(now.bootMilliseconds), .integer(now.wallMilliseconds), .integer(limit)
        ) { $0.integer() }
    }

    /// Whether there is a passed deadline or finished snooze that can be stored: up to a thousand
    /// alerts that the log contradicts are skipped.
    func isDue(at now: ClockReading) throws -> Bool {
        if try !finishedSnoozes(at: now, limit: 1).isEmpty { return true }
        for limit in [1, 1000] {
            let overdue = try overdue(at: now, limit: limit)
            for id in overdue where try consistentAlert(id) != nil { return true }
            if overdue.count < limit { return false }
        }
        return false
    }

    /// The earliest deadline or end of a snooze among those set in this boot and those given as
    /// dates; `nil` if there are none.
    func nextDue(at now: ClockReading) throws -> ClockReading? {
        let boot = now.boot
        let moments = [
            try first(
                Self.deadlines, .text(boot), .integer(Int64.min)
            ) { Self.moment($0, Deadline.expiresMs, .expiresBootMs, in: boot) },
            try first(Self.firstMoment, .text(boot)) { row in
                row.optionalInteger().map { ClockReading(onWallClock: $0) }
            } ?? nil,
            try first(
                Self.snoozeEnds, .text(boot)
            ) { Self.moment($0, SnoozeEnd.snoozedMs, .snoozedBootMs, in: boot) },
        ]
        return now.earliest(of: moments.compactMap(\.self))
    }

    private enum Deadline: Int, ColumnList { case expiresMs, expiresBootMs }

    private static let deadlines = """
        SELECT \(Deadline.list) FROM alerts INDEXED BY alerts_expiry
        WHERE \(hasDeadline) AND boot = ? AND expires_boot_ms > ?
        ORDER BY expires_boot_ms LIMIT 1
        """

    private static let firstMoment = """
        SELECT min(time) FROM (
            SELECT min(expires_ms) AS time FROM alerts INDEXED BY alerts_expiry
                WHERE \(hasDeadline) AND boot = ?1 AND expires_boot_ms IS NULL
            UNION ALL SELECT min(expires_ms) FROM alerts INDEXED BY alerts_expiry
                WHERE \(hasDeadline) AND boot < ?1 AND expires_boot_ms IS NULL
            UNION ALL SELECT min(expires_ms) FROM alerts INDEXED BY alerts_expiry
                WHERE \(hasDeadline) AND boot > ?1 AND expires_boot_ms IS NULL
            UNION ALL SELECT min(snoozed_ms) FROM alerts INDEXED BY alerts_snoozed
                WHERE \(isSnoozed) AND snoozed_boot = '')
        """

    private enum SnoozeEnd: Int, ColumnList { case snoozedMs, snoozedBootMs }

    private static let snoozeEnds = """
        SELECT \(SnoozeEnd.list) FROM alerts INDEXED BY alerts_snoozed
        WHERE \(isSnoozed) AND snoozed_boot = ? ORDER BY snoozed_boot_ms LIMIT 1
        """

    private static func moment<Column: ColumnList>(
        _ row: borrowing Row, _ wall: Column, _ sinceBoot: Column, in boot: String
    ) -> ClockReading {
        ClockReading(
            wallMilliseconds: row.integer(wall), bootMilliseconds: row.integer(sinceBoot),
            boot: boot)
    }

    /// How many alerts wait. Those whose deadline has passed don't, whether or not that is stored.
    ///
    /// A count that no source can have reached is ignored.
    func pendingCount(at now: ClockReading) throws -> Int {
        let stored =
            try first(
                """
                SELECT coalesce(sum(pending), 0) FROM sources
                WHERE name <> '' AND pending BETWEEN 0 AND ?
                """,
                .integer(Int64(UInt32.max))
            ) { Int($0.integer()) } ?? 0
        let overdue = try first(
            "SELECT count(*) FROM (\(Self.overdue))", .text(now.boot),
            .integer(now.bootMilliseconds), .integer(now.wallMilliseconds)
        ) { Int($0.integer()) }
        return max(0, stored - (overdue ?? 0))
    }
}
