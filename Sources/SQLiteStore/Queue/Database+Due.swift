import AlertCore
import SQLite

// Passed deadlines and finished snoozes.
extension Database {
    /// The alerts whose deadline has passed: by boot time within this boot; by the wall clock
    /// otherwise, and for deadlines given as dates.
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
            ) { $0.integer() })
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

    private func due(
        _ sameBoot: String, _ otherBoot: String, _ now: ClockReading, _ limit: Int
    ) throws -> [Alert.ID] {
        let first = try rows(
            sameBoot, .text(now.boot), .integer(now.bootMilliseconds), .integer(limit)
        ) { $0.integer() }
        guard first.count < limit else { return first }
        return first
            + (try rows(
                otherBoot, .text(now.boot), .integer(now.wallMilliseconds),
                .integer(limit - first.count)
            ) { $0.integer() })
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
            try first(
                """
                SELECT expires_ms FROM alerts INDEXED BY alerts_expiry_moment
                WHERE state = 'queued' AND expires_ms IS NOT NULL AND expires_boot_ms IS NULL
                ORDER BY expires_ms LIMIT 1
                """
            ) { ClockReading(onWallClock: $0.integer()) },
            try first(
                Self.snoozeEnds, .text(boot)
            ) { Self.moment($0, SnoozeEnd.snoozedMs, .snoozedBootMs, in: boot) },
        ]
        return now.earliest(of: moments.compactMap(\.self))
    }

    private enum Deadline: Int, ColumnList { case expiresMs, expiresBootMs }

    private static let deadlines = """
        SELECT \(Deadline.list) FROM alerts
        WHERE state = 'queued' AND expires_ms IS NOT NULL AND boot = ?
            AND expires_boot_ms > ?
        ORDER BY expires_boot_ms LIMIT 1
        """

    private enum SnoozeEnd: Int, ColumnList { case snoozedMs, snoozedBootMs }

    private static let snoozeEnds = """
        SELECT \(SnoozeEnd.list) FROM alerts
        WHERE state = 'queued' AND snoozed_ms IS NOT NULL AND snoozed_boot = ?
        ORDER BY snoozed_boot_ms LIMIT 1
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
                "SELECT coalesce(sum(pending), 0) FROM sources WHERE pending BETWEEN 0 AND ?",
                .integer(Int64(UInt32.max))
            ) { Int($0.integer()) } ?? 0
        return max(0, stored - (try overdueCount(at: now)))
    }

    private func overdueCount(at now: ClockReading) throws -> Int {
        let sameBoot = try first(
            """
            SELECT count(*) FROM alerts WHERE state = 'queued' AND expires_ms IS NOT NULL
            AND boot = ? AND expires_boot_ms <= ?
            """, .text(now.boot), .integer(now.bootMilliseconds)
        ) { Int($0.integer()) }
        let onWallClock = try first(
            """
            SELECT count(*) FROM alerts WHERE state = 'queued' AND expires_ms IS NOT NULL
            AND (boot <> ? OR expires_boot_ms IS NULL) AND expires_ms <= ?
            """, .text(now.boot), .integer(now.wallMilliseconds)
        ) { Int($0.integer()) }
        return (sameBoot ?? 0) + (onWallClock ?? 0)
    }
}
