import AlertCore
import AlertTables
import FoundationEssentials
import PostgreSQL
import TextFormats

enum History {
    /// How many rows one statement examines at most where no index leads to those of a filter.
    static let examined = 20_000
    /// How many candidates of a search are compared with its text at once, if those of the first
    /// look were not enough.
    static let compared = 200

    struct Position: Sendable {
        let resolved: Int64
        let sequence: Int64
    }

    /// The next responses of a filter; `next` is where another look has to go on.
    struct Look: Sendable {
        var records: [AlertRecord] = []
        var next: Position?
    }
}

extension PostgreSQLAlertStore {
    /// Returns responses, newest first, after that of an alert.
    package nonisolated(nonsending) func history(
        _ filter: HistoryFilter, limit: Int, after: Alert.ID?
    ) async throws(AlertError) -> [AlertRecord] {
        let text = try filter.searchText
        var position: History.Position?
        if let after {
            position = try await read("read the history") { db, queue in
                let found = try db.first(
                    """
                    SELECT resolved_ms, resolved_seq FROM alerts
                    WHERE queue = $1 AND id = $2 AND outcome IS NOT NULL
                    """, queue, .integer(after)
                ) { History.Position(resolved: $0.integer(at: 0), sequence: $0.integer(at: 1)) }
                guard let found else { throw AlertError.notFound(after) }
                return found
            }
        }
        let beginning = position?.sequence
        var records: [AlertRecord] = []
        while true {
            guard !Task.isCancelled else { throw .cancelled("the search") }
            let (start, rest) = (position, limit - records.count)
            let isFirst = position?.sequence == beginning
            let count = text == nil || isFirst ? rest : History.compared
            let look = try await read("read the history") { db, queue in
                try db.look(
                    queue, filter, text, after: start, limit: rest, candidates: count)
            }
            records += look.records
            guard let next = look.next, records.count < limit else { return records }
            position = next
        }
    }
}

extension Connection {
    fileprivate func look(
        _ queue: Value, _ filter: HistoryFilter, _ text: SearchText?,
        after last: History.Position?, limit: Int, candidates count: Int
    ) throws -> History.Look {
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
        let rows = "FROM alerts WHERE \(conditions.joined(separator: " AND "))"
        // The last values are those of conditions for which rows are examined one by one.
        var all = values
        let conditionsOfRows = filter.otherConditions(&all, .postgreSQL)
        let isAdmitted = (["true"] + conditionsOfRows).joined(separator: " AND ")
        let (bound, columns) =
            conditionsOfRows.isEmpty
            ? (count, "alerts.id, resolved_ms, resolved_seq") : (History.examined, "alerts.*")
        // Each source has its own order in the index: the newest rows of each are merged.
        let candidates =
            sources.map { sources in
                """
                FROM (\(sources)) AS asking CROSS JOIN LATERAL (SELECT * \(rows)
                    AND source_id = asking.id
                    \(order) LIMIT \(bound)) AS alerts \(order)
                """
            } ?? "\(rows) \(order)"
        // A plan for any words would fetch all alerts of a frequent one, or go through those of
        // the queue for a rare one.
        let isPlannedForValues = text != nil
        let end = Statement(
            "SELECT resolved_ms, resolved_seq \(candidates) "
                + "OFFSET \(History.examined - 1) LIMIT 1", values.all,
            isPlannedForValues: isPlannedForValues)
        let page = try run(
            Statement(
                """
                SELECT id, resolved_ms, resolved_seq
                FROM (SELECT \(columns) \(candidates) LIMIT \(bound)) AS alerts
                WHERE \(isAdmitted) \(order) LIMIT \(count)
                """, all.all, isPlannedForValues: isPlannedForValues)
        ).rows { row in
            (
                id: row.integer(at: 0),
                position: History.Position(
                    resolved: row.integer(at: 1), sequence: row.integer(at: 2))
            )
        }
        let found = Dictionary(
            try ServerTables(self, queue).comparedAlerts(page.map(\.id)).map { ($0.id, $0) },
            uniquingKeysWith: { $1 })
        var look = History.Look()
        for row in page {
            guard let record = found[row.id], text?.matches(record) ?? true else { continue }
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
            look.next = try run(end).first {
                History.Position(resolved: $0.integer(at: 0), sequence: $0.integer(at: 1))
            }
        }
        return look
    }
}
