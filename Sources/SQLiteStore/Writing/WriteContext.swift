import AlertCore
import AlertTables
import FoundationEssentials
import SQLite
import TextFormats

/// The state that members of a write transaction share. It never leaves the writer's thread.
final class WriteContext {
    let db: Database
    let files: QueueFiles
    /// The moment of the current members: those that waited when the transaction began share one,
    /// and so do those that join it together later.
    var now: ClockReading
    /// The end of the audit log, as it grows during the transaction.
    var head: AuditHead
    /// The end of the audit log before the transaction.
    let start: AuditHead
    /// The move of the queue, if it has moved.
    let move: QueueMove?
    /// Whether other callers must examine what the members did; set by a member that does more than
    /// its caller knows, such as storing the expiry of another caller's alert.
    var concernsOthers = false
    var due: ClockReading?
    /// Memory for hashing.
    let input = HashInput()
    private var sources: [SourceName: SourceRow] = [:]
    /// The last id that was assigned, and the lowest after those in the file that an entry is about.
    private var ids: (last: Alert.ID, recorded: Alert.ID?)?

    private struct SourceName: Hashable {
        let principal: Principal
        let name: ExactText
    }

    /// A source, or a principal, which is the source without a name: how many of its alerts wait now,
    /// and how many more than before the transaction.
    final class SourceRow {
        let id: Int64
        private(set) var pending: Int
        fileprivate private(set) var change = 0

        fileprivate init(id: Int64, pending: Int) {
            self.id = id
            self.pending = pending
        }

        /// Counts an alert that begins to wait, or ends.
        fileprivate func count(_ difference: Int) {
            pending += difference
            change += difference
        }
    }

    init(db: Database, of files: QueueFiles, now: ClockReading) throws {
        self.db = db
        self.files = files
        self.now = now
        (head, move) = try db.logEnd()
        start = head
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

    /// Records that an alert of a source has been inserted.
    func didInsert(_ id: Alert.ID, of source: SourceRow, _ principal: SourceRow) {
        ids?.last = id
        source.count(1)
        principal.count(1)
    }

    /// A source, or a principal; `nil` without a row.
    func source(of principal: Principal, name: String) throws -> SourceRow? {
        let key = SourceName(principal: principal, name: ExactText(name))
        if let known = sources[key] { return known }
        guard let found = try db.source(of: principal, name: name) else { return nil }
        let row = SourceRow(id: found.id, pending: Int(UInt32(clamping: found.pending)))
        sources[key] = row
        return row
    }

    /// A source, or a principal, whose row is created if it has none.
    func findOrInsertSource(of principal: Principal, name: String) throws -> SourceRow {
        if let source = try source(of: principal, name: name) { return source }
        try db.change(
            "INSERT INTO sources (principal, name) VALUES (?, ?)", .text(principal.text),
            .text(name))
        let row = SourceRow(id: db.lastInsertedID, pending: 0)
        sources[SourceName(principal: principal, name: ExactText(name))] = row
        return row
    }

    /// Records that an alert of a source no longer waits.
    func didResolve(_ source: AlertRecord.Source) throws {
        // The principal has no row only if the file was tampered with.
        for name in [source.name, ""] {
            try self.source(of: source.principal, name: name)?.count(-1)
        }
    }

    /// Writes the counts, once for all members.
    func finish() throws {
        // A number that was tampered with is found by the checks, and must not block answers.
        for source in sources.values where source.change != 0 {
            try db.change(
                "UPDATE sources SET pending = max(0, pending + ?) WHERE id = ?",
                .integer(source.change), .integer(source.id))
        }
        sources = [:]
    }

    /// The members' changes to the audit log.
    var change: LogTail.Commit {
        LogTail.Commit(start: start, head: head, concernsOthers: concernsOthers)
    }
}

extension WriteContext {
    /// Appends an entry to the audit log, chained to the previous one.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if the clock shows a time that the log can't hold.
    func audit(_ draft: AuditDraft, by caller: Caller) throws {
        try now.checkYear(of: "clock")
        guard head.sequence < .max else { throw AlertError.usedUp("entries of the audit log") }
        let entry = draft.entry(after: head, at: now, by: caller, input)
        try db.change(Self.insertion, entry.values)
        head = entry.event.cursor
    }

    private static let insertion = """
        INSERT INTO audit (\(AuditEntry.columns.list))
        VALUES (\(AuditEntry.columns.map { _ in "?" }.list))
        """
}

extension Database {
    /// Runs a statement that must change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it did not: a trigger can make a statement
    ///   succeed without any effect; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws { try change(sql, values) }

    func change(_ sql: String, _ values: [Value]) throws {
        try run(sql, values)
        guard changes == 1 else {
            throw AlertError.inconsistent(
                nil, "a statement that changes one row has changed \(changes)")
        }
    }
}
