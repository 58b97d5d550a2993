import AlertCore
import SQL

// Passed deadlines and finished snoozes.
extension Query {
    /// The times of the clocks, as `$2` (the boot), `$3` (its time) and `$4` (the wall clock's).
    package static func moment(_ now: ClockReading) -> [Value] {
        [.text(now.boot), .integer(now.bootMilliseconds), .integer(now.wallMilliseconds)]
    }

    private static func deadlines(_ sql: SQLDialect) -> String {
        """
        alerts\(sql.indexed(by: "alerts_expiry"))
            WHERE \(sql.own("alerts"))outcome IS NULL AND expires_ms IS NOT NULL
        """
    }

    private static func snoozes(_ sql: SQLDialect) -> String {
        """
        alerts\(sql.indexed(by: "alerts_snoozed"))
            WHERE \(sql.own("alerts"))outcome IS NULL AND snoozed_ms IS NOT NULL
        """
    }

    /// The alerts whose deadline has passed, each with the kind of its clock and its time: those of
    /// this boot by its clock; others by the wall clock, those of earlier boots before moments.
    private static func overdueAlerts(_ sql: SQLDialect) -> String {
        """
        SELECT id, 0 AS kind, expires_boot_ms AS time FROM \(deadlines(sql))
            AND boot = $2 AND expires_boot_ms <= $3
        UNION ALL SELECT id, 2, expires_ms FROM \(deadlines(sql))
            AND boot = $2 AND expires_boot_ms IS NULL AND expires_ms <= $4
        UNION ALL SELECT id, CASE WHEN expires_boot_ms IS NULL THEN 2 ELSE 1 END, expires_ms
            FROM \(deadlines(sql)) AND boot < $2 AND expires_ms <= $4
        UNION ALL SELECT id, CASE WHEN expires_boot_ms IS NULL THEN 2 ELSE 1 END, expires_ms
            FROM \(deadlines(sql)) AND boot > $2 AND expires_ms <= $4
        """
    }

    /// The ids of alerts whose deadline has passed.
    ///
    /// - Parameter start: How many of them to leave out.
    package func overdue(at now: ClockReading, limit: Int, from start: Int = 0) -> Statement {
        self(Self.overdue, Self.moment(now) + [.integer(limit), .integer(start)])
    }

    private static let overdue = SQLText { sql in
        """
        SELECT id FROM (\(overdueAlerts(sql))) AS due ORDER BY kind, time, id LIMIT $5 OFFSET $6
        """
    }

    /// The ids of alerts whose snooze is over, by the same clocks.
    package func finishedSnoozes(at now: ClockReading, limit: Int) -> Statement {
        self(Self.finishedSnoozes, Self.moment(now) + [.integer(limit)])
    }

    private static let finishedSnoozes = SQLText { sql in
        """
        SELECT id FROM (SELECT id, 0 AS kind, snoozed_boot_ms AS time FROM \(snoozes(sql))
                AND snoozed_boot = $2 AND snoozed_boot_ms <= $3
            UNION ALL SELECT id, 1, snoozed_ms FROM \(snoozes(sql))
                AND snoozed_boot < $2 AND snoozed_ms <= $4
            UNION ALL SELECT id, 1, snoozed_ms FROM \(snoozes(sql))
                AND snoozed_boot > $2 AND snoozed_ms <= $4) AS due
        ORDER BY kind, time, id LIMIT $5
        """
    }

    /// The earliest deadline and the earliest end of a snooze that were set in this boot, each with
    /// its times by both clocks, and the earliest that were given as dates.
    package func nextDue(at now: ClockReading) -> Statement {
        self(Self.nextDue, .text(now.boot))
    }

    private static let nextDue = SQLText { sql in
        // The index of a file begins with the boot.
        let boots = sql == .sqlite ? ["boot = $2", "boot < $2", "boot > $2"] : ["true"]
        let dates = boots.map { boot in
            """
            SELECT min(expires_ms), NULL FROM \(deadlines(sql))
                AND \(boot) AND expires_boot_ms IS NULL
            """
        }
        return """
            SELECT * FROM (SELECT expires_ms, expires_boot_ms FROM \(deadlines(sql))
                AND boot = $2 AND expires_boot_ms > \(Int64.min)
                ORDER BY expires_boot_ms LIMIT 1) AS deadline
            UNION ALL SELECT * FROM (SELECT snoozed_ms, snoozed_boot_ms FROM \(snoozes(sql))
                AND snoozed_boot = $2 ORDER BY snoozed_boot_ms LIMIT 1) AS snooze
            UNION ALL SELECT min(snoozed_ms), NULL FROM \(snoozes(sql)) AND snoozed_boot = ''
            UNION ALL \(dates.joined(separator: "\nUNION ALL "))
            """
    }

    /// How many alerts wait. Those whose deadline has passed don't, whether or not that is stored.
    ///
    /// A count that no source can have reached is ignored.
    package func pendingCount(at now: ClockReading) -> Statement {
        self(Self.pendingCount, Self.moment(now))
    }

    private static let pendingCount = SQLText { sql in
        """
        SELECT (SELECT coalesce(sum(pending), 0) FROM sources
                WHERE \(sql.own("sources"))name <> '' AND pending BETWEEN 0 AND \(UInt32.max))
            - (SELECT count(*) FROM (\(overdueAlerts(sql))) AS due)
        """
    }
}

/// A time at which something is due: by the wall clock, and by that of the boot or not.
private struct DueTime: TableRow {
    let wall: Int64?
    let boot: Int64?

    init(_ row: borrowing some SQLRow & ~Copyable) {
        wall = row.isNull(at: 0) ? nil : row.integer(at: 0)
        boot = row.isNull(at: 1) ? nil : row.integer(at: 1)
    }

    func reading(in now: ClockReading) -> ClockReading? {
        wall.map { wall in
            boot.map { boot in
                ClockReading(wallMilliseconds: wall, bootMilliseconds: boot, boot: now.boot)
            } ?? ClockReading(onWallClock: wall)
        }
    }
}

/// What can be stored of the effects of time.
package struct Due: Sendable {
    /// The first alerts whose deadline has passed, without those that the log contradicts.
    package var expired: [Alert.ID] = []
    /// Whether a snooze is over.
    package var hasSnooze = false

    package var isEmpty: Bool { expired.isEmpty && !hasSnooze }
}

extension QueueTables {
    /// What is due, and can be stored.
    ///
    /// - Parameters:
    ///   - start: Where to look for passed deadlines; if none of those there can be stored, the next
    ///     look begins after them.
    ///   - limit: How many alerts with passed deadlines at most.
    package func due(
        at now: ClockReading, from start: OverdueStart, atMost limit: Int
    ) throws -> Due {
        let overdue = query.overdue(at: now, limit: OverdueStart.examined, from: start.count)
        let snoozes = query.finishedSnoozes(at: now, limit: 1)
        let tables = try with([overdue, snoozes])
        let ids: [Alert.ID] = try tables.rows(overdue)
        var due = Due(hasSnooze: try tables.hasRow(snoozes))
        for ids in ids.slices(of: limit) where due.expired.isEmpty {
            let read = try with(ids.flatMap(query.reading))
            due.expired = try ids.filter { try read.consistentAlert($0) != nil }
        }
        start.note(examined: ids.count, canStore: !due.expired.isEmpty)
        return due
    }

    /// The earliest deadline or end of a snooze among those set in this boot and those given as
    /// dates; `nil` if there are none.
    package func nextDue(at now: ClockReading) throws -> ClockReading? {
        let times = try rows(query.nextDue(at: now), as: DueTime.self)
        return now.earliest(of: times.compactMap { $0.reading(in: now) })
    }

    package func pendingCount(at now: ClockReading) throws -> Int {
        let count: Int64? = try first(query.pendingCount(at: now))
        return Int(max(0, count ?? 0))
    }
}

extension Array {
    /// The elements in order, so many at a time.
    fileprivate func slices(of length: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: Swift.max(1, length)).map {
            self[$0..<Swift.min(count, $0 + Swift.max(1, length))]
        }
    }
}
