import AlertCore
import SQL

/// The statements that read and write the tables of one queue, in the words of their database.
///
/// They are values: a transaction on a server asks for all that it will need together with its lock.
/// `$1` is the queue, for which the tables of a file have no column.
package struct Query: Sendable {
    package let dialect: SQLDialect
    package let queue: Value

    /// The queue of a file.
    package static let ofFile = Query(dialect: .sqlite, queue: .null)

    /// A queue of a server.
    package static func ofServer(_ queue: Value) -> Query {
        Query(dialect: .postgreSQL, queue: queue)
    }

    /// A statement with values for `$2`, `$3` and so on.
    package func callAsFunction(_ text: SQLText, _ values: Value...) -> Statement {
        self(text, values)
    }

    package func callAsFunction(_ text: SQLText, _ values: [Value]) -> Statement {
        Statement(text[dialect], [queue] + values)
    }
}

extension SQLDialect {
    /// At the beginning of a list of columns, and of their values: the queue, where a table has
    /// several.
    var queueColumn: String { self == .sqlite ? "" : "queue, " }
    var queueValue: String { self == .sqlite ? "" : "$1::integer, " }

    /// At the beginning of a condition: rows are of the queue, where a table has several.
    package func own(_ table: String) -> String {
        self == .sqlite ? "" : "\(table).queue = $1 AND "
    }

    /// Likewise: rows of two tables are of the same queue.
    package func same(_ table: String, _ other: String) -> String {
        self == .sqlite ? "" : "\(table).queue = \(other).queue AND "
    }
}

// MARK: - Alerts

extension Query {
    /// What is read of an alert: its row, the entries that say what was asked and how it ended, and
    /// the last request that a screen cancel it.
    package struct One: Sendable {
        fileprivate let query: Query
        fileprivate let texts: Texts
        fileprivate let values: [Value]

        package var row: Statement { query(texts.row, values) }
        package var trail: Statement { query(texts.trail, values) }
        package var cancelRequest: Statement { query(texts.cancelRequest, values) }
        package var all: [Statement] { [row, trail, cancelRequest] }

        fileprivate struct Texts: Sendable {
            let row, trail, cancelRequest: SQLText

            /// - Parameter id: An expression for the id.
            init(_ id: @escaping (SQLDialect) -> String) {
                row = SQLText { "\(Query.alerts($0)) AND alerts.id = \(id($0))" }
                trail = SQLText { sql in
                    """
                    \(Query.entriesOfAlerts(sql)) AND audit.alert_id = \(id(sql))
                        AND (\(Query.isOfTrail) OR audit.seq = (\(Query.lastClaim(sql, of: id(sql)))))
                    ORDER BY audit.seq
                    """
                }
                cancelRequest = SQLText { sql in
                    """
                    \(Query.entriesOfAlerts(sql)) AND audit.event = 'cancelling'
                        AND audit.alert_id = \(id(sql)) ORDER BY audit.seq DESC LIMIT 1
                    """
                }
            }
        }
    }

    package func one(_ reference: AlertReference) -> One {
        switch reference {
        case .id(let id): one(id)
        case .key(let key, let source, let principal): one(key, source, principal)
        }
    }

    /// What a transaction needs in order to change an alert.
    package func reading(_ id: Alert.ID) -> [Statement] { [one(id).row, one(id).trail] }

    package func one(_ id: Alert.ID) -> One {
        One(query: self, texts: Self.byID, values: [.integer(id)])
    }

    /// That of the alerts with a key that no other has replaced.
    package func one(_ key: String, _ source: String, _ principal: Principal) -> One {
        One(
            query: self, texts: Self.byKey,
            values: [.text(key), .text(source), .text(principal.text)])
    }

    private static let byID = One.Texts { _ in "$2" }
    private static let byKey = One.Texts { sql in
        """
        (SELECT alerts.id FROM alerts
            WHERE \(sql.own("alerts"))alerts.key = $2 AND alerts.source_id = (SELECT sources.id
                FROM sources
                WHERE \(sql.own("sources"))sources.principal = $4 AND sources.name = $3)
            ORDER BY superseded_by LIMIT 1)
        """
    }

    /// A condition can follow. No index that somebody has added is used.
    private static func alerts(_ sql: SQLDialect) -> String {
        """
        SELECT \(AlertRow.columns) FROM alerts\(sql.notIndexed)
        JOIN sources\(sql.notIndexed) ON \(sql.same("sources", "alerts"))sources.id = alerts.source_id
        WHERE \(sql.own("alerts"))true
        """
    }

    /// Entries with the hashes next to them, for ``LinkedEntry``; a condition can follow.
    private static func entriesOfAlerts(_ sql: SQLDialect) -> String {
        entries(sql, from: "audit" + sql.indexed(by: "audit_alert"))
            + " AND audit.alert_id IS NOT NULL"
    }

    // A join could read the whole log for the entries next to them.
    private static func entries(_ sql: SQLDialect, from rows: String) -> String {
        """
        SELECT \(AuditRow.columns),
            (SELECT hash FROM audit AS before\(sql.notIndexed)
                WHERE \(sql.same("before", "audit"))before.seq = audit.seq - 1),
            (SELECT previous FROM audit AS after\(sql.notIndexed)
                WHERE \(sql.same("after", "audit"))after.seq = audit.seq + 1)
        FROM \(rows) WHERE \(sql.own("audit"))\(isNumbered(sql))
        """
    }

    /// The condition that an entry can have its number: a server refuses others, and could plan to
    /// read the whole log for it.
    static func isNumbered(_ sql: SQLDialect) -> String {
        sql == .sqlite ? "audit.seq > 0" : "true"
    }

    // SQLite would build a table in memory for what is `IN` a list.
    private static let isOfTrail = """
        (audit.event = 'asked' OR audit.event = 'resolved' OR audit.event = 'superseded'
            OR audit.event = 'collected' OR audit.event = 'restored')
        """

    /// The number of the last entry that says who deals with an alert: there may be any number.
    private static func lastClaim(_ sql: SQLDialect, of id: String) -> String {
        """
        SELECT max(claims.seq) FROM audit AS claims\(sql.indexed(by: "audit_alert"))
        WHERE \(sql.own("claims"))claims.alert_id = \(id)
            AND (claims.event = 'claimed' OR claims.event = 'released')
        """
    }

    /// The last entries that say who deals with several alerts.
    package func claims(_ ids: some Sequence<Alert.ID>) -> Statement {
        self(Self.claimsByID, dialect.value(of: ids))
    }

    private static let claimsByID = SQLText { sql in
        let wanted =
            sql == .sqlite
            ? "(SELECT value AS number FROM json_each($2)) AS wanted"
            : "unnest($2::bigint[]) AS wanted (number)"
        let last =
            "(SELECT (\(lastClaim(sql, of: "wanted.number"))) AS number FROM \(wanted)) AS last"
        let rows =
            sql == .sqlite
            ? "\(last) CROSS JOIN audit\(sql.notIndexed) ON audit.seq = last.number"
            : """
            \(last) CROSS JOIN LATERAL (SELECT * FROM audit
                WHERE \(sql.own("audit"))audit.seq = last.number OFFSET 0) AS audit
            """
        return entries(sql, from: rows)
    }

    /// The rows of a table with one of the integers `$2` in a column, each found by itself: a server
    /// that has not analyzed the table could plan to read all of it.
    ///
    /// - Parameter index: The index that leads to them in a file; the table's key if it is `nil`.
    private static func rows(
        of table: String, by column: String, _ sql: SQLDialect, index: String? = nil
    ) -> String {
        switch sql {
        case .sqlite:
            """
            (SELECT value AS number FROM json_each($2)) AS wanted CROSS JOIN \(table)\
            \(index.map(sql.indexed) ?? sql.notIndexed) ON \(table).\(column) = wanted.number
            """
        case .postgreSQL:
            """
            unnest($2::bigint[]) AS wanted (number) CROSS JOIN LATERAL (SELECT * FROM \(table)
                WHERE \(sql.own(table))\(table).\(column) = wanted.number OFFSET 0) AS \(table)
            """
        }
    }

    /// Alerts in any order.
    package func alerts(_ ids: some Sequence<Alert.ID>) -> Statement {
        self(Self.alertsByID, dialect.value(of: ids))
    }

    private static let alertsByID = SQLText { sql in
        """
        SELECT \(AlertRow.columns) FROM \(rows(of: "alerts", by: "id", sql))
        JOIN sources\(sql.notIndexed) ON \(sql.same("sources", "alerts"))sources.id = alerts.source_id
        """
    }

    /// The entries that the trails of several alerts need, in the order of the log.
    package func trails(_ ids: some Sequence<Alert.ID>) -> Statement {
        self(Self.trailsByID, dialect.value(of: Set(ids)))
    }

    private static let trailsByID = SQLText { sql in
        """
        \(entries(sql, from: rows(of: "audit", by: "alert_id", sql, index: "audit_alert")))
            AND audit.alert_id IS NOT NULL AND \(isOfTrail) ORDER BY audit.seq
        """
    }

    /// The entries with some numbers.
    package func entries(_ sequences: Set<Int64>) -> Statement {
        self(Self.entriesByNumber, dialect.value(of: sequences))
    }

    private static let entriesByNumber = SQLText { sql in
        entries(sql, from: rows(of: "audit", by: "seq", sql))
    }

    package func waits(_ ids: Set<Alert.ID>) -> Statement {
        self(Self.waiting, dialect.value(of: ids))
    }

    private static let waiting = SQLText { sql in
        """
        SELECT alerts.id FROM \(rows(of: "alerts", by: "id", sql))
        WHERE \(sql.own("alerts"))outcome IS NULL
        """
    }

    /// A row if the log has the start of a command that an alert allowed.
    package func startOfRun(_ id: Alert.ID) -> Statement { self(Self.startOfRun, .integer(id)) }

    private static let startOfRun = SQLText { sql in
        """
        SELECT seq FROM audit\(sql.indexed(by: "audit_alert"))
        WHERE \(sql.own("audit"))alert_id = $2 AND event = 'ran' LIMIT 1
        """
    }
}

// MARK: - The log

extension Query {
    /// The hash of an entry.
    package func entryHash(_ sequence: Int64) -> Statement {
        self(Self.entryHash, .integer(sequence))
    }

    private static let entryHash = SQLText { sql in
        "SELECT hash FROM audit\(sql.notIndexed) WHERE \(sql.own("audit"))seq = $2"
    }

    /// The last entry of a queue's log, for ``LogEnd``.
    package static let logEnd = SQLText { sql in
        """
        SELECT seq, hash,
            CASE WHEN event = 'moved' AND alert_id IS NULL THEN detail END AS moved_to
        FROM audit\(sql.notIndexed) WHERE \(sql.own("audit"))true ORDER BY seq DESC LIMIT 1
        """
    }

    /// A row if the queue was restored after an entry.
    package func restoration(after sequence: Int64) -> Statement {
        self(Self.restoration, .integer(sequence))
    }

    private static let restoration = SQLText { sql in
        """
        SELECT seq FROM audit\(sql.indexed(by: "audit_restored"))
        WHERE \(sql.own("audit"))seq > $2 AND event = 'restored' LIMIT 1
        """
    }
}

// MARK: - Who asks

extension Query {
    /// A source of a principal, and the row of the principal itself, which has no name.
    package func sources(_ principal: Principal, _ name: String) -> Statement {
        self(Self.sources, .text(principal.text), .text(name))
    }

    // SQLite would make a table of the two names for `name IN ($3, '')`, or for an `OR` of them, each
    // time it runs.
    private static let sources = SQLText { sql in
        let ofPrincipal = """
            SELECT name, id, pending FROM sources WHERE \(sql.own("sources"))principal = $2
            """
        return "\(ofPrincipal) AND name = $3 UNION ALL \(ofPrincipal) AND name = '' AND $3 <> ''"
    }

    /// A change that its caller has named.
    package func request(_ change: RequestedChange) -> Statement {
        self(
            Self.request, .text(change.principal.text), .blob(change.request.bytes),
            .integer(change.position))
    }

    private static let request = SQLText { sql in
        """
        SELECT alert_id, seq, made_ms,
            (SELECT hash FROM audit WHERE \(sql.same("audit", "requests"))audit.seq = requests.seq)
        FROM requests
        WHERE \(sql.own("requests"))principal = $2 AND request = $3 AND position = $4
        """
    }
}
