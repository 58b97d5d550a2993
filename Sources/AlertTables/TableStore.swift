import AlertCore
import FoundationEssentials
import SQL
import TextFormats

/// A store whose queue is in tables: the pages of alerts that it reads of them.
package protocol TableStore: AlertStore {
    associatedtype Tables: QueueTables

    associatedtype Log: KnownLog

    var time: ClockReading { get }
    /// The path of the file, or the server and the queue's name there.
    var place: String { get }
    var known: Log { get }
    var changes: NoticedChanges { get }
    var timekeeper: Timekeeper? { get }
    /// Why nothing can be written through this store; `nil` for one that was opened for writing.
    var refusal: AlertError? { get }
    var isClosed: Bool { get }

    /// Begins to watch for changes by other processes; `true` the first time, because earlier
    /// changes must be examined once more.
    func startWatching() -> Bool

    /// Reads the tables, in one transaction or statement by statement.
    ///
    /// - Parameter operation: What is done, as the object of "can't".
    nonisolated(nonsending) func read<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Tables) throws -> Result
    ) async throws(AlertError) -> Result

    /// Reads likewise, without keeping others waiting for what takes long.
    nonisolated(nonsending) func readAside<Result: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Tables) throws -> Result
    ) async throws(AlertError) -> Result

    /// The records, with their states as the screens report them.
    func states(of records: [AlertRecord], in tables: Tables) throws -> [AlertRecord]

    /// Those of some waiting alerts for which no process waits.
    nonisolated(nonsending) func unawaited(
        _ ids: [Alert.ID]
    ) async throws(AlertError) -> Set<Alert.ID>

    /// A filter and a caller as accounts are stored, and records and entries as this process sees
    /// them.
    func stored(_ filter: HistoryFilter) -> HistoryFilter
    func stored(_ caller: Caller) -> Caller
    func shown(_ record: AlertRecord) -> AlertRecord
    func shown(_ entry: AuditEntry) -> AuditEntry
}

extension TableStore {
    package nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await read("count what waits") { try $0.pendingCount(at: self.time) }
    }

    package nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts {
        try await read("count what waits") { try $0.ready(besides: id) }
    }

    package nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try await read("read the audit log") { try $0.entries(query) }.map(shown)
    }

    package nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        var page = try await storedPage(query)
        let now = time
        page.records = page.records.map { shown($0.current(at: now)) }
        return page
    }

    private nonisolated(nonsending) func storedPage(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        switch query.kind {
        case .waiting(let source, let orOverdue):
            return try await waiting(source: source, orOverdue: orOverdue, query)
        case .history(let filter):
            return try await responses(stored(filter), limit: query.limit, after: query.after)
        case .awaitingHandler(let name):
            return try await read("look for uncollected responses") {
                try $0.awaiting(handler: name, after: query.after, limit: query.limit)
            }
        case .awaitingHook(let filter):
            let (filter, text) = (stored(filter), try filter.searchText)
            return try await read("look for uncollected responses") {
                try $0.awaitingHook(filter, text, after: query.after ?? 0, limit: query.limit)
            }
        }
    }

    private nonisolated(nonsending) func waiting(
        source: String?, orOverdue: Bool, _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        let (ids, found) = try await read("list what waits") { tables in
            let now = self.time
            let ids = try tables.waiting(
                source: source, orOverdue: orOverdue, after: query.after, limit: query.limit,
                at: now)
            let records = try tables.readableAlerts(ids).map { $0.visible(at: now) }
            let withClaims = try tables.withClaims(records)
            return (ids, try self.states(of: withClaims, in: tables))
        }
        var page = RecordPage(
            records: try await withOrphans(found), next: ids.last ?? query.after,
            isEnd: ids.count < query.limit)
        page.ids = ids
        return page
    }

    /// The records, with whether they are orphaned.
    package nonisolated(nonsending) func withOrphans(
        _ records: [AlertRecord]
    ) async throws(AlertError) -> [AlertRecord] {
        let now = time
        let candidates = records.filter { $0.mayBeOrphaned(at: now) }.map(\.id)
        guard !candidates.isEmpty else { return records }
        let left = try await unawaited(candidates)
        guard !left.isEmpty else { return records }
        // In this order: whoever waited for one that has been answered has left for that reason.
        let orphans = try await read("look for who waits") {
            Set(try $0.rows($0.query.waits(left), as: Alert.ID.self))
        }
        return records.marking(orphans: orphans)
    }
}

extension HistoryFilter {
    /// The words that it looks for; `nil` for all.
    package var searchText: SearchText? {
        get throws(AlertError) {
            try text.map { text throws(AlertError) in try SearchText(text) }
        }
    }
}

// MARK: - Uncollected responses

extension Query {
    fileprivate static func uncollected(_ sql: SQLDialect) -> String {
        """
        alerts\(sql.indexed(by: "alerts_uncollected"))
        WHERE \(sql.own("alerts"))outcome IS NOT NULL AND collected_ms IS NULL
        """
    }

    /// The responses that wait for a handler, after that of an alert.
    fileprivate func awaiting(handler: String, after: Alert.ID?, limit: Int) -> Statement {
        self(Self.awaiting, .text(handler), .optional(after), .integer(limit))
    }

    private static let awaiting = SQLText { sql in
        """
        SELECT id FROM \(uncollected(sql)) AND handler = $2
            AND resolved_seq > coalesce((SELECT resolved_seq FROM alerts
                WHERE \(sql.own("alerts"))id = $3), 0)
        ORDER BY resolved_seq LIMIT $4
        """
    }

    /// Responses that no handler waits for, after an entry of the log, for ``ResponsePosition``.
    fileprivate func awaitingHook(
        _ filter: HistoryFilter, after start: Int64, through end: Int64, limit: Int
    ) -> Statement {
        var values = NumberedValues([queue])
        let condition = filter.condition(&values, dialect)
        return Statement(
            """
            SELECT id, resolved_seq FROM \(Self.uncollected(dialect)) AND handler IS NULL
                AND resolved_seq > \(values.add(.integer(start)))
                AND resolved_seq <= \(values.add(.integer(end))) AND \(condition)
            ORDER BY resolved_seq LIMIT \(values.add(.integer(limit)))
            """, values.all)
    }
}

/// A response, and the entry of the log that tells of it.
private struct ResponsePosition: TableRow {
    let id: Alert.ID
    let sequence: Int64

    init(_ row: borrowing some SQLRow & ~Copyable) {
        (id, sequence) = (row.integer(at: 0), row.integer(at: 1))
    }
}

extension QueueTables {
    fileprivate func awaiting(
        handler: String, after: Alert.ID?, limit: Int
    ) throws -> RecordPage {
        let ids: [Alert.ID] = try rows(
            query.awaiting(handler: handler, after: after, limit: limit))
        var page = RecordPage(
            records: try readableAlerts(ids).map(\.record), next: ids.last ?? after,
            isEnd: ids.count < limit)
        page.ids = ids
        return page
    }

    fileprivate func awaitingHook(
        _ filter: HistoryFilter, _ text: SearchText?, after position: Int64, limit: Int
    ) throws -> RecordPage {
        let last = try logEnd().head.sequence
        var records: [AlertRecord] = []
        var (start, examined) = (position, 0)
        // Most of the first ones are admitted, unless it is a search.
        var length = limit
        while examined < 20_000 {
            let found: [ResponsePosition] = try rows(
                query.awaitingHook(filter, after: start, through: last, limit: length))
            let alerts = Dictionary(
                try readableAlerts(found.map(\.id)).map { ($0.record.id, $0.record) },
                uniquingKeysWith: { $1 })
            for position in found {
                start = position.sequence
                guard let record = alerts[position.id], filter.admits(record),
                    text?.matches(record) ?? true
                else { continue }
                records.append(record)
                if records.count == limit {
                    return RecordPage(records: records, next: start, isEnd: false)
                }
            }
            guard found.count == length else {
                return RecordPage(records: records, next: max(position, last), isEnd: true)
            }
            examined += length
            length = max(limit, 1000)
        }
        return RecordPage(records: records, next: start, isEnd: false)
    }
}
