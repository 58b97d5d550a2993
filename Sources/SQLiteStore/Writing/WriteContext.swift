import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import TextFormats

/// The state that members of a write transaction share. One thread at a time uses it.
final class WriteContext {
    let db: Database
    let files: QueueFiles
    /// The moment of the current members: those that waited when the transaction began share one,
    /// and so do those that join it together later.
    var now: ClockReading
    /// The end of the audit log, as it grows during the transaction.
    private(set) var head: AuditHead
    /// The end of the audit log before the transaction.
    let start: AuditHead
    /// The move of the queue, if it has moved.
    let move: QueueMove?
    /// Whether other callers must examine what the members did; set by a member that does more than
    /// its caller knows, such as storing the expiry of another caller's alert.
    var concernsOthers = false
    var due: ClockReading?
    let input = HashInput()
    let sources = KnownSources()
    /// The last id that was assigned, and the lowest after those in the file that an entry is about.
    private var ids: (last: Alert.ID, recorded: Alert.ID?)?

    init(db: Database, of files: QueueFiles, now: ClockReading) throws {
        self.db = db
        self.files = files
        self.now = now
        let end = try db.logEnd()
        (start, head, move) = (end.head, end.head, end.move)
    }

    /// The members' changes to the audit log.
    var change: LogTail.Commit {
        LogTail.Commit(start: start, head: head, concernsOthers: concernsOthers)
    }
}

extension WriteContext: TableTransaction {
    var query: Query { db.query }

    func rows<Found: TableRow>(
        _ statement: Statement, as type: Found.Type
    ) throws -> [Found] {
        try db.rows(statement, as: type)
    }

    func first<Found: TableRow>(
        _ statement: Statement, as type: Found.Type
    ) throws -> Found? {
        try db.first(statement, as: type)
    }

    var writes: Int { db.totalChanges }

    func write(_ statement: Statement, changing count: Int?) throws {
        try db.run(statement)
        if let count { try db.checkChanges(count) }
    }

    func writeCount(of principal: Principal, _ name: String, by difference: Int) throws {
        try db.run(query.counted(principal, name, by: difference))
        let hasRow =
            try db.changes == 1
            || db.rows(query.sources(principal, name), as: SourceRow.self)
                .contains { $0.name.isIdentical(to: name) }
        if hasRow { try db.checkChanges(1) }
    }

    /// The search index has them, and is filled later.
    func words(of alert: Alert, _ input: Alert.Input) -> Value? { nil }

    func isAwaited(_ id: Alert.ID) -> Bool {
        WaitingLeases.unawaited(among: [id], in: files).isEmpty
    }

    /// The id of the next alert.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if an entry is about it: it was assigned before,
    ///   and the alert was removed.
    func nextID() throws -> Alert.ID {
        let (last, recorded) = try ids ?? db.lastIDs()
        guard last < .max else { throw AlertError.usedUp("alerts") }
        guard last + 1 != recorded else {
            throw AlertError.inconsistent(
                nil, "the next alert would have the number \(last + 1), which an entry already has")
        }
        ids = (last, recorded)
        return last + 1
    }

    func insertAlert(_ values: [Value], as id: Alert.ID) throws {
        try db.change(Self.newAlert, values)
        ids?.last = id
    }

    func insert(_ entry: AuditEntry) throws {
        try db.change(Self.newEntry, entry.values)
        head = entry.event.cursor
    }

    func insertSource(_ principal: Principal, _ name: String) throws -> Int64 {
        try db.change(
            "INSERT INTO sources (principal, name) VALUES (?, ?)", .text(principal.text),
            .text(name))
        return db.lastInsertedID
    }

    private static let newAlert = insertion(into: "alerts", PreparedQuestion.columns)
    private static let newEntry = insertion(into: "audit", AuditEntry.columns)

    private static func insertion(into table: String, _ columns: [String]) -> String {
        "INSERT INTO \(table) (\(columns.list)) VALUES (\(columns.map { _ in "?" }.list))"
    }
}

extension WriteContext {
    /// Stores that the deadlines of the first overdue alerts have passed; returns their number.
    ///
    /// - Parameter start: How many overdue alerts to leave out.
    func expireOverdue(atMost limit: Int, from start: Int = 0, by caller: Caller) throws -> Int {
        let ids: [Alert.ID] = try rows(
            query.overdue(at: now, limit: OverdueStart.examined + limit, from: start))
        return try expire(ids, atMost: limit, by: caller)
    }
}

extension Database {
    /// Runs a statement that must change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it did not: a trigger can make a statement
    ///   succeed without any effect; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws { try change(sql, values) }

    func change(_ sql: String, _ values: [Value]) throws {
        try run(sql, values)
        try checkChanges(1)
    }

    fileprivate func checkChanges(_ count: Int) throws {
        guard changes == count else {
            throw AlertError.inconsistent(
                nil, "rows that a statement should have changed: \(count); that it has: \(changes)")
        }
    }
}
