import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import TextFormats

extension SQLiteAlertStore {
    package nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery,
        _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        let last = try await read("count the alerts") { db in
            try db.first("SELECT max(id) FROM alerts") { $0.integer() } ?? 0
        }
        let query = StatisticsPage(
            source: query.source, since: query.since.map(Timestamp.milliseconds),
            until: query.until.map(Timestamp.milliseconds))
        var tally = StatisticsTally()
        var position: Int64 = 0
        // In short transactions, so that the write-ahead log can be reused in the meantime.
        while position < last {
            guard !Task.isCancelled else { throw .cancelled("the count") }
            let (start, before) = (position, tally)
            let end = min(last, start.addingBounded(StatisticsPage.pageLength))
            (tally, position) = try await read("count the alerts") { db in
                var tally = before
                try query.count(db, after: start, through: end, into: &tally)
                // Ids may be far apart if a backup was restored or the file was tampered with.
                let next = try db.first(
                    "SELECT id FROM alerts WHERE id > ? ORDER BY id LIMIT 1", .integer(end)
                ) { $0.integer() }
                return (tally, next.map { $0 - 1 } ?? last)
            }
            progress(Int(position), Int(last))
        }
        return tally.statistics
    }
}

/// The counts of a page of alerts, in the order of their ids.
private struct StatisticsPage: Sendable {
    /// How many alerts one transaction examines.
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
            SELECT \(StatisticsTally.Group.list)
            FROM alerts CROSS JOIN sources ON sources.id = alerts.source_id
            WHERE \(Self.condition) GROUP BY \(StatisticsTally.Group.common)
            """, values
        ) { tally.addGroup($0) }
        try db.forEach(
            """
            SELECT \(StatisticsTally.Answer.list) FROM alerts
            CROSS JOIN sources ON sources.id = alerts.source_id
            WHERE \(Self.condition) AND \(StatisticsTally.isByPerson)
            """, values
        ) { tally.addAnswer($0) }
    }
}
