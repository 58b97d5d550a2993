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

    /// Alerts that have the first five of these columns in common.
    private enum Group: Int, ColumnList {
        case source, outcome, buttonIndex, buttons, isUnseen, count, uncollected, firstAsked

        var sql: String {
            switch self {
            case .source: "sources.name"
            case .outcome, .buttonIndex: snakeCased
            case .buttons: "iif(button_index >= 0, buttons, NULL)"
            case .isUnseen: "presented_ms IS NULL"
            case .count: "count(*)"
            case .uncollected: "sum(outcome IS NOT NULL AND collected_ms IS NULL)"
            case .firstAsked: "min(asked_ms)"
            }
        }
    }

    private enum Answer: Int, ColumnList { case resolvedMs, askedMs, presentedMs }

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
            SELECT \(Group.list)
            FROM alerts CROSS JOIN sources ON sources.id = alerts.source_id
            WHERE \(Self.condition) GROUP BY 1, 2, 3, 4, 5
            """, values
        ) { row in
            let outcome = row.optionalText(Group.outcome).flatMap(Outcome.init(rawValue:))
            let isUnseen = row.integer(Group.isUnseen) == 1
            let count = Int(row.integer(Group.count))
            tally.addAlerts(
                count, of: row.text(Group.source), outcome, isUnseen: isUnseen,
                uncollected: Int(row.integer(Group.uncollected)),
                firstAsked: row.integer(Group.firstAsked))
            if let buttons = row.optionalText(Group.buttons), let outcome {
                let index = Int(row.integer(Group.buttonIndex))
                tally.addChoices(
                    count, of: StoredJSON.buttonID(at: index, in: buttons) ?? "#\(index)", outcome,
                    isUnseen: isUnseen)
            }
        }
        // Policies and timers say nothing about people.
        try db.forEach(
            """
            SELECT \(Answer.list) FROM alerts
            CROSS JOIN sources ON sources.id = alerts.source_id
            WHERE \(Self.condition) AND outcome = 'answered' AND resolved_by = 'person'
            """, values
        ) { row in
            let resolved = row.integer(Answer.resolvedMs)
            tally.addAnswer(
                fromAsked: resolved.subtractingBounded(row.integer(Answer.askedMs)),
                fromPresented: row.optionalInteger(Answer.presentedMs).map {
                    resolved.subtractingBounded($0)
                })
        }
    }
}
