import AlertCore
import SQL
import TextFormats

/// The position of a response in the history.
package struct HistoryPosition: TableRow, Sendable {
    /// When the alert was resolved, in milliseconds since 1970.
    package let resolved: Int64
    /// The entry of the log that tells of it.
    package let sequence: Int64

    package static let columns = "resolved_ms, resolved_seq"

    package init(resolved: Int64, sequence: Int64) {
        (self.resolved, self.sequence) = (resolved, sequence)
    }

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        self.init(resolved: row.integer(at: 0), sequence: row.integer(at: 1))
    }
}

/// A response that was found in the history, of which nothing else has been read.
package struct FoundResponse: TableRow, Sendable {
    package let id: Alert.ID
    package let position: HistoryPosition

    package static let columns = "\(HistoryPosition.columns), id"

    package init(_ id: Alert.ID, at position: HistoryPosition) {
        (self.id, self.position) = (id, position)
    }

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        self.init(row.integer(at: 2), at: HistoryPosition(row))
    }
}

/// What one look at the history has found.
package struct HistoryLook: Sendable {
    package var records: [AlertRecord] = []
    /// The alerts that were found, including those whose records can't be read.
    package var ids: [Alert.ID] = []
    /// Where another look has to go on, if this one has not found enough; `nil` at the end.
    package var next: HistoryPosition?

    package init(
        _ records: [AlertRecord] = [], of ids: [Alert.ID] = [], next: HistoryPosition? = nil
    ) {
        (self.records, self.ids, self.next) = (records, ids, next)
    }
}

extension Query {
    fileprivate func historyPosition(of id: Alert.ID) -> Statement {
        self(Self.historyPosition, .integer(id))
    }

    private static let historyPosition = SQLText { sql in
        """
        SELECT \(HistoryPosition.columns) FROM alerts\(sql.notIndexed)
        WHERE \(sql.own("alerts"))id = $2 AND outcome IS NOT NULL
        """
    }
}

extension TableStore {
    /// Returns responses, newest first, after that of an alert.
    ///
    /// A look is a transaction, or a statement, and short: it examines a limited number of rows.
    ///
    /// - Throws: ``AlertError/cancelled(_:)`` when the task is cancelled,
    ///   ``AlertError/notFound(_:)`` if the alert after which to go on has no response.
    nonisolated(nonsending) func responses(
        _ filter: HistoryFilter, limit: Int, after: Alert.ID?
    ) async throws(AlertError) -> RecordPage {
        let text = try filter.searchText
        var position: HistoryPosition?
        if let after {
            position = try await read("read the history") { tables in
                let statement = tables.query.historyPosition(of: after)
                let found = try tables.first(statement, as: HistoryPosition.self)
                guard let found else { throw AlertError.notFound(after) }
                return found
            }
        }
        let beginning = position?.sequence
        var (records, ids): ([AlertRecord], [Alert.ID]) = ([], [])
        while true {
            guard !Task.isCancelled else { throw .cancelled("the search") }
            let (last, rest) = (position, limit - records.count)
            let look = try await read("read the history") { tables in
                try tables.history(
                    filter, text, after: last, isFirst: last?.sequence == beginning, limit: rest)
            }
            records += look.records
            ids += look.ids
            guard let next = look.next, records.count < limit else { break }
            position = next
        }
        var page = RecordPage(
            records: records, next: records.last?.id ?? after, isEnd: records.count < limit)
        page.ids = ids
        return page
    }
}
