import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import TextFormats

/// A walk through the responses that meet a filter, in the order of their times.
///
/// It merges ranges of an index that end in the time: outcomes, sources and responders have one.
/// The other conditions are checked row by row. So that transactions stay short, one look examines
/// a limited number of rows, and another one goes on from there.
struct HistoryWalk {
    /// How many rows one look examines at most.
    static let lookLength = 20_000
    let db: Database
    let filter: HistoryFilter
    /// How many sources a filter may have for the ranges of each to be merged; the responses to
    /// more are found among all.
    var sourceLimit = 100
    /// How many uncollected responses are read to be sorted; more are found among all.
    var uncollectedLimit = 20_000
    /// Whether the newest come first.
    var isNewestFirst = true
    /// The earliest time, inclusive, and the latest, exclusive.
    var since: Int64?
    var until: Int64?
    /// The last entry of the log whose response counts.
    var lastSequence: Int64?

    /// What one look has found.
    struct Look: Sendable {
        var found: [FoundResponse] = []
        /// Where another look has to go on, if this one has not found enough; `nil` at the end.
        var next: HistoryPosition?
    }

    init(db: Database, _ filter: HistoryFilter) {
        self.db = db
        self.filter = filter
        since = filter.since.map(Timestamp.milliseconds)
        until = filter.until.map(Timestamp.milliseconds)
    }

    /// Looks for responses after a position, or from the first.
    func look(after last: HistoryPosition?, limit: Int) throws -> Look {
        var values = NumberedValues()
        var rest = filter
        let ranges = try ranges(&values, leaving: &rest)
        guard !ranges.isEmpty else { return Look() }
        let (order, place) = (isNewestFirst ? "DESC" : "ASC", place(after: last, &values))
        let isAdmitted = rest.condition(&values, .sqlite)
        let selections = ranges.map { index, range in
            """
            SELECT \(FoundResponse.columns), \(isAdmitted) FROM alerts INDEXED BY \(index)
            WHERE outcome IS NOT NULL AND \(range)\(place)
            """
        }
        return try db.look(
            limit,
            """
            \(selections.joined(separator: "\nUNION ALL\n"))
            ORDER BY resolved_ms \(order), resolved_seq \(order)
            """, values
        ) { row in
            (FoundResponse(row), isFound: row.integer(at: 3) == 1)
        }
    }

    /// The conditions that bound each range.
    private func place(after last: HistoryPosition?, _ values: inout NumberedValues) -> String {
        var place = ""
        var (low, high) = (since, until)
        // Only one bound on each side: of two, SQLite may search by the wider one.
        let isInside = { (last: HistoryPosition) in
            isNewestFirst
                ? high.map { last.resolved < $0 } ?? true : low.map { last.resolved >= $0 } ?? true
        }
        if let last, isInside(last) {
            if isNewestFirst { high = nil } else { low = nil }
            place +=
                " AND (\(HistoryPosition.columns)) \(isNewestFirst ? "<" : ">")"
                + " (\(values.add(.integer(last.resolved))), \(values.add(.integer(last.sequence))))"
        }
        if let low { place += " AND resolved_ms >= \(values.add(.integer(low)))" }
        if let high { place += " AND resolved_ms < \(values.add(.integer(high)))" }
        if let lastSequence {
            place += " AND resolved_seq <= \(values.add(.integer(lastSequence)))"
        }
        return place
    }

    /// The ranges in which all responses of the filter are, and few others, each with its index.
    ///
    /// - Parameter rest: Loses the conditions on the source that the ranges fulfil: each range would
    ///   look for the sources again.
    private func ranges(
        _ values: inout NumberedValues, leaving rest: inout HistoryFilter
    ) throws -> [(index: String, condition: String)] {
        // A key belongs to few responses, no matter what the other conditions are.
        if let key = filter.key { return [("alerts_key", "key = \(values.add(.text(key)))")] }
        if filter.uncollected, try db.hasFewUncollected(atMost: uncollectedLimit) {
            return [("alerts_uncollected", "collected_ms IS NULL")]
        }
        let outcomes = (filter.outcome.map { [$0] } ?? Outcome.allCases).map {
            "outcome = '\($0.rawValue)'"
        }
        let user = filter.user.map { "responder_name = \(values.add(.text($0)))" }
        if let sources = try sources() {
            (rest.source, rest.asker) = (nil, nil)
            return sources.flatMap { source in
                let source = "source_id = \(values.add(.integer(source)))"
                return user.map { [("alerts_source_responder", "\(source) AND \($0)")] }
                    ?? outcomes.map { ("alerts_source_outcome", "\(source) AND \($0)") }
            }
        }
        return user.map { [("alerts_responder", $0)] } ?? outcomes.map { ("alerts_outcome", $0) }
    }

    /// The numbers of the filter's sources; `nil` if it has none, or too many.
    private func sources() throws -> [Int64]? {
        var values = NumberedValues()
        guard let query = filter.sources(&values, .sqlite) else { return nil }
        let sources = try db.rows(
            "\(query) ORDER BY id LIMIT \(sourceLimit + 1)", values.all
        ) { $0.integer() }
        return sources.count > sourceLimit ? nil : sources
    }
}

extension Database {
    package func history(
        _ filter: HistoryFilter, _ text: SearchText?, after last: HistoryPosition?, isFirst: Bool,
        limit: Int
    ) throws -> HistoryLook {
        let look =
            try text.map { text in
                try TextSearch(db: self, text: text, filter: filter, limit: limit)
                    .look(before: last)
            } ?? HistoryWalk(db: self, filter).look(after: last, limit: limit)
        let ids = look.found.map(\.id)
        return HistoryLook(try comparedAlerts(ids), of: ids, next: look.next)
    }

    /// Whether no more responses than a limit are not collected.
    fileprivate func hasFewUncollected(atMost limit: Int) throws -> Bool {
        let count = try first(
            """
            SELECT count(*) FROM (SELECT 1 FROM alerts INDEXED BY alerts_uncollected
                WHERE outcome IS NOT NULL AND collected_ms IS NULL LIMIT ?)
            """, .integer(limit + 1)
        ) { Int($0.integer()) }
        return count.map { $0 <= limit } ?? true
    }

    /// Examines the rows of a query until enough are found.
    ///
    /// - Parameter read: Reads a row's response, and whether it is one to be found.
    func look(
        _ limit: Int, _ sql: String, _ values: NumberedValues,
        read: (borrowing Row) throws -> (FoundResponse, isFound: Bool)
    ) throws -> HistoryWalk.Look {
        var (look, examined) = (HistoryWalk.Look(), 0)
        try visit(sql, values.all) { row in
            let (response, isFound) = try read(row)
            if isFound { look.found.append(response) }
            examined += 1
            guard look.found.count < limit, examined < HistoryWalk.lookLength else {
                look.next = response.position
                return false
            }
            return true
        }
        return look
    }
}
