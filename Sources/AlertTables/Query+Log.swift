import AlertCore
import SQL
import TextFormats

// Pages of the log, and what a verification compares with it.
extension Query {
    /// Entries with what their alerts' rows add to them, oldest first, for ``EntryRow``.
    ///
    /// - Parameter id: The alert that they are about; `nil` for all.
    fileprivate func page(after sequence: Int64, of id: Alert.ID?, limit: Int) -> Statement {
        guard let id else { return self(Self.page, .integer(sequence), .integer(limit)) }
        return self(Self.pageOfAlert, .integer(sequence), .integer(limit), .integer(id))
    }

    private static let page = SQLText { page($0, index: $0.notIndexed) }
    private static let pageOfAlert = SQLText {
        page($0, index: $0.indexed(by: "audit_alert"), "audit.alert_id = $4 AND ")
    }

    private static func page(
        _ sql: SQLDialect, index: String, _ isOfAlert: String = ""
    ) -> String {
        let alerts =
            sql == .sqlite
            ? "alerts NOT INDEXED ON alerts.id = audit.alert_id"
            : """
            LATERAL (SELECT * FROM alerts
                WHERE alerts.queue = audit.queue AND alerts.id = audit.alert_id LIMIT 1)
                AS alerts ON true
            """
        return """
            SELECT \(AuditRow.columns), \(AuditRow.AlertColumn.list) FROM audit\(index)
            LEFT JOIN \(alerts)
            WHERE \(sql.own("audit"))\(isOfAlert)seq > $2 ORDER BY seq LIMIT $3
            """
    }

    /// The number of the entry before the last ones, of all alerts or of one.
    fileprivate func beforeLast(_ count: Int, of id: Alert.ID?) -> Statement {
        guard let id else { return self(Self.beforeLast, .integer(count)) }
        return self(Self.beforeLastOfAlert, .integer(count), .integer(id))
    }

    private static let beforeLast = SQLText { beforeLast($0) }
    private static let beforeLastOfAlert = SQLText { beforeLast($0, "alert_id = $3 AND ") }

    private static func beforeLast(_ sql: SQLDialect, _ isOfAlert: String = "") -> String {
        """
        SELECT seq FROM audit WHERE \(sql.own("audit"))\(isOfAlert)true
        ORDER BY seq DESC LIMIT 1 OFFSET $2
        """
    }

    /// The alerts that an erasure names, each with the entry that it names itself.
    fileprivate func erasures(_ ids: ClosedRange<Alert.ID>) -> Statement {
        self(Self.erasures, .integer(ids.lowerBound), .integer(ids.upperBound))
    }

    private static let erasures = SQLText { sql in
        """
        SELECT id, erased_seq FROM alerts\(sql.notIndexed)
        WHERE \(sql.own("alerts"))id >= $2 AND id <= $3 ORDER BY id
        """
    }

    /// The sources, each with how many of its alerts wait, for ``SourceCounts``.
    fileprivate var sourceCounts: Statement { self(Self.sourceCounts) }

    private static let sourceCounts = SQLText { sql in
        """
        SELECT \(SourceCounts.Column.list) FROM sources\(sql.notIndexed) LEFT JOIN (
            SELECT source_id, count(*) AS waiting FROM alerts\(sql.notIndexed)
            WHERE \(sql.own("alerts"))outcome IS NULL GROUP BY source_id) AS counts
        ON source_id = id WHERE \(sql.own("sources"))true ORDER BY id
        """
    }

    /// The rows of `turns` and `requests` that name other entries than those of an appearance, or
    /// about their alert: a hundred at most. A missing entry is one of the log's own faults.
    fileprivate var wronglyNamed: Statement { self(Self.wronglyNamed) }

    private static let wronglyNamed = SQLText { sql in
        let rows = { (table: String, isWrong: String) in
            """
            SELECT '\(table)', \(table).seq FROM \(table)
            LEFT JOIN audit ON \(sql.same("audit", table))audit.seq = \(table).seq
            WHERE \(sql.own(table))(\(isWrong) OR \(table).seq NOT BETWEEN 1
                AND coalesce((SELECT max(seq) FROM audit WHERE \(sql.own("audit"))true), 0))
            """
        }
        return """
            \(rows("turns", "audit.event <> 'presented'"))
            UNION ALL
            \(rows(
                "requests", "audit.seq > 0 AND coalesce(audit.alert_id, 0) <> requests.alert_id"))
            LIMIT 100
            """
    }

    /// The alerts that ended before a time, in milliseconds since 1970, and still have their texts,
    /// for ``ErasableAlerts``.
    package func erasable(before time: Int64) -> Statement { self(Self.erasable, .integer(time)) }

    private static let erasable = SQLText { sql in
        """
        SELECT \(ErasableAlerts.Column.list)
        FROM alerts\(sql.indexed(by: "alerts_outcome")) CROSS JOIN sources
        WHERE \(sql.own("alerts"))\(sql.same("sources", "alerts"))sources.id = source_id
            AND outcome IS NOT NULL AND resolved_ms < $2 AND salt IS NOT NULL
        """
    }
}

/// An entry with what its alert's row adds to it.
private struct EntryRow: TableRow {
    let entry: AuditEntry

    init(_ row: borrowing some SQLRow & ~Copyable) throws {
        entry = try AuditRow.entryOfAlert(row)
    }
}

/// A row that names another entry than it should.
private struct WronglyNamed: TableRow {
    let fault: String

    init(_ row: borrowing some SQLRow & ~Copyable) {
        let (table, sequence) = (row.optionalText(at: 0) ?? "", row.integer(at: 1))
        fault =
            "a row of “\(table)” names entry \(sequence), which is not "
            + (table == "turns" ? "that of an appearance" : "about its alert")
    }
}

extension LoggedEntry.Erasure: TableRow {
    package init(_ row: borrowing some SQLRow & ~Copyable) {
        self.init(id: row.integer(at: 0), sequence: row.isNull(at: 1) ? nil : row.integer(at: 1))
    }
}

extension QueueTables {
    /// Entries of the log with what their alerts' rows add to them, oldest first.
    ///
    /// - Throws: ``AlertError/unknownCursor(_:end:)`` if the log does not have the entry after which
    ///   they come.
    package func entries(_ query: LogQuery) throws -> [AuditEntry] {
        let start: Int64
        switch query.start {
        case .after(let head): start = try checkedCursor(head).sequence
        case .from(let number): start = number.subtractingBounded(1)
        case .last(let count):
            start = try first(self.query.beforeLast(count, of: query.alert)) ?? 0
        }
        return try entries(after: start, of: query.alert, limit: query.limit)
    }

    package func entries(
        after sequence: Int64, of id: Alert.ID?, limit: Int
    ) throws -> [AuditEntry] {
        let page = query.page(after: sequence, of: id, limit: limit)
        let entries = try rows(page, as: EntryRow.self).map(\.entry)
        for entry in entries where id != nil && entry.event.alertID != id {
            throw AlertError.inconsistent(
                id, "an index finds entry \(entry.event.sequence), which is not about it")
        }
        return entries
    }

    /// An entry, if the log has it.
    ///
    /// - Throws: ``AlertError/unknownCursor(_:end:)`` otherwise.
    @discardableResult
    package func checkedCursor(_ head: AuditHead) throws -> AuditHead {
        guard try head == .start || auditHead(at: head.sequence) == head else {
            throw AlertError.unknownCursor(head, end: try logEnd().head.sequence)
        }
        return head
    }

    /// The alerts that an erasure names, each with the entry that it names itself.
    package func erasures(_ alerts: ErasedAlerts) throws -> [LoggedEntry.Erasure] {
        try alerts.ranges.flatMap { try rows(query.erasures($0)) }
    }

    /// What sources, turns and requests say that alerts and log don't.
    package func faultsOfOtherRows() throws -> [String] {
        var counts = SourceCounts()
        try collect(query.sourceCounts, into: &counts)
        return counts.faults
            + (try rows(query.wronglyNamed, as: WronglyNamed.self).map(\.fault))
    }
}
