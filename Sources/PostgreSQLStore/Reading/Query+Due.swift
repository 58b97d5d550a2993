import AlertCore
import AlertTables
import PostgreSQL

/// What can be stored of the effects of time.
struct Due: Sendable {
    /// How many alerts one transaction expires.
    static let maximumExpiries = 100

    /// The first alerts whose deadline has passed, without those that the log contradicts.
    var expired: [Alert.ID] = []
    /// Whether a snooze is over.
    var hasSnooze = false

    var isEmpty: Bool { expired.isEmpty && !hasSnooze }
}

// Passed deadlines and finished snoozes.
extension Query {
    /// The alerts whose deadline has passed: by the clock of the boot within that; otherwise, and
    /// for deadlines given as dates, by the wall clock. `$2` is the boot, `$3` its time, `$4` the
    /// wall clock's.
    private static let overdue = """
        SELECT id, 0 AS kind, expires_boot_ms AS time FROM alerts
        WHERE queue = $1 AND outcome IS NULL AND expires_ms IS NOT NULL
            AND boot = $2 AND expires_boot_ms <= $3
        UNION ALL
        SELECT id, CASE WHEN expires_boot_ms IS NULL THEN 2 ELSE 1 END, expires_ms FROM alerts
        WHERE queue = $1 AND outcome IS NULL AND expires_ms IS NOT NULL
            AND (boot <> $2 OR expires_boot_ms IS NULL) AND expires_ms <= $4
        """

    /// The alerts whose snooze is over, likewise.
    private static let finished = """
        SELECT id, 0 AS kind, snoozed_boot_ms AS time FROM alerts
        WHERE queue = $1 AND outcome IS NULL AND snoozed_ms IS NOT NULL
            AND snoozed_boot = $2 AND snoozed_boot_ms <= $3
        UNION ALL
        SELECT id, 1, snoozed_ms FROM alerts
        WHERE queue = $1 AND outcome IS NULL AND snoozed_ms IS NOT NULL
            AND snoozed_boot <> $2 AND snoozed_ms <= $4
        """

    static func moment(_ queue: Value, _ now: ClockReading) -> [Value] {
        [
            queue, .text(now.boot), .integer(now.bootMilliseconds),
            .integer(now.wallMilliseconds),
        ]
    }

    static func overdue(
        _ queue: Value, _ now: ClockReading, limit: Int, from start: Int
    ) -> Statement {
        Statement(
            "SELECT id FROM (\(overdue)) AS due ORDER BY kind, time, id LIMIT $5 OFFSET $6",
            moment(queue, now) + [.integer(limit), .integer(start)])
    }

    static func finishedSnoozes(
        _ queue: Value, _ now: ClockReading, limit: Int
    ) -> Statement {
        Statement(
            "SELECT id FROM (\(finished)) AS due ORDER BY kind, time, id LIMIT $5",
            moment(queue, now) + [.integer(limit)])
    }

    /// The earliest deadlines and ends of snoozes: those of this boot, with both times, and those
    /// given as dates.
    static func nextDue(_ queue: Value, _ now: ClockReading) -> Statement {
        Statement(
            """
            SELECT * FROM (SELECT expires_ms, expires_boot_ms FROM alerts
                WHERE queue = $1 AND outcome IS NULL AND expires_ms IS NOT NULL
                    AND boot = $2 AND expires_boot_ms IS NOT NULL
                ORDER BY expires_boot_ms LIMIT 1) AS a
            UNION ALL SELECT * FROM (SELECT snoozed_ms, snoozed_boot_ms FROM alerts
                WHERE queue = $1 AND outcome IS NULL AND snoozed_ms IS NOT NULL
                    AND snoozed_boot = $2 ORDER BY snoozed_boot_ms LIMIT 1) AS b
            UNION ALL SELECT min(snoozed_ms), NULL FROM alerts
                WHERE queue = $1 AND outcome IS NULL AND snoozed_ms IS NOT NULL
                    AND snoozed_boot = ''
            UNION ALL SELECT min(expires_ms), NULL FROM alerts
                WHERE queue = $1 AND outcome IS NULL AND expires_ms IS NOT NULL
                    AND expires_boot_ms IS NULL
            """, queue, .text(now.boot))
    }

    /// How many alerts wait. Those whose deadline has passed don't, whether or not that is stored.
    static func pendingCount(_ queue: Value, _ now: ClockReading) -> Statement {
        Statement(
            """
            SELECT (SELECT coalesce(sum(pending), 0) FROM sources
                WHERE queue = $1 AND name <> '') - (SELECT count(*) FROM (\(overdue)) AS due)
            """, moment(queue, now))
    }
}

extension Connection {
    /// What is due, and can be stored.
    ///
    /// - Parameter start: Where to look for passed deadlines; if none of those there can be stored,
    ///   the next look begins after them.
    func due(_ queue: Value, at now: ClockReading, from start: OverdueStart) throws -> Due {
        let limit = OverdueStart.examined
        let results = try run(
            Pipeline([
                Query.overdue(queue, now, limit: limit, from: start.count),
                Query.finishedSnoozes(queue, now, limit: 1),
            ]))
        let overdue = results[0].rows { $0.integer() }
        var due = Due(hasSnooze: results[1].count > 0)
        for ids in overdue.slices(of: Due.maximumExpiries) where due.expired.isEmpty {
            due.expired = try consistent(queue, ids)
        }
        start.note(examined: overdue.count, canStore: !due.expired.isEmpty)
        return due
    }

    /// Those of some alerts that the log confirms.
    private func consistent(
        _ queue: Value, _ ids: ArraySlice<Alert.ID>
    ) throws -> [Alert.ID] {
        let found = try readAtOnce(
            ids.flatMap { [Query.alert(queue, $0), Query.trail(queue, $0)] })
        return try zip(ids, stride(from: 0, to: found.count, by: 2)).compactMap { id, index in
            do {
                let alert = try found[index].first { try AlertRow($0) }
                _ = try alert?.checked(by: found[index + 1]) {
                    try run(Query.erasure(queue, $0))
                }
                return alert.map { _ in id }
            } catch AlertError.inconsistent {
                return nil
            }
        }
    }
}

extension QueryResult {
    /// The earliest of the moments of ``Query/nextDue(_:_:)``.
    func nextDue(at now: ClockReading) -> ClockReading? {
        let moments = rows { row -> ClockReading? in
            guard !row.isNull(at: 0) else { return nil }
            let wall = row.integer(at: 0)
            return row.isNull(at: 1)
                ? ClockReading(onWallClock: wall)
                : ClockReading(
                    wallMilliseconds: wall, bootMilliseconds: row.integer(at: 1),
                    boot: now.boot)
        }
        return now.earliest(of: moments.compactMap(\.self))
    }
}
