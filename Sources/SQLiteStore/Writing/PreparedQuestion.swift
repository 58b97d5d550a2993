import AlertCore
import SQLite

/// A question, with everything of its row and its entry that does not depend on the transaction.
///
/// The asking task prepares that, because all askers share the writer's thread.
struct PreparedQuestion: Sendable {
    private let question: Question
    private let caller: Caller
    private let buttons: String
    private let info: String
    private let presenters: String?
    private let salt: [UInt8]
    private let content: [UInt8]
    private let terms: String

    init(_ question: Question, by caller: Caller) {
        let alert = question.alert
        self.question = question
        self.caller = caller
        buttons = StoredJSON.encode(alert.buttons)
        info = StoredJSON.encode(alert.userInfo)
        presenters = alert.presenters.map { StoredJSON.encode($0) }
        salt = AuditEntry.makeSalt()
        let input = HashInput()
        content = AuditEntry.content(of: alert, salt: salt, input)
        terms = EntryDetail.askedTerms(
            dismissAfter: alert.dismissAfter, snooze: alert.snooze,
            leaves: AuditEntry.leaves(of: alert, input),
            key: KeyDigest(of: alert, source: question.source))
    }

    /// Stores the question, or finds the one that its key belongs to.
    func store(in context: WriteContext) throws -> Receipt {
        let (db, uid) = (context.db, caller.identity.uid)
        if let key = question.alert.key,
            let row = try db.checkedAlert(key: key, source: question.source, uid: uid)
        {
            var joined = try db.join(row, question, sequence: context.head.sequence)
            if row.isOverdue(at: context.now) {
                // The asker gets exactly what is stored.
                joined.record = try context.expire(row, by: caller)
                joined.sequence = context.head.sequence
            }
            return joined
        }
        let source = try db.source(uid: uid, name: question.source)
        guard source?.pending ?? 0 < question.pendingLimit else {
            throw AlertError.tooManyPending(source: question.source, limit: question.pendingLimit)
        }
        let account = try db.source(uid: uid, name: "")
        guard account?.pending ?? 0 < question.accountLimit else {
            throw AlertError.tooManyPendingOfAccount(uid: uid, limit: question.accountLimit)
        }
        let expiry = try question.alert.deadline.map {
            try $0.moment(from: context.now, of: "deadline")
        }
        let sourceID = try source?.id ?? db.addSource(uid: uid, name: question.source)
        if account == nil { _ = try db.addSource(uid: uid, name: "") }
        let id = try insert(in: context, source: sourceID, expiry: expiry)
        var entry = AuditDraft(kind: .asked, alert: id, source: question.source)
        entry.content = content
        entry.detail = EntryDetail.asked(at: context.now, expiry: expiry, terms: terms)
        try context.audit(entry, by: caller)
        return Receipt(
            record: record(id, at: context.now, expiry: expiry), isNew: true, expiry: expiry,
            sequence: context.head.sequence)
    }

    /// The record of the new alert.
    private func record(
        _ id: Alert.ID, at now: ClockReading, expiry: ClockReading?
    ) -> AlertRecord {
        let identity = caller.identity
        var record = AlertRecord(
            id: id, alert: question.alert.recorded(source: question.source, expiry: expiry),
            source: AlertRecord.Source(
                name: question.source, uid: identity.uid, pid: identity.pid, host: identity.host),
            state: .queued, askedAt: Timestamp.date(milliseconds: now.wallMilliseconds),
            presentedAt: nil,
            expiresAt: expiry.map { Timestamp.date(milliseconds: $0.wallMilliseconds) },
            snoozedUntil: nil, snoozes: 0, response: nil)
        record.followsWallClock = expiry?.isOnWallClock ?? false
        record.salt = salt
        return record
    }

    /// Inserts the row; the next entry of the log will record the ask.
    private func insert(
        in context: WriteContext, source: Int64, expiry: ClockReading?
    ) throws -> Alert.ID {
        let (alert, identity, now) = (question.alert, caller.identity, context.now)
        let id = try context.nextID()
        try context.db.change(
            """
            INSERT INTO alerts (id, source_id, pid, host, key, style, priority, title, message,
                buttons, info, default_button, handler, presenters, salt, dismiss_after_ms,
                snooze_ms, boot, asked_ms, asked_boot_ms, expires_ms, expires_boot_ms, queued_seq)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(id), .integer(source), .integer(Int64(identity.pid)), .text(identity.host),
            .optional(alert.key), .text(alert.style.rawValue), .integer(alert.priority.rawValue),
            .text(alert.title), .optional(alert.message), .text(buttons), .text(info),
            .optional(alert.defaultButton), .optional(alert.handler), .optional(presenters),
            .blob(salt), .optional(alert.dismissAfter?.milliseconds),
            .optional(alert.snooze?.milliseconds), .text(now.boot),
            .integer(now.wallMilliseconds), .integer(now.bootMilliseconds),
            .optional(expiry?.wallMilliseconds),
            .optional(expiry.flatMap { $0.isOnWallClock ? nil : $0.bootMilliseconds }),
            .integer(context.head.sequence.addingBounded(1)))
        try context.db.changePending(of: source, uid: identity.uid, by: 1)
        return id
    }
}

extension Database {
    /// The result of asking again with the same key.
    func join(
        _ row: AlertRow, _ question: Question, sequence: Int64
    ) throws -> Receipt {
        var (record, asked) = (row.record, question.alert)
        let isErased = record.isErased
        let part =
            isErased
            ? try differenceFromErased(row, asked) : asked.firstDifference(from: record.alert)
        if let part { throw AlertError.keyConflict(asked.key ?? "", record.id, part: part) }
        // The digest has shown that these are the texts that were erased.
        if isErased { record.restoreTexts(from: asked) }
        return Receipt(record: record, expiry: row.expiry, sequence: sequence)
    }

    /// The first part of a question that differs from an alert whose texts have been erased; the
    /// log has a hash of them.
    private func differenceFromErased(_ row: AlertRow, _ asked: Alert) throws -> String? {
        let (id, left) = (row.record.id, row.record.alert)
        let difference = asked.firstDifference(fromErased: left)
        let source = row.record.source.name
        let digest = try keyDigest(of: id)
        guard KeyDigest(of: asked, source: source, salt: digest.salt)?.hash == digest.hash else {
            return difference ?? "text"
        }
        // It is the same question, so this can't differ.
        guard difference == nil else {
            throw AlertError.inconsistent(id, "its \(difference ?? "") is not what was asked")
        }
        return nil
    }
}
