import FoundationEssentials
import SQLite

extension SQLiteAlertStore {
    package nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery,
        _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        await sweepForReading()
        let last = try await read("count the alerts") { db in
            try db.first("SELECT max(id) FROM alerts") { $0.integer(0) } ?? 0
        }
        let query = StatisticsPage(
            source: query.source, since: query.since.map(Timestamp.milliseconds),
            until: query.until.map(Timestamp.milliseconds))
        var tally = StatisticsTally()
        var place: Int64 = 0
        // In short transactions, so that the write-ahead log can be reused meanwhile.
        while place < last {
            guard !Task.isCancelled else { throw .busy("the count was cancelled") }
            let (start, before) = (place, tally)
            let end = min(last, start.addingBounded(StatisticsPage.pageLength))
            (tally, place) = try await read("count the alerts") { db in
                var tally = before
                try query.count(db, after: start, through: end, into: &tally)
                // Ids may be far apart, where somebody has changed the file or put a copy back.
                let next = try db.first(
                    "SELECT id FROM alerts WHERE id > ? ORDER BY id LIMIT 1", .integer(end)
                ) { $0.integer(0) }
                return (tally, next.map { $0 - 1 } ?? last)
            }
            progress(Int(place), Int(last))
        }
        return tally.statistics
    }
}

/// Counts that are not ordered yet.
private struct StatisticsTally: Sendable {
    private var counted = AlertStatistics()
    private var sources: [String: AlertStatistics.Counts] = [:]
    private var buttons: [String: AlertStatistics.Counts] = [:]

    var statistics: AlertStatistics {
        var statistics = counted
        statistics.sources = Self.ordered(sources)
        statistics.buttons = Self.ordered(buttons)
        return statistics
    }

    /// - Parameter isUnseen: Whether they have never been on a screen.
    mutating func addAlerts(
        _ count: Int, of source: String, _ outcome: Outcome?, isUnseen: Bool, firstAsked: Int64
    ) {
        let asked = Timestamp.date(milliseconds: firstAsked)
        if outcome == nil { counted.oldestWaiting = min(asked, counted.oldestWaiting ?? asked) }
        let counts = Self.counts(count, outcome, isUnseen: isUnseen)
        counted.total.add(counts)
        Self.add(counts, to: &sources, source)
    }

    mutating func addChoices(
        _ count: Int, of button: String, _ outcome: Outcome, isUnseen: Bool
    ) {
        Self.add(Self.counts(count, outcome, isUnseen: isUnseen), to: &buttons, button)
    }

    mutating func addAnswer(fromAsked: Int64, fromPresented: Int64?) {
        counted.timeFromAsked.add(milliseconds: fromAsked)
        if let fromPresented { counted.timeFromPresented.add(milliseconds: fromPresented) }
    }

    private static func add(
        _ counts: AlertStatistics.Counts, to groups: inout [String: AlertStatistics.Counts],
        _ name: String
    ) {
        // Names come from outside, and may be without number.
        guard groups[name] != nil || groups.count < AlertStatistics.groupLimit else { return }
        groups[name, default: AlertStatistics.Counts()].add(counts)
    }

    private static func counts(
        _ count: Int, _ outcome: Outcome?, isUnseen: Bool
    ) -> AlertStatistics.Counts {
        var counts = AlertStatistics.Counts()
        counts.asked = count
        if let outcome { counts.outcomes = [outcome: count] }
        if isUnseen, outcome == .expired { counts.unseen = count }
        return counts
    }

    private static func ordered(
        _ groups: [String: AlertStatistics.Counts]
    ) -> [AlertStatistics.Group] {
        groups.map { AlertStatistics.Group(name: $0.key, counts: $0.value) }
            .sorted { ($1.counts.asked, $0.name) < ($0.counts.asked, $1.name) }
    }
}

/// What is counted, page by page in the order of the ids.
private struct StatisticsPage: Sendable {
    /// How many alerts one transaction looks at.
    static let pageLength: Int64 = 20_000

    let source: String?
    let since: Int64?
    let until: Int64?

    private static let condition = """
        alerts.id > ?1 AND alerts.id <= ?2
            AND (?3 IS NULL OR sources.name = ?3)
            AND (?4 IS NULL OR asked_ms >= ?4) AND (?5 IS NULL OR asked_ms < ?5)
        """

    func count(
        _ db: Database, after start: Int64, through end: Int64, into tally: inout StatisticsTally
    ) throws {
        let values: [Value] = [
            .integer(start), .integer(end), .optional(source), .optional(since), .optional(until),
        ]
        try db.forEach(
            """
            SELECT sources.name, outcome,
                CASE WHEN button_index >= 0 THEN coalesce(button, '#' || button_index) END,
                presented_ms IS NULL, count(*), min(asked_ms)
            FROM alerts CROSS JOIN sources ON sources.id = alerts.source_id
            LEFT JOIN responses ON responses.alert_id = alerts.id
            WHERE \(Self.condition) GROUP BY 1, 2, 3, 4
            """, values
        ) { row in
            let outcome = row.optionalText(1).flatMap(Outcome.init(rawValue:))
            let (isUnseen, count) = (row.integer(3) == 1, Int(row.integer(4)))
            tally.addAlerts(
                count, of: row.text(0), outcome, isUnseen: isUnseen, firstAsked: row.integer(5))
            if let button = row.optionalText(2), let outcome {
                tally.addChoices(count, of: button, outcome, isUnseen: isUnseen)
            }
        }
        // What a policy did or a timer says nothing of people.
        try db.forEach(
            """
            SELECT resolved_ms, asked_ms, presented_ms FROM alerts
            CROSS JOIN sources ON sources.id = alerts.source_id
            CROSS JOIN responses ON responses.alert_id = alerts.id
            WHERE \(Self.condition) AND outcome = 'answered' AND resolved_by = 'person'
            """, values
        ) { row in
            let resolved = row.integer(0)
            tally.addAnswer(
                fromAsked: resolved.subtractingBounded(row.integer(1)),
                fromPresented: row.optionalInteger(2).map { resolved.subtractingBounded($0) })
        }
    }
}
