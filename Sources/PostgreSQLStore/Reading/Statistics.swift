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
        try visit(
            Statement(
                """
                SELECT \(StatisticsTally.Group.list)
                FROM alerts JOIN sources ON sources.id = alerts.source_id
                WHERE \(Self.condition) GROUP BY \(StatisticsTally.Group.common)
                """, values)
        ) { row in
            tally.addGroup(row)
            return true
        }
        try visit(
            Statement(
                """
                SELECT \(StatisticsTally.Answer.list) FROM alerts
                JOIN sources ON sources.id = alerts.source_id
                WHERE \(Self.condition) AND \(StatisticsTally.isByPerson)
                """, values)
        ) { row in
            tally.addAnswer(row)
            return true
        }
        let total = try first("SELECT count(*) FROM alerts WHERE queue = $1", queue) {
            Int($0.integer())
        }
        return (tally.statistics, total ?? 0)
    }
}
