import AlertCore
import AlertTables
import PostgreSQL
import TextFormats

/// The statements that read alerts and their entries, for both readers and the writer.
///
/// They are values, so that a transaction can ask for what it will need together with its lock.
enum Query {
    private static let alerts = """
        SELECT \(AlertRow.columns) FROM alerts
        JOIN sources ON sources.queue = alerts.queue AND sources.id = alerts.source_id
        WHERE alerts.queue = $1
        """

    /// The end of a queue's log, how often something has changed without an entry, and what the
    /// server's clock shows.
    static func head(_ queue: Value) -> Statement {
        Statement(
            """
            SELECT seq, hash, changes, \(Lease.clock), offset_ms FROM heads WHERE queue = $1
            """, queue)
    }

    /// The end of the log of the queue `$1`, and where that goes on if it has moved.
    static let logEnd = """
        SELECT seq, hash,
            CASE WHEN event = 'moved' AND alert_id IS NULL THEN detail END AS moved_to
        FROM audit WHERE queue = $1 ORDER BY seq DESC LIMIT 1
        """

    /// Entries, each with the hashes next to it: a join could read the whole log for them.
    private static let entries = """
        SELECT \(AuditRow.columns),
            (SELECT hash FROM audit AS before
                WHERE before.queue = audit.queue AND before.seq = audit.seq - 1),
            (SELECT previous FROM audit AS after
                WHERE after.queue = audit.queue AND after.seq = audit.seq + 1)
        FROM audit WHERE audit.queue = $1
        """

    static func alert(_ queue: Value, _ id: Alert.ID) -> Statement { one(queue, id).row }

    /// Alerts in any order, each found by its id whatever the server believes of the table.
    static func alerts(_ queue: Value, _ ids: [Alert.ID]) -> Statement {
        Statement(
            """
            SELECT \(AlertRow.columns) FROM unnest($2::bigint[]) AS wanted (id)
            CROSS JOIN LATERAL (SELECT * FROM alerts
                WHERE alerts.queue = $1 AND alerts.id = wanted.id LIMIT 1) AS alerts
            JOIN sources ON sources.queue = alerts.queue AND sources.id = alerts.source_id
            """, queue, .integers(ids))
    }

    static func trail(_ queue: Value, _ id: Alert.ID) -> Statement { one(queue, id).trail }

    static func cancelRequest(_ queue: Value, _ id: Alert.ID) -> Statement {
        one(queue, id).cancelRequest
    }

    /// A row if the queue was restored after an entry.
    static func restoration(_ queue: Value, after sequence: Int64) -> Statement {
        Statement(
            "SELECT 1 FROM audit WHERE queue = $1 AND seq > $2 AND event = 'restored' LIMIT 1",
            queue, .integer(sequence))
    }

    /// The entries that the trails of several alerts need, in the order of the log.
    static func trails(_ queue: Value, _ ids: [Alert.ID]) -> Statement {
        Statement(
            entries + ofTrail + " AND audit.alert_id = ANY ($2::bigint[]) ORDER BY audit.seq",
            queue, .integers(ids))
    }

    private static let ofTrail = """
         AND audit.event IN ('asked', 'resolved', 'superseded', 'collected', 'restored')
        """

    /// What is read of an alert: its row, the entries that say what was asked and how it ended, and
    /// the last request that a screen cancel it.
    struct One {
        /// An expression for its id.
        fileprivate let id: String
        fileprivate let values: [Value]

        var row: Statement { Statement(alerts + " AND alerts.id = \(id)", values) }

        var trail: Statement {
            Statement(
                entries + ofTrail + " AND audit.alert_id = \(id) ORDER BY audit.seq", values)
        }

        var cancelRequest: Statement {
            Statement(
                entries
                    + """
                     AND audit.event = 'cancelling'
                    AND audit.alert_id = \(id) ORDER BY audit.seq DESC LIMIT 1
                    """, values)
        }
    }

    static func one(_ queue: Value, _ reference: AlertReference) -> One {
        switch reference {
        case .id(let id): one(queue, id)
        case .key(let key, let source, let principal):
            self.key(queue, key, source: source, of: principal)
        }
    }

    private static func one(_ queue: Value, _ id: Alert.ID) -> One {
        One(id: "$2", values: [queue, .integer(id)])
    }

    /// The same of the alert that has a key.
    static func key(
        _ queue: Value, _ key: String, source: String, of principal: Principal
    ) -> One {
        let id = """
            (SELECT alerts.id FROM alerts JOIN sources ON sources.id = alerts.source_id
            WHERE alerts.queue = $1 AND alerts.key = $2 AND sources.name = $3
                AND sources.principal = $4 AND sources.queue = $1
            ORDER BY superseded_by LIMIT 1)
            """
        return One(
            id: id, values: [queue, .text(key), .text(source), .text(principal.text)])
    }

    /// A source of a principal, and the row of the principal itself, which has no name.
    static func sources(_ queue: Value, _ principal: Principal, _ name: String) -> Statement {
        Statement(
            """
            SELECT name, id, pending FROM sources
            WHERE queue = $1 AND principal = $2 AND name IN ($3, '')
            """, queue, .text(principal.text), .text(name))
    }

    static func erasure(_ queue: Value, _ sequence: Int64) -> Statement {
        Statement(entries + " AND audit.seq = $2", queue, .integer(sequence))
    }

    static func erasures(_ queue: Value, _ sequences: Set<Int64>) -> Statement {
        Statement(
            entries + " AND audit.seq = ANY ($2::bigint[])", queue, .integers(sequences))
    }

    static func entryHash(_ queue: Value, _ sequence: Int64) -> Statement {
        Statement(
            "SELECT hash FROM audit WHERE queue = $1 AND seq = $2", queue, .integer(sequence))
    }

    static func request(_ queue: Value, _ change: RequestedChange) -> Statement {
        Statement(
            """
            SELECT alert_id, seq, made_ms, (SELECT hash FROM audit
                WHERE audit.queue = requests.queue AND audit.seq = requests.seq)
            FROM requests
            WHERE queue = $1 AND principal = $2 AND request = $3 AND position = $4
            """, queue, .text(change.principal.text), .blob(change.request.bytes),
            .integer(change.position))
    }

    /// The rows of the attached screens; see ``ScreenRow``.
    static func screens(_ queue: Value) -> Statement {
        Statement(
            """
            SELECT epoch, leads, screen, \(Lease.clock) - seen_ms, \(Lease.isSeen())::int
            FROM screens WHERE queue = $1 ORDER BY epoch
            """, queue)
    }

    /// Whether a screen or a claim is still there: whoever takes its place deletes its row.
    static func isAttached(_ queue: Value, _ epoch: Epoch) -> Statement {
        Statement(
            """
            SELECT 1 FROM screens WHERE queue = $1 AND epoch = $2
            UNION ALL SELECT 1 FROM claims WHERE queue = $1 AND epoch = $2
            """, queue, epoch.value)
    }

    static func waitingClaims(_ queue: Value, _ ids: [Alert.ID]) -> Statement {
        Statement(
            """
            SELECT DISTINCT alert_id FROM claims
            WHERE queue = $1 AND purpose = 'waiting' AND alert_id = ANY ($2::bigint[])
                AND \(Lease.isSeen())
            """, queue, .integers(ids))
    }
}

/// A screen as it is stored.
struct ScreenRow {
    let epoch: UInt64
    let leads: Bool
    /// The JSON of the `AttachedScreen`.
    let text: String
    /// For how many milliseconds it has given no sign of life.
    let silence: Int64
    let isSeen: Bool

    init(_ row: borrowing Row) {
        epoch = UInt64(bitPattern: row.integer(at: 0))
        leads = row.integer(at: 1) == 1
        text = row.optionalText(at: 2) ?? ""
        silence = row.integer(at: 3)
        isSeen = row.integer(at: 4) == 1
    }
}

extension Value {
    /// An array of `bigint`.
    static func integers(_ values: some Sequence<Int64>) -> Value {
        .text("{" + values.map(String.init).joined(separator: ",") + "}")
    }

    /// An array of `text`; see
    /// <https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO>.
    static func texts(_ values: some Sequence<String>) -> Value {
        var text = "{"
        for (index, value) in values.enumerated() {
            if index > 0 { text += "," }
            text += "\""
            for scalar in value.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { text += "\\" }
                text.unicodeScalars.append(scalar)
            }
            text += "\""
        }
        return .text(text + "}")
    }
}

extension AlertRow {
    /// The row, if the log confirms it.
    ///
    /// - Parameters:
    ///   - trail: The result of the query for its entries.
    ///   - erasure: Reads the entry with a number.
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    func checked(
        by trail: QueryResult, erasure: (Int64) throws -> QueryResult
    ) throws -> AlertRow {
        var found = try AlertTrail(of: record.id, from: trail)
        if let sequence = alert.remains?.sequence,
            let entry = try erasure(sequence).first({
                try AuditRow.linkedEntry($0, of: record.id)
            }),
            entry.event.kind == .erased,
            entry.erasedAlerts?.contains(record.id) == true
        {
            found.addErasure(by: sequence)
        }
        return try checked(by: found)
    }
}

extension AlertTrail {
    /// Reads the entries about an alert.
    init(of id: Alert.ID, from result: QueryResult) throws {
        self.init(of: id)
        for entry in try result.rows({ try AuditRow.linkedEntry($0, of: id) }) { add(entry) }
    }
}

extension AuditHead {
    /// Reads a number and a hash from two columns, which are NULL for an empty log.
    init(_ row: borrowing Row, at column: Int32) {
        self =
            row.isNull(at: column)
            ? .start
            : AuditHead(sequence: row.integer(at: column), hash: row.blob(at: column + 1) ?? [])
    }
}

extension Connection {
    /// Returns an alert, if the log confirms it, with what is stored of the screens.
    func find(_ queue: Value, _ reference: AlertReference) throws -> FoundAlert? {
        let query = Query.one(queue, reference)
        let found = try readAtOnce([
            Query.head(queue), query.row, query.trail, query.cancelRequest,
            Query.screens(queue),
        ])
        guard let head = found[0].first({ AuditHead($0, at: 0) }) else { throw Self.noHead }
        guard var row = try found[1].first({ try AlertRow($0) }) else { return nil }
        row = try row.checked(by: found[2]) { try run(Query.erasure(queue, $0)) }
        if case .key(let key, let source, let principal) = reference {
            row = try row.checkedKey(key, source: source, of: principal)
        }
        let isCancelRequested =
            try row.record.response == nil
            && found[3].cancelRequest(of: row.record.id) != nil
        return FoundAlert(
            row: row, isCancelRequested: isCancelRequested, head: head, screens: found[4])
    }
}

/// An alert that the log confirms.
struct FoundAlert {
    let row: AlertRow
    /// Whether somebody has requested that the screen that shows it cancel it.
    let isCancelRequested: Bool
    /// The end of the log at that time.
    let head: AuditHead
    /// The rows of the screens.
    let screens: QueryResult
}
