import AlertCore
import FoundationEssentials
import SQL
import TextFormats

// The alerts are counted in pages of their ids, so that transactions stay short.
extension Query {
    fileprivate var lastAlert: Statement { self(Self.lastAlert) }

    private static let lastAlert = SQLText { sql in
        "SELECT coalesce(max(id), 0) FROM alerts WHERE \(sql.own("alerts"))true"
    }

    fileprivate func alert(after id: Alert.ID) -> Statement { self(Self.alertAfter, .integer(id)) }

    private static let alertAfter = SQLText { sql in
        "SELECT id FROM alerts WHERE \(sql.own("alerts"))id > $2 ORDER BY id LIMIT 1"
    }

    /// The alerts of a page in groups, for ``StatisticsTally/Group``.
    fileprivate func groups(_ query: StatisticsQuery, _ ids: Range<Alert.ID>) -> Statement {
        self(Self.groups, Self.values(query, ids))
    }

    private static let groups = SQLText { sql in
        """
        SELECT \(StatisticsTally.Group.list) \(counted(sql))
        GROUP BY \(StatisticsTally.Group.common)
        """
    }

    /// The answers of a page, for ``StatisticsTally/Answer``.
    fileprivate func answers(_ query: StatisticsQuery, _ ids: Range<Alert.ID>) -> Statement {
        self(Self.answers, Self.values(query, ids))
    }

    private static let answers = SQLText { sql in
        """
        SELECT \(StatisticsTally.Answer.list) \(counted(sql)) AND \(StatisticsTally.isByPerson)
        """
    }

    /// The alerts of a page by the time of asking, for ``StatisticsTally/Quarter``.
    fileprivate func quarters(
        _ query: StatisticsQuery, _ ids: Range<Alert.ID>, in period: Range<Int64>
    ) -> Statement {
        let bounds: [Value] = [.integer(period.lowerBound), .integer(period.upperBound)]
        return self(Self.quarters, Self.values(query, ids) + bounds)
    }

    private static let quarters = SQLText { sql in
        """
        SELECT \(StatisticsTally.Quarter.list) \(counted(sql))
            AND asked_ms >= $7 AND asked_ms < $8
        GROUP BY \(StatisticsTally.Quarter.common)
        """
    }

    private static func counted(_ sql: SQLDialect) -> String {
        """
        FROM alerts CROSS JOIN sources
        WHERE \(sql.own("alerts"))sources.id = alerts.source_id
            AND alerts.id > $2 AND alerts.id <= $3 AND ($4::text IS NULL OR sources.name = $4)
            AND ($5::bigint IS NULL OR asked_ms >= $5) AND ($6::bigint IS NULL OR asked_ms < $6)
        """
    }

    private static func values(_ query: StatisticsQuery, _ ids: Range<Alert.ID>) -> [Value] {
        [
            .integer(ids.lowerBound), .integer(ids.upperBound), .optional(query.source),
            .optional(query.since.map(Timestamp.milliseconds)),
            .optional(query.until.map(Timestamp.milliseconds)),
        ]
    }
}

private struct Groups: RowCollector {
    var tally: StatisticsTally

    mutating func add(_ row: borrowing some SQLRow & ~Copyable) { tally.addGroup(row) }
}

private struct Quarters: RowCollector {
    var tally: StatisticsTally

    mutating func add(_ row: borrowing some SQLRow & ~Copyable) { tally.addQuarter(row) }
}

private struct Answers: RowCollector {
    var tally: StatisticsTally

    mutating func add(_ row: borrowing some SQLRow & ~Copyable) { tally.addAnswer(row) }
}

extension TableStore {
    package nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        let last = try await read("count the alerts") {
            try $0.first($0.query.lastAlert, as: Alert.ID.self) ?? 0
        }
        var tally = StatisticsTally(query)
        var position: Alert.ID = 0
        while position < last {
            guard !Task.isCancelled else { throw .cancelled("the count") }
            let ids = position..<min(last, position.addingBounded(20_000))
            let before = tally
            (tally, position) = try await read("count the alerts") { tables in
                var groups = Groups(tally: before)
                try tables.collect(tables.query.groups(query, ids), into: &groups)
                var quarters = Quarters(tally: groups.tally)
                if let period = before.period {
                    try tables.collect(
                        tables.query.quarters(query, ids, in: period), into: &quarters)
                }
                var answers = Answers(tally: quarters.tally)
                try tables.collect(tables.query.answers(query, ids), into: &answers)
                // Ids may be far apart if a backup was restored or a queue has moved.
                let next: Alert.ID? = try tables.first(
                    tables.query.alert(after: ids.upperBound))
                return (answers.tally, next.map { $0 - 1 } ?? last)
            }
            progress(Int(position), Int(last))
        }
        return tally.statistics
    }
}
