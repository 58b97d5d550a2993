import AlertCore
import FoundationEssentials
import SQLite

extension SQLiteAlertStore {
    /// Returns responses, newest first, after that of an alert.
    nonisolated(nonsending) func readHistory(
        _ filter: HistoryFilter, limit: Int, after: Alert.ID?
    ) async throws(AlertError) -> [AlertRecord] {
        await sweepForReading()
        let text = try filter.text.map { text throws(AlertError) in try SearchText(text) }
        if text != nil { try await completeTextIndex() }
        return try await read("read the history") { db in
            let last = try after.map { id in
                guard let position = try db.historyPosition(of: id) else {
                    throw AlertError.notFound(id)
                }
                return position
            }
            let sequences =
                if let text {
                    try TextSearch(db: db, text: text, filter: filter, limit: limit)
                        .page(before: last?.sequence)
                } else {
                    try db.historyPositions(filter, after: last, limit: limit).map(\.sequence)
                }
            return try sequences.compactMap { sequence in
                try db.first(resolvedAlert, .integer(sequence)) { try AlertRow($0).record }
            }
        }
    }

    /// Updates the search index, as far as that can be done now; a search reads the rest.
    private nonisolated(nonsending) func completeTextIndex() async throws(AlertError) {
        do throws(AlertError) {
            try await indexTexts { _, _ in }
        } catch {
            if Task.isCancelled { throw error }
        }
    }
}

private let resolvedAlert = """
    SELECT \(AlertRow.columns) FROM responses
    CROSS JOIN alerts ON alerts.id = responses.alert_id
    CROSS JOIN sources ON sources.id = alerts.source_id WHERE seq = ?
    """

/// The position of a response in the history.
private struct HistoryPosition {
    let resolved: Int64
    let sequence: Int64

    enum Column: Int, ColumnList { case resolvedMs, seq }

    static let columns = Column.list

    init(_ row: borrowing Row) {
        resolved = row.integer(Column.resolvedMs)
        sequence = row.integer(Column.seq)
    }

    /// Newest first.
    func comes(before other: HistoryPosition) -> Bool {
        (resolved, sequence) > (other.resolved, other.sequence)
    }
}

extension Database {
    fileprivate func historyPosition(of id: Alert.ID) throws -> HistoryPosition? {
        try first(
            "SELECT \(HistoryPosition.columns) FROM responses WHERE alert_id = ?", .integer(id)
        ) { HistoryPosition($0) }
    }

    /// The newest responses that match a filter.
    ///
    /// Indexes end in the outcome, in who decided and in the time, because the former two have few
    /// values: if a filter leaves them open, the newest of each kind are read and merged.
    ///
    /// Gain: the pages take a sixth of the CPU time (`alertq-bench history --alerts 100000`;
    /// against one query that sorts what it finds).
    fileprivate func historyPositions(
        _ filter: HistoryFilter, after: HistoryPosition?, limit: Int
    ) throws -> [HistoryPosition] {
        var query = HistoryQuery(filter, after: after)
        guard query.isByKind else { return try positions(query, limit, before: nil) }
        var newest: [HistoryPosition] = []
        for (outcome, by) in filter.kinds {
            query.setKind(outcome, by)
            // Of later kinds, only rows that are newer than a full page's last row count.
            let last = newest.count == limit ? newest.last : nil
            let more = try positions(query, limit, before: last)
            guard !more.isEmpty else { continue }
            newest = Array((newest + more).sorted { $0.comes(before: $1) }.prefix(limit))
        }
        return newest
    }

    /// The positions of all responses in a range that match a filter, newest first; `nil` if more
    /// than `limit` of them must be examined for that.
    func historySequences(
        _ filter: HistoryFilter, in range: Range<Int64>, atMost limit: Int
    ) throws -> [Int64]? {
        var query = HistoryQuery(filter, after: nil)
        var (found, left) = ([Int64](), limit)
        for (outcome, by) in query.isByKind ? filter.kinds : [(.answered, .person)] {
            if query.isByKind { query.setKind(outcome, by) }
            let positions = try positions(query, left + 1, before: nil)
            left -= positions.count
            guard left >= 0 else { return nil }
            found += positions.map(\.sequence).filter(range.contains)
        }
        return found.sorted(by: >)
    }

    /// The newest responses that a query finds, down to a position that has already been found.
    private func positions(
        _ query: HistoryQuery, _ limit: Int, before last: HistoryPosition?
    ) throws -> [HistoryPosition] {
        var positions: [HistoryPosition] = []
        try visit(
            """
            SELECT \(HistoryPosition.columns) FROM responses INDEXED BY \(query.index)
            \(query.clause) ORDER BY resolved_ms DESC, seq DESC LIMIT ?
            """, query.values + [.integer(limit)]
        ) { row in
            let position = HistoryPosition(row)
            if let last, !position.comes(before: last) { return false }
            positions.append(position)
            return true
        }
        return positions
    }
}

extension HistoryFilter {
    /// The combinations of outcome and decider that the filter leaves open.
    fileprivate var kinds: [(Outcome, ResolvedBy)] {
        let outcomes = outcome.map { [$0] } ?? Outcome.allCases
        let resolvers = by.map { [$0] } ?? ResolvedBy.allCases
        return outcomes.flatMap { outcome in resolvers.map { (outcome, $0) } }
    }
}

/// A query for positions in the history, with its index and its bound values.
private struct HistoryQuery {
    let index: String
    /// Whether it finds one kind at a time.
    let isByKind: Bool
    private var conditions: [String] = []
    private(set) var values: [Value] = []

    var clause: String {
        conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    }

    init(_ filter: HistoryFilter, after: HistoryPosition?) {
        index = Self.index(for: filter)
        isByKind = index.hasSuffix("_kind")
        if isByKind {
            add("outcome = ?", .null)
            add("resolved_by = ?", .null)
        } else {
            if let outcome = filter.outcome { add("outcome = ?", .text(outcome.rawValue)) }
            if let by = filter.by { add("resolved_by = ?", .text(by.rawValue)) }
        }
        if let key = filter.key { add("key = ?", .text(key)) }
        if let source = filter.source { add("source = ?", .text(source)) }
        if let button = filter.button { add("button = ?", .text(button)) }
        if let user = filter.user { add("user = ?", .text(user)) }
        if let via = filter.via { add("via = ?", .text(via)) }
        if filter.uncollected { conditions.append("collected_ms IS NULL") }
        if let since = filter.since {
            add("resolved_ms >= ?", .integer(Timestamp.milliseconds(since)))
        }
        // Only one upper bound: of two, SQLite may search by the wider one.
        let until = filter.until.map(Timestamp.milliseconds)
        if let after, after.resolved < until ?? .max {
            add("(resolved_ms, seq) < (?, ?)", .integer(after.resolved), .integer(after.sequence))
        } else if let until {
            add("resolved_ms < ?", .integer(until))
        }
    }

    mutating func setKind(_ outcome: Outcome, _ by: ResolvedBy) {
        values[0] = .text(outcome.rawValue)
        values[1] = .text(by.rawValue)
    }

    private mutating func add(_ condition: String, _ values: Value...) {
        conditions.append(condition)
        self.values += values
    }

    /// The index that finds the rows of a filter, and few others.
    private static func index(for filter: HistoryFilter) -> String {
        // A key belongs to few responses, whatever the other conditions are.
        if filter.key != nil { return "responses_key" }
        switch (filter.source != nil, filter.button != nil, filter.uncollected) {
        case (true, true, _): return "responses_source_button_kind"
        case (true, false, true): return "responses_uncollected_source_kind"
        case (true, false, false): return "responses_source_kind"
        case (false, true, true): return "responses_uncollected_button_kind"
        case (false, true, false): return "responses_button_kind"
        case (false, false, true): return "responses_uncollected_kind"
        case (false, false, false):
            let isOpen = filter.outcome == nil && filter.by == nil
            return isOpen ? "responses_time" : "responses_kind"
        }
    }
}
