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
    private static let deadlines = """
        alerts INDEXED BY alerts_expiry WHERE outcome IS NULL AND expires_ms IS NOT NULL
        """
    private static let snoozes = """
        alerts INDEXED BY alerts_snoozed WHERE outcome IS NULL AND snoozed_ms IS NOT NULL
        """

    /// The alerts whose deadline has passed, each with the kind of its clock and its time: those of
    /// this boot by its clock; others by the wall clock, those of earlier boots before moments.
    /// `?1` is the boot, `?2` its time, `?3` that of the wall clock.
    private static let overdue = """
        SELECT id, 0 AS kind, expires_boot_ms AS time FROM \(deadlines)
            AND boot = ?1 AND expires_boot_ms <= ?2
        UNION ALL SELECT id, 2, expires_ms FROM \(deadlines)
            AND boot = ?1 AND expires_boot_ms IS NULL AND expires_ms <= ?3
        UNION ALL SELECT id, iif(expires_boot_ms IS NULL, 2, 1), expires_ms FROM \(deadlines)
            AND boot < ?1 AND expires_ms <= ?3
        UNION ALL SELECT id, iif(expires_boot_ms IS NULL, 2, 1), expires_ms FROM \(deadlines)
            AND boot > ?1 AND expires_ms <= ?3
        """

    /// The alerts whose snooze is over, likewise.
    private static let finished = """
        SELECT id, 0 AS kind, snoozed_boot_ms AS time FROM \(snoozes)
            AND snoozed_boot = ?1 AND snoozed_boot_ms <= ?2
        UNION ALL SELECT id, 1, snoozed_ms FROM \(snoozes)
            AND snoozed_boot < ?1 AND snoozed_ms <= ?3
        UNION ALL SELECT id, 1, snoozed_ms FROM \(snoozes)
            AND snoozed_boot > ?1 AND snoozed_ms <= ?3
        """

    /// The earliest deadline and the earliest end of a snooze that were set in the boot `?1`, each
    /// with its times by both clocks, and the earliest given as dates.
    private static let next = """
        SELECT * FROM (SELECT expires_ms, expires_boot_ms FROM \(deadlines)
            AND boot = ?1 AND expires_boot_ms > \(Int64.min) ORDER BY expires_boot_ms LIMIT 1)
        UNION ALL SELECT * FROM (SELECT snoozed_ms, snoozed_boot_ms FROM \(snoozes)
            AND snoozed_boot = ?1 ORDER BY snoozed_boot_ms LIMIT 1)
        UNION ALL SELECT min(snoozed_ms), NULL FROM \(snoozes) AND snoozed_boot = ''
        UNION ALL SELECT min(expires_ms), NULL FROM \(deadlines)
            AND boot = ?1 AND expires_boot_ms IS NULL
        UNION ALL SELECT min(expires_ms), NULL FROM \(deadlines)
            AND boot < ?1 AND expires_boot_ms IS NULL
        UNION ALL SELECT min(expires_ms), NULL FROM \(deadlines)
            AND boot > ?1 AND expires_boot_ms IS NULL
        """

    /// The alerts whose deadline has passed: by boot time within this boot; by the wall clock
    /// otherwise, and for deadlines given as dates.
    ///
    /// - Parameter start: How many of them to leave out.
    func overdue(
        at now: ClockReading, limit: Int, from start: Int = 0
    ) throws -> [Alert.ID] {
        try due(Self.overdue, at: now, limit, from: start)
    }

    /// The alerts whose snooze is over, by the same clocks.
    func finishedSnoozes(at now: ClockReading, limit: Int) throws -> [Alert.ID] {
        try due(Self.finished, at: now, limit)
    }

    private func due(
        _ sql: String, at now: ClockReading, _ limit: Int, from start: Int = 0
    ) throws -> [Alert.ID] {
        try rows(
            "SELECT id FROM (\(sql)) ORDER BY kind, time, id LIMIT ?4 OFFSET ?5",
            .text(now.boot), .integer(now.bootMilliseconds), .integer(now.wallMilliseconds),
            .integer(limit), .integer(start)
        ) { $0.integer() }
    }

    /// Whether there is a passed deadline or finished snooze that can be stored.
    ///
    /// - Parameter start: Where to look for passed deadlines; if none of those there can be stored,
    ///   the next look begins after them.
    func isDue(at now: ClockReading, from start: OverdueStart) throws -> Bool {
        guard try finishedSnoozes(at: now, limit: 1).isEmpty else { return true }
        let ids = try overdue(at: now, limit: OverdueStart.examined, from: start.count)
        let canStore = try ids.contains { try consistentAlert($0) != nil }
        start.note(examined: ids.count, canStore: canStore)
        return canStore
    }

    /// The earliest deadline or end of a snooze among those set in this boot and those given as
    /// dates; `nil` if there are none.
    func nextDue(at now: ClockReading) throws -> ClockReading? {
        let moments = try rows(Self.next, .text(now.boot)) { row -> ClockReading? in
            guard !row.isNull(at: 0) else { return nil }
            let wall = row.integer(at: 0)
            return row.isNull(at: 1)
                ? ClockReading(onWallClock: wall)
                : ClockReading(
                    wallMilliseconds: wall, bootMilliseconds: row.integer(at: 1), boot: now.boot)
        }
        return now.earliest(of: moments.compactMap(\.self))
    }

    /// How many alerts wait. Those whose deadline has passed don't, whether or not that is stored.
    ///
    /// A count that no source can have reached is ignored.
    func pendingCount(at now: ClockReading) throws -> Int {
        let count = try first(
            """
            SELECT (SELECT coalesce(sum(pending), 0) FROM sources
                    WHERE name <> '' AND pending BETWEEN 0 AND \(UInt32.max))
                - (SELECT count(*) FROM (\(Self.overdue)))
            """, .text(now.boot), .integer(now.bootMilliseconds), .integer(now.wallMilliseconds)
        ) { Int($0.integer()) }
        return max(0, count ?? 0)
    }
}
