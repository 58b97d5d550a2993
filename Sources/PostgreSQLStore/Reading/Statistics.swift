#if PostgreSQL
    import AlertCore
    import AlertTables
    import FoundationEssentials
    import PostgreSQL
    import TextFormats

    extension PostgreSQLAlertStore {
        package nonisolated(nonsending) func statistics(
            _ query: StatisticsQuery, _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
        ) async throws(AlertError) -> AlertStatistics {
            let (statistics, total) = try await readAside("count the alerts") { db, queue in
                try db.reading { try db.statistics(query, queue) }
            }
            if total > 0 { progress(total, total) }
            return statistics
        }
    }

    extension Connection {
        private static let condition = """
            alerts.queue = $1 AND ($2::text IS NULL OR sources.name = $2)
                AND ($3::bigint IS NULL OR asked_ms >= $3)
                AND ($4::bigint IS NULL OR asked_ms < $4)
            """

        fileprivate func statistics(
            _ query: StatisticsQuery, _ queue: Value
        ) throws -> (AlertStatistics, total: Int) {
            var tally = StatisticsTally()
            let values: [Value] = [
                queue, .optional(query.source),
                .optional(query.since.map(Timestamp.milliseconds)),
                .optional(query.until.map(Timestamp.milliseconds)),
            ]
            let groups = try run(
                Statement(
                    """
                    SELECT sources.name, outcome, button_index,
                        CASE WHEN button_index >= 0 THEN buttons END,
                        (presented_ms IS NULL)::int, count(*),
                        count(*) FILTER (WHERE outcome IS NOT NULL AND collected_ms IS NULL),
                        min(asked_ms)
                    FROM alerts JOIN sources ON sources.id = alerts.source_id
                    WHERE \(Self.condition) GROUP BY 1, 2, 3, 4, 5
                    """, values))
            for group in groups.rows({ Group($0) }) {
                tally.addAlerts(
                    group.count, of: group.source, group.outcome, isUnseen: group.isUnseen,
                    uncollected: group.uncollected, firstAsked: group.firstAsked)
                guard let buttons = group.buttons, let outcome = group.outcome else { continue }
                tally.addChoices(
                    group.count,
                    of: StoredJSON.buttonID(at: group.button, in: buttons) ?? "#\(group.button)",
                    outcome, isUnseen: group.isUnseen)
            }
            // Policies and timers say nothing about people.
            try visit(
                Statement(
                    """
                    SELECT resolved_ms, asked_ms, presented_ms FROM alerts
                    JOIN sources ON sources.id = alerts.source_id
                    WHERE \(Self.condition) AND outcome = 'answered' AND resolved_by = 'person'
                    """, values)
            ) { row in
                let resolved = row.integer(at: 0)
                tally.addAnswer(
                    fromAsked: resolved.subtractingBounded(row.integer(at: 1)),
                    fromPresented: row.isNull(at: 2)
                        ? nil : resolved.subtractingBounded(row.integer(at: 2)))
                return true
            }
            let total = try first("SELECT count(*) FROM alerts WHERE queue = $1", queue) {
                Int($0.integer())
            }
            return (tally.statistics, total ?? 0)
        }
    }

    /// Alerts that have all but the counts in common.
    private struct Group {
        let source: String
        let outcome: Outcome?
        let button: Int
        let buttons: String?
        let isUnseen: Bool
        let count: Int
        let uncollected: Int
        let firstAsked: Int64

        init(_ row: borrowing Row) {
            source = row.optionalText(at: 0) ?? ""
            outcome = row.optionalText(at: 1).flatMap(Outcome.init(rawValue:))
            button = Int(row.integer(at: 2))
            buttons = row.optionalText(at: 3)
            isUnseen = row.integer(at: 4) == 1
            count = Int(row.integer(at: 5))
            uncollected = Int(row.integer(at: 6))
            firstAsked = row.integer(at: 7)
        }
    }
#endif
