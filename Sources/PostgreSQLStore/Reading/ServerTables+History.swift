import AlertCore
import AlertTables
import FoundationEssentials
import PostgreSQL
import TextFormats

extension ServerTables {
    /// How many rows one statement examines at most where no index leads to those of a filter.
    private static let examined = 20_000
    /// How many candidates of a search are compared with its text at once, if those of the first
    /// look were not enough.
    private static let compared = 200

    package func history(
        _ filter: HistoryFilter, _ text: SearchText?, after last: HistoryPosition?, isFirst: Bool,
        limit: Int
    ) throws -> HistoryLook {
        let count = text == nil || isFirst ? limit : Self.compared
        var values = NumberedValues([queue])
        let sources = filter.sources(&values, .postgreSQL)
        var conditions =
            ["queue = $1", "outcome IS NOT NULL"] + filter.indexedConditions(&values)
        if let since = filter.since.map(Timestamp.milliseconds) {
            conditions.append("resolved_ms >= \(values.add(.integer(since)))")
        }
        if let until = filter.until.map(Timestamp.milliseconds) {
            conditions.append("resolved_ms < \(values.add(.integer(until)))")
        }
        if let last {
            let sequence = values.add(.integer(last.sequence))
            conditions.append(
                text == nil
                    ? "(resolved_ms, resolved_seq) < "
                        + "(\(values.add(.integer(last.resolved))), \(sequence))"
                    : "resolved_seq < \(sequence)")
        }
        // The words of what is found are compared as well.
        if let text {
            let words = values.add(.text(SearchLexemes.query(text)))
            conditions.append("words @@ \(words)::tsquery")
        }
        // What is found by its words comes in the order of the log, as from a file.
        let order = "ORDER BY \(text == nil ? "resolved_ms DESC, " : "")resolved_seq DESC"
        let selected = "FROM alerts WHERE \(conditions.joined(separator: " AND "))"
        // The last values are those of conditions for which rows are examined one by one.
        var all = values
        let conditionsOfRows = filter.otherConditions(&all, .postgreSQL)
        let isAdmitted = (["true"] + conditionsOfRows).joined(separator: " AND ")
        let (bound, columns) =
            conditionsOfRows.isEmpty
            ? (count, "alerts.id, \(HistoryPosition.columns)") : (Self.examined, "alerts.*")
        // Each source has its own order in the index: the newest rows of each are merged.
        let candidates =
            sources.map { sources in
                """
                FROM (\(sources)) AS asking CROSS JOIN LATERAL (SELECT * \(selected)
                    AND source_id = asking.id
                    \(order) LIMIT \(bound)) AS alerts \(order)
                """
            } ?? "\(selected) \(order)"
        // A plan for any words would fetch all alerts of a frequent one, or go through those of
        // the queue for a rare one.
        let isPlannedForValues = text != nil
        let end = Statement(
            "SELECT \(HistoryPosition.columns) \(candidates) "
                + "OFFSET \(Self.examined - 1) LIMIT 1", values.all,
            isPlannedForValues: isPlannedForValues)
        let page: [FoundResponse] = try rows(
            Statement(
                """
                SELECT \(FoundResponse.columns)
                FROM (SELECT \(columns) \(candidates) LIMIT \(bound)) AS alerts
                WHERE \(isAdmitted) \(order) LIMIT \(count)
                """, all.all, isPlannedForValues: isPlannedForValues))
        let found = Dictionary(
            try comparedAlerts(page.map(\.id)).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        var look = HistoryLook()
        for row in page {
            let record = found[row.id]
            if let record, text?.matches(record) == false { continue }
            look.ids.append(row.id)
            guard let record else { continue }
            look.records.append(record)
            if look.records.count == limit {
                look.next = row.position
                return look
            }
        }
        // Rows are examined one by one for some conditions, and a statement ends after a while.
        if page.count == count {
            look.next = page.last?.position
        } else if isAdmitted != "true" {
            look.next = try first(end)
        }
        return look
    }
}
