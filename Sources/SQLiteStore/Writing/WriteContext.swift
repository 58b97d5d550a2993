import AlertCore
import FoundationEssentials
import SQLite

/// The state that members of a write transaction share. It never leaves the writer's thread.
final class WriteContext {
    let db: Database
    /// The moment of the current members: those that waited when the transaction began share one,
    /// and so do those that join it together later.
    var now: ClockReading
    /// The end of the audit log, as it grows during the transaction.
    var head: AuditHead
    /// The end of the audit log before the transaction.
    let start: AuditHead
    /// Whether other callers must examine what the members did; set by a member that does more than
    /// its caller knows, such as storing the expiry of another caller's alert.
    var concernsOthers = false
    /// Memory for hashing.
    let input = HashInput()

    init(db: Database, now: ClockReading) throws {
        self.db = db
        self.now = now
        head = try db.lastHead()
        start = head
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
        try insert(entry, milliseconds: (draft.at ?? now).wallMilliseconds)
        head = AuditHead(sequence: entry.event.sequence, hash: entry.hash)
    }

    private func insert(_ entry: AuditEntry, milliseconds: Int64) throws {
        let event = entry.event
        let by = event.responder
        try db.change(
            """
            INSERT INTO audit (seq, at_ms, event, alert_id, source, outcome, button_index,
                button_role, resolved_by, uid, user, login_uid, session, via, tty, ssh, host, boot,
                pid, content, detail, previous, hash)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(event.sequence), .integer(milliseconds), .text(event.kind.rawValue),
            .optional(event.alertID), .optional(event.source),
            .optional(event.outcome?.rawValue), .optional(event.buttonIndex.map(Int64.init)),
            .optional(entry.buttonRole?.rawValue), .optional(event.by?.rawValue),
            .integer(Int64(by.uid)), .optional(by.user),
            .optional(entry.loginUID.map(Int64.init)), .optional(entry.session.map(Int64.init)),
            .text(by.via), .optional(by.tty), .optional(by.ssh), .text(by.host),
            .text(entry.boot), .integer(Int64(by.pid)), .optional(entry.content),
            .optional(entry.detail), .blob(entry.previous), .blob(entry.hash))
    }
}

extension Database {
    /// The id of a source, whose row is created if it has none. An account is the source without a
    /// name.
    func sourceID(uid: UInt32, name: String) throws -> Int64 {
        if let source = try source(uid: uid, name: name) { return source.id }
        try change(
            "INSERT INTO sources (uid, name) VALUES (?, ?)", .integer(Int64(uid)), .text(name))
        return lastInsertedID
    }

    /// Counts an alert of a source and of its account that begins to wait, or ends. A number that
    /// was tampered with is found by the checks, and must not block answers.
    func changePending(of source: String, uid: UInt32, by difference: Int) throws {
        try run(
            """
            UPDATE sources SET pending = max(0, pending + ?)
            WHERE uid = ? AND name IN (?, '')
            """, .integer(difference), .integer(Int64(uid)), .text(source))
        // The account has no row only if the file was tampered with.
        guard changes > 0 else { throw AlertError.ineffective(changes) }
    }

    /// Runs a statement that must change one row.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it did not: a trigger can make a statement
    ///   succeed without any effect; see <https://sqlite.org/lang_createtrigger.html#raise>.
    func change(_ sql: String, _ values: Value...) throws {
        try run(sql, values)
        guard changes == 1 else { throw AlertError.ineffective(changes) }
    }
}

extension AlertError {
    fileprivate static func ineffective(_ count: Int) -> AlertError {
        .inconsistent(nil, "a statement that changes one row has changed \(count)")
    }
}
