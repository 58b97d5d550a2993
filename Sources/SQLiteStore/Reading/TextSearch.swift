import AlertCore
import AlertTables
import SQLite
import TextFormats

/// One look for responses whose alerts contain some words, newest first.
///
/// It reads the search index, and the texts of the newest responses, which are not yet in it. They
/// come in the order of the log.
struct TextSearch {
    let db: Database
    let text: SearchText
    let filter: HistoryFilter
    let limit: Int

    /// Looks before a response, or from the newest.
    func look(before last: HistoryPosition?) throws -> HistoryWalk.Look {
        let (upkeep, last) = (try db.upkeep(), last?.sequence ?? .max)
        let end = upkeep.indexed.addingBounded(1)
        var look = HistoryWalk.Look()
        var next = last
        if last > end {
            look = try unindexed(from: end, before: last)
            guard look.next == nil, look.found.count < limit else { return look }
            next = end
        }
        let older = try usingTextIndex {
            let range = try sequences(upkeep, before: next)
            return range.isEmpty
                ? HistoryWalk.Look() : try matches(range, limit - look.found.count)
        }
        look.found += older.found
        look.next = older.next
        return look
    }

    /// The entries whose indexed responses may have the filter's times: they have the order of
    /// time, except where the clock was set back.
    private func sequences(_ upkeep: Upkeep, before last: Int64) throws -> Range<Int64> {
        var (low, high) = (Int64(0), last)
        var walk = HistoryWalk(db: db, HistoryFilter())
        walk.lastSequence = upkeep.indexed
        if let since = filter.since.map(Timestamp.milliseconds) {
            walk.until = since.subtractingBounded(upkeep.disorder)
            let earlier = try walk.look(after: nil, limit: 1).found.first
            low = max(low, (earlier?.position.sequence ?? 0).addingBounded(1))
        }
        if let until = filter.until.map(Timestamp.milliseconds) {
            (walk.since, walk.until) = (until.addingBounded(upkeep.disorder), nil)
            walk.isNewestFirst = false
            let later = try walk.look(after: nil, limit: 1).found.first
            high = min(high, later?.position.sequence ?? high)
        }
        return low..<max(low, high)
    }

    /// The columns after those of the text, of which a look into the index has none.
    private enum Column: Int, ColumnList {
        case id, resolvedMs, resolvedSeq, isAdmitted

        static let offset = SearchableText.Column.end
        static let place = "alerts.id, resolved_ms, resolved_seq"
    }

    /// Looks into the search index, whose rows are numbered as the entries of the log; an entry
    /// leads to its alert.
    private func matches(_ range: Range<Int64>, _ limit: Int) throws -> HistoryWalk.Look {
        var values = NumberedValues()
        let isAdmitted = condition(&values)
        return try db.look(
            limit,
            """
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, \(Column.place), \(isAdmitted) FROM text_index
            CROSS JOIN alerts NOT INDEXED ON alerts.id =
                (SELECT alert_id FROM audit NOT INDEXED WHERE seq = text_index.rowid)
            WHERE text_index MATCH \(values.add(.text(text.expression)))
                AND text_index.rowid >= \(values.add(.integer(range.lowerBound)))
                AND text_index.rowid < \(values.add(.integer(range.upperBound)))
                AND resolved_seq = text_index.rowid
            ORDER BY text_index.rowid DESC
            """, values
        ) { (Self.found($0), $0.integer(Column.isAdmitted) == 1) }
    }

    private func unindexed(from end: Int64, before last: Int64) throws -> HistoryWalk.Look {
        var values = NumberedValues()
        let isAdmitted = condition(&values)
        return try db.look(
            limit,
            """
            SELECT \(SearchableText.Column.list), \(Column.place), \(isAdmitted)
            FROM (SELECT seq, alert_id FROM audit NOT INDEXED WHERE event = 'resolved') AS entry
            CROSS JOIN alerts NOT INDEXED ON alerts.id = entry.alert_id
            WHERE seq >= \(values.add(.integer(end))) AND seq < \(values.add(.integer(last)))
                AND resolved_seq = seq AND salt IS NOT NULL
            ORDER BY seq DESC
            """, values
        ) { row in
            let isAdmitted = row.integer(Column.isAdmitted) == 1
            return (Self.found(row), isAdmitted && text.matches(SearchableText(row)))
        }
    }

    /// The filter's conditions, those on times included.
    private func condition(_ values: inout NumberedValues) -> String {
        var condition = filter.condition(&values, .sqlite)
        if let since = filter.since.map(Timestamp.milliseconds) {
            condition += " AND resolved_ms >= \(values.add(.integer(since)))"
        }
        if let until = filter.until.map(Timestamp.milliseconds) {
            condition += " AND resolved_ms < \(values.add(.integer(until)))"
        }
        return condition
    }

    private static func found(_ row: borrowing Row) -> FoundResponse {
        FoundResponse(
            row.integer(Column.id),
            at: HistoryPosition(
                resolved: row.integer(Column.resolvedMs),
                sequence: row.integer(Column.resolvedSeq)))
    }
}

extension SearchText {
    /// The search as FTS5 reads it: every term as a quoted string, nothing as syntax. See
    /// <https://sqlite.org/fts5.html#full_text_query_syntax>.
    fileprivate var expression: String {
        terms.map { "\"\($0.pattern)\"" + ($0.isPrefix ? " *" : "") }.joined(separator: " AND ")
    }
}
