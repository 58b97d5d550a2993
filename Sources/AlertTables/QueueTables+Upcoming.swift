import AlertCore
import SQL
import TextFormats

// What is shown next: `SourceLine` and `PriorityLines` have the rules, and this reads the lines that
// they compare.
extension Query {
    /// The first alert of each priority and source that may be shown, for ``Line``.
    ///
    /// - Parameter hasButtons: Whether only alerts with buttons may be.
    fileprivate func lines(_ screen: ScreenQuery, hasButtons: Bool) -> Statement {
        self(
            Self.lines, .text(StoredJSON.encode(screen.presenters)), dialect.value(of: screen.own),
            dialect.value(of: screen.except), .integer(hasButtons ? 1 : 0))
    }

    // The sources are found one after the other, each by one look into the index.
    private static let lines = SQLText { sql in
        let ready = { (priority: String) in
            """
            alerts\(sql.indexed(by: "alerts_next"))
                WHERE \(sql.own("alerts"))outcome IS NULL AND snoozed_ms IS NULL
                    AND alerts.priority = \(priority)
            """
        }
        let isWanted =
            sql == .sqlite
            ? """
            EXISTS (SELECT 1 FROM json_each(presenters) AS wanted
                JOIN json_each($2) AS attached ON attached.value = wanted.value)
            """
            : "presenters::jsonb ?| ARRAY (SELECT jsonb_array_elements_text($2::jsonb))"
        return """
            WITH RECURSIVE priorities (priority) AS (VALUES (0), (1), (2), (3)),
            waiting (priority, source) AS (
                SELECT priority, (SELECT min(source_id) FROM \(ready("priorities.priority")))
                FROM priorities
                UNION ALL
                SELECT waiting.priority, (SELECT min(source_id) FROM \(ready("waiting.priority"))
                    AND source_id > waiting.source)
                FROM waiting WHERE source IS NOT NULL),
            heads (priority, source, id) AS (
                SELECT waiting.priority, waiting.source,
                    (SELECT alerts.id FROM \(ready("waiting.priority"))
                        AND source_id = waiting.source
                        AND (presenters IS NULL OR \(isWanted)
                            OR \(sql.isOne("alerts.id", of: "$3")))
                        AND NOT \(sql.isOne("alerts.id", of: "$4"))
                        AND ($5 = 0 OR alerts.buttons <> '[]')
                    ORDER BY queued_seq LIMIT 1)
                FROM waiting WHERE source IS NOT NULL)
            SELECT alerts.id, alerts.queued_seq, alerts.priority, principal.id,
                coalesce(of_all.seq, 0), coalesce(of_principal.seq, 0), coalesce(of_source.seq, 0)
            FROM heads
            CROSS JOIN alerts
            JOIN sources ON \(sql.own("sources"))sources.id = heads.source
            LEFT JOIN sources AS principal ON \(sql.own("principal"))
                principal.principal = sources.principal AND principal.name = ''
            LEFT JOIN turns AS of_all ON \(sql.own("of_all"))of_all.priority = heads.priority
                AND of_all.principal_id = 0 AND of_all.source_id = 0
            LEFT JOIN turns AS of_principal ON \(sql.own("of_principal"))
                of_principal.priority = heads.priority
                AND of_principal.principal_id = principal.id AND of_principal.source_id = 0
            LEFT JOIN turns AS of_source ON \(sql.own("of_source"))
                of_source.priority = heads.priority
                AND of_source.principal_id = principal.id AND of_source.source_id = sources.id
            WHERE \(sql.own("alerts"))alerts.id = heads.id
            """
    }

    /// The position of an alert in the queue.
    fileprivate func position(_ id: Alert.ID) -> Statement { self(Self.position, .integer(id)) }

    private static let position = SQLText { sql in
        """
        SELECT \(QueuePosition.columns) FROM alerts\(sql.notIndexed)
        WHERE \(sql.own("alerts"))id = $2
        """
    }

    /// How many alerts, not counting one, could be shown now, and how many of these are critical,
    /// each counted up to 1,000.
    fileprivate func ready(besides id: Alert.ID) -> Statement { self(Self.ready, .integer(id)) }

    private static let ready = SQLText { sql in
        let count = { (condition: String) in
            """
            (SELECT count(*) FROM (SELECT 1 FROM alerts
                WHERE \(sql.own("alerts"))outcome IS NULL AND snoozed_ms IS NULL
                    AND id <> $2\(condition) LIMIT 1000) AS ready)
            """
        }
        return "SELECT \(count("")), \(count(" AND priority = 3"))"
    }
}

/// The first alert of a source's line.
private struct Line: TableRow {
    let priority: Int64
    /// The last appearance of an alert of this priority.
    let lastShown: Int64
    let line: SourceLine<Int64>

    init(_ row: borrowing some SQLRow & ~Copyable) {
        (priority, lastShown) = (row.integer(at: 2), row.integer(at: 4))
        line = SourceLine(
            head: row.integer(at: 0), queued: row.integer(at: 1), principal: row.integer(at: 3),
            principalShown: row.integer(at: 5), sourceShown: row.integer(at: 6))
    }
}

extension WaitingAlerts: TableRow {
    package init(_ row: borrowing some SQLRow & ~Copyable) {
        self.init(count: Int(row.integer(at: 0)), critical: Int(row.integer(at: 1)))
    }
}

extension QueueTables {
    /// What a screen shows next.
    package func upcoming(_ query: ScreenQuery, at now: ClockReading) throws -> Upcoming {
        var upcoming = try Upcoming(for: query, at: now) { query in
            guard let id = try next(query, at: now) else { return nil }
            return try with(self.query.one(id).all).currentAlert(.id(id)).map {
                ($0.row.alert, isCancelRequested: $0.isCancelRequested)
            }
        }
        upcoming.waiting = try ready(besides: upcoming.record?.id ?? 0)
        return upcoming
    }

    /// How many alerts, not counting one, could be shown now, counted up to 1,000.
    package func ready(besides id: Alert.ID) throws -> WaitingAlerts {
        try first(query.ready(besides: id)) ?? WaitingAlerts()
    }

    private func next(_ query: ScreenQuery, at now: ClockReading) throws -> Alert.ID? {
        // Only a few can be shown: don't search for them among all waiting alerts.
        guard !query.presenters.isEmpty else {
            return query.firstOwn(of: try readableAlerts(query.own).map(\.record))
        }
        let question =
            query.prefersQuestions ? try first(of: query, hasButtons: true, at: now) : nil
        return try question ?? first(of: query, hasButtons: false, at: now)
    }

    private func first(
        of screen: ScreenQuery, hasButtons: Bool, at now: ClockReading
    ) throws -> Alert.ID? {
        let lines: [Line] = try rows(query.lines(screen, hasButtons: hasButtons))
        let all = Alert.Priority.allCases.map { priority in
            let own = lines.filter { $0.priority == priority.rawValue }
            return PriorityLines(
                priority, own.map(\.line), lastShown: own.first?.lastShown ?? 0)
        }
        return try PriorityLines.next(of: all, at: now) { id in try first(query.position(id)) }
    }
}
