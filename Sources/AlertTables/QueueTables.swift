import AlertCore
import SQL
import TextFormats

/// A connection, or a transaction, as the tables of one queue.
///
/// What is read of a queue, and how, is here; how statements get to the database is the store's.
package protocol QueueRows {
    var query: Query { get }

    /// Reads every row of a statement, in order.
    func rows<Row: TableRow>(_ statement: Statement, as type: Row.Type) throws -> [Row]

    /// Reads the first row, or returns `nil` if there is none.
    func first<Row: TableRow>(_ statement: Statement, as type: Row.Type) throws -> Row?
}

/// What is read of a queue outside of the rules, through a connection that may also write.
package protocol QueueTables: QueueRows {
    /// Reads any number of rows, none of which is kept.
    func collect<Collector: RowCollector>(
        _ statement: Statement, into collector: inout Collector) throws

    /// The ids of waiting alerts, in list order: by urgency, then by age; snoozed ones last.
    ///
    /// - Parameters:
    ///   - source: Their source, under any principal; `nil` for all.
    ///   - orOverdue: Whether those whose deadline has passed are listed.
    /// - Throws: ``AlertError/notFound(_:)`` if the alert after which to continue does not exist.
    func waiting(
        source: String?, orOverdue: Bool, after last: Alert.ID?, limit: Int, at now: ClockReading
    ) throws -> [Alert.ID]

    /// Looks for responses, newest first, after one of them or from the first.
    ///
    /// - Parameters:
    ///   - text: What they contain; then they come in the order of the log.
    ///   - isFirst: Whether no look has been made for this page before.
    func history(
        _ filter: HistoryFilter, _ text: SearchText?, after last: HistoryPosition?, isFirst: Bool,
        limit: Int
    ) throws -> HistoryLook

    /// The same tables, with the results of statements that will be needed, if it is worth while to
    /// send these together.
    func with(_ needed: [Statement]) throws -> Self
}

/// What is read from a row of a statement.
package protocol TableRow {
    init(_ row: borrowing some SQLRow & ~Copyable) throws
}

/// What rows add to.
package protocol RowCollector {
    mutating func add(_ row: borrowing some SQLRow & ~Copyable) throws
}

extension QueueRows {
    package func rows<Row: TableRow>(_ statement: Statement) throws -> [Row] {
        try rows(statement, as: Row.self)
    }

    package func first<Row: TableRow>(_ statement: Statement) throws -> Row? {
        try first(statement, as: Row.self)
    }

    /// Whether a statement has a row.
    package func hasRow(_ statement: Statement) throws -> Bool {
        try first(statement, as: Int64.self) != nil
    }
}

// MARK: - Rows

/// The first column.
extension Int64: TableRow {
    package init(_ row: borrowing some SQLRow & ~Copyable) { self = row.integer(at: 0) }
}

extension AlertRow: TableRow {}

extension QueuePosition: TableRow {}

/// A row that may not be readable: one that isn't does not block the others.
private struct ReadableRow: TableRow {
    let alert: AlertRow?

    init(_ row: borrowing some SQLRow & ~Copyable) { alert = try? AlertRow(row) }
}

/// The number and the hash of an entry, or NULL for an empty log.
extension AuditHead: TableRow {
    package init(_ row: borrowing some SQLRow & ~Copyable) { self.init(row, at: 0) }

    package init(_ row: borrowing some SQLRow & ~Copyable, at column: Int32) {
        self =
            row.isNull(at: column)
            ? .start
            : AuditHead(sequence: row.integer(at: column), hash: row.blob(at: column + 1) ?? [])
    }
}

/// The end of a queue's log.
package struct LogEnd: TableRow {
    package var head = AuditHead.start
    /// Where the queue goes on, if it has moved.
    package var move: QueueMove?

    package init() {}

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        head = AuditHead(row)
        move = row.optionalText(at: 2).map { QueueMove(detail: $0) }
    }
}

/// A source of a principal, or the principal itself.
package struct SourceRow: TableRow {
    package let name: String
    package let id: Int64
    /// How many of its alerts wait.
    package let pending: Int

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        (name, id) = (row.optionalText(at: 0) ?? "", row.integer(at: 1))
        // A number that was tampered with is found by the checks, and must not block anybody.
        pending = Int(UInt32(clamping: row.integer(at: 2)))
    }
}

/// What came of a change that its caller has named.
package struct RequestRow: TableRow {
    package let made: MadeChange
    /// When, in milliseconds since 1970.
    package let time: Int64

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        made = MadeChange(
            alert: row.integer(at: 0),
            head: AuditHead(sequence: row.integer(at: 1), hash: row.blob(at: 3) ?? []))
        time = row.integer(at: 2)
    }
}

/// The hash of an entry.
package struct EntryHash: TableRow {
    package let bytes: [UInt8]

    package init(_ row: borrowing some SQLRow & ~Copyable) { bytes = row.blob() ?? [] }
}

/// An entry with the hashes next to it, or why it is not as it was written.
package struct LinkedEntry: TableRow {
    package let sequence: Int64
    package let alert: Alert.ID?
    private let entry: Result<AuditEntry, AuditRow.Broken>

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        sequence = row.integer(AuditRow.Column.seq)
        alert = row.optionalInteger(AuditRow.Column.alertId)
        entry = AuditRow.linkedEntry(row)
    }

    /// The entry.
    ///
    /// - Parameter id: The alert for which it was read, which the error is about.
    package func checked(for id: Alert.ID) throws(AlertError) -> AuditEntry {
        switch entry {
        case .success(let entry): return entry
        case .failure(let broken):
            throw .inconsistent(id, "entry \(sequence) \(broken.reason)")
        }
    }
}

// MARK: - Alerts

extension QueueRows {
    package func alert(_ id: Alert.ID) throws -> AlertRow? { try first(query.one(id).row) }

    /// Returns an alert that the log confirms.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    package func checkedAlert(_ reference: AlertReference) throws -> AlertRow? {
        let one = query.one(reference)
        guard let row: AlertRow = try first(one.row) else { return nil }
        let checked = try checked(row, by: one.trail)
        guard case .key(let key, let source, let principal) = reference else { return checked }
        return try checked.checkedKey(key, source: source, of: principal)
    }

    /// Returns an alert; `nil` if the log contradicts it.
    package func consistentAlert(_ id: Alert.ID) throws -> AlertRow? {
        do { return try checkedAlert(.id(id)) } catch AlertError.inconsistent { return nil }
    }

    /// A row, if the log confirms it.
    ///
    /// A process that can write the database can change a row and change it back. The log's
    /// entries, whose hashes are recomputed, record what was asked and how it ended;
    /// ``AlertTrail`` has the rules.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    package func checked(_ row: AlertRow) throws -> AlertRow {
        try checked(row, by: query.one(row.record.id).trail)
    }

    private func checked(_ row: AlertRow, by statement: Statement) throws -> AlertRow {
        let id = row.record.id
        var trail = try trail(of: id, by: statement)
        if let sequence = row.alert.remains?.sequence,
            let erasure = try first(query.entries([sequence]), as: LinkedEntry.self),
            try erasure.checked(for: id).erasedAlerts?.contains(id) == true
        {
            trail.addErasure(by: sequence)
        }
        return try row.checked(by: trail)
    }

    private func trail(of id: Alert.ID, by statement: Statement) throws -> AlertTrail {
        var trail = AlertTrail(of: id)
        var last: Int64 = 0
        for entry in try rows(statement, as: LinkedEntry.self) {
            guard entry.sequence > last else {
                throw AlertError.inconsistent(
                    id, "an index finds entry \(entry.sequence) after entry \(last)")
            }
            last = entry.sequence
            trail.add(try self.entry(entry, about: id))
        }
        return trail
    }

    /// An entry that an index has found for an alert, if it is about that, and as it was written.
    private func entry(_ found: LinkedEntry, about id: Alert.ID) throws -> AuditEntry {
        let entry = try found.checked(for: id)
        guard found.alert == id else {
            throw AlertError.inconsistent(
                id, "an index finds entry \(found.sequence), which is not about it")
        }
        return entry
    }

    /// The digest of the question of an alert with a key, from the entry of its ask.
    package func keyDigest(of id: Alert.ID) throws -> KeyDigest {
        try trail(of: id, by: query.one(id).trail).keyDigest()
    }

    /// Who requested that a screen cancel an alert; `nil` if there is no request.
    package func cancelRequest(of id: Alert.ID) throws -> CancelRequest? {
        try cancelRequest(of: id, by: query.one(id).cancelRequest)
    }

    private func cancelRequest(of id: Alert.ID, by statement: Statement) throws -> CancelRequest? {
        guard let found: LinkedEntry = try first(statement) else { return nil }
        let entry = try entry(found, about: id)
        return entry.event.by.map { CancelRequest(by: $0, caller: entry.caller) }
    }

    /// Returns an alert that the log confirms, and whether a screen that shows it was asked to cancel
    /// it.
    package func currentAlert(
        _ reference: AlertReference
    ) throws -> (row: AlertRow, isCancelRequested: Bool)? {
        guard let row = try checkedAlert(reference) else { return nil }
        let request = query.one(reference).cancelRequest
        let isRequested =
            try row.record.response == nil && cancelRequest(of: row.record.id, by: request) != nil
        return (row, isRequested)
    }

    // MARK: Several

    /// Those of the alerts with these ids that can be read, in their order: one that can't does not
    /// block the others.
    package func readableAlerts(_ ids: [Alert.ID]) throws -> [AlertRow] {
        let rows = try rows(query.alerts(ids), as: ReadableRow.self).compactMap(\.alert)
        let found = Dictionary(rows.map { ($0.record.id, $0) }, uniquingKeysWith: { $1 })
        return ids.compactMap { found[$0] }
    }

    /// The same, each with whether the log contradicts it.
    package func comparedAlerts(_ ids: [Alert.ID]) throws -> [AlertRecord] {
        let rows = try readableAlerts(ids)
        guard !rows.isEmpty else { return [] }
        var trails = Dictionary(
            rows.map { ($0.record.id, AlertTrail(of: $0.record.id)) }, uniquingKeysWith: { $1 })
        for found in try self.rows(query.trails(ids), as: LinkedEntry.self) {
            guard let id = found.alert else { continue }
            // Without a trail it is contradicted.
            if let entry = try? found.checked(for: id) {
                trails[id]?.add(entry)
            } else {
                trails[id] = nil
            }
        }
        let erasures = Set(rows.compactMap(\.alert.remains?.sequence))
        let erased =
            erasures.isEmpty ? [] : try self.rows(query.entries(erasures), as: LinkedEntry.self)
        for row in rows {
            let id = row.record.id
            guard let sequence = row.alert.remains?.sequence,
                let entry = try? erased.first(where: { $0.sequence == sequence })?.checked(for: id),
                entry.erasedAlerts?.contains(id) == true
            else { continue }
            trails[id]?.addErasure(by: sequence)
        }
        return try rows.map { row in
            try row.compared { row in
                guard let trail = trails[row.record.id] else {
                    throw AlertError.inconsistent(row.record.id, "an entry about it was changed")
                }
                return try row.checked(by: trail)
            }
        }
    }

    /// Waiting alerts, each with who deals with it; an entry that was changed says nothing.
    package func withClaims(_ records: [AlertRecord]) throws -> [AlertRecord] {
        let ids = records.filter { $0.response == nil }.map(\.id)
        guard !ids.isEmpty else { return records }
        var trails: [Alert.ID: AlertTrail] = [:]
        for found in try rows(query.claims(ids), as: LinkedEntry.self) {
            guard let id = found.alert, let entry = try? found.checked(for: id) else { continue }
            trails[id, default: AlertTrail(of: id)].add(entry)
        }
        guard !trails.isEmpty else { return records }
        return records.map { record in
            var record = record
            if let trail = trails[record.id] { record.claim = trail.claim }
            return record
        }
    }

    // MARK: The log

    /// The end of the log, and the move of the queue if that entry tells of one.
    package func logEnd() throws -> LogEnd { try first(query(Query.logEnd)) ?? LogEnd() }

    /// The entry with a number, as the log has it.
    package func auditHead(at sequence: Int64) throws -> AuditHead? {
        try first(query.entryHash(sequence), as: EntryHash.self).map {
            AuditHead(sequence: sequence, hash: $0.bytes)
        }
    }
}
