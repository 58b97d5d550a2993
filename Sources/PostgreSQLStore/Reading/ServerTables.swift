import AlertCore
import AlertTables
import PostgreSQL
import TextFormats

/// The tables of a queue of a server, as a connection reads them.
package struct ServerTables: QueueTables {
    let db: Connection
    package let query: Query
    var queue: Value { query.queue }
    /// What was read together.
    private var found: [Statement: QueryResult] = [:]

    init(_ db: Connection, _ queue: Value) { (self.db, query) = (db, .ofServer(queue)) }

    package func rows<Found: TableRow>(_ statement: Statement, as type: Found.Type) throws
        -> [Found]
    {
        try result(statement).rows { try Found($0) }
    }

    package func first<Found: TableRow>(_ statement: Statement, as type: Found.Type) throws
        -> Found?
    {
        try result(statement).first { try Found($0) }
    }

    private func result(_ statement: Statement) throws -> QueryResult {
        try found[statement] ?? db.run(statement)
    }

    package func collect<Collector: RowCollector>(
        _ statement: Statement, into collector: inout Collector
    ) throws {
        try db.visit(statement) { row in
            try collector.add(row)
            return true
        }
    }

    package func with(_ needed: [Statement]) throws -> ServerTables {
        guard !needed.isEmpty else { return self }
        var tables = self
        tables.found = Dictionary(
            zip(needed, try db.readAtOnce(needed)), uniquingKeysWith: { $1 })
        return tables
    }
}

/// The statements that only a server's queue has.
extension Query {
    /// The end of a queue's log, how often something has changed without an entry, and what the
    /// server's clock shows.
    var head: Statement {
        Statement(
            """
            SELECT seq, hash, changes, \(Lease.clock), offset_ms FROM heads WHERE queue = $1
            """, queue)
    }

    /// The rows of the attached screens; see ``ScreenRow``.
    var screens: Statement {
        Statement(
            """
            SELECT epoch, leads, screen, \(Lease.clock) - seen_ms, \(Lease.isSeen())::int
            FROM screens WHERE queue = $1 ORDER BY epoch
            """, queue)
    }

    /// Whether a screen or a lease is still there: whoever takes its place deletes its row.
    func isAttached(_ epoch: Epoch) -> Statement {
        Statement(
            """
            SELECT 1 FROM screens WHERE queue = $1 AND epoch = $2
            UNION ALL SELECT 1 FROM leases WHERE queue = $1 AND epoch = $2
            """, queue, epoch.value)
    }

    func waitingLeases(_ ids: [Alert.ID]) -> Statement {
        Statement(
            """
            SELECT DISTINCT alert_id FROM leases
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
        SQLDialect.postgreSQL.value(of: values)
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

extension ServerTables {
    /// What ``Query/head`` finds.
    func head() throws -> (head: AuditHead, changes: Int64, time: Int64, offset: Int64) {
        let found = try db.run(query.head).first {
            (
                head: AuditHead($0, at: 0), changes: $0.integer(at: 2), time: $0.integer(at: 3),
                offset: $0.integer(at: 4)
            )
        }
        guard let found else { throw Connection.noHead }
        return found
    }

    /// Returns an alert, if the log confirms it, with what is stored of the screens.
    func find(_ reference: AlertReference) throws -> FoundAlert? {
        let (head, screens) = (query.head, query.screens)
        let tables = try with([head] + query.one(reference).all + [screens])
        guard let head = try tables.first(head, as: AuditHead.self) else { throw Connection.noHead }
        guard let (row, isCancelRequested) = try tables.currentAlert(reference) else { return nil }
        return FoundAlert(
            row: row, isCancelRequested: isCancelRequested, head: head,
            screens: try tables.result(screens))
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
