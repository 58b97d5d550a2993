import AlertCore
import SQLite

/// A question, with everything of its row and its entry that does not depend on the transaction.
///
/// The asking task prepares that, and turns the outcome into the receipt, because all askers share
/// the writer's thread. Gain: ten percent of that thread's time with 512 waiting tasks (`perf
/// record alertq-bench ask`, files in memory; against a receipt and an entry's detail made there).
///
/// It is a class, because the asking task and the transaction share it.
final class PreparedQuestion: Sendable {
    /// What became of it in its transaction.
    enum Stored: Sendable {
        case new(Alert.ID, at: ClockReading, expiry: ClockReading?, sequence: Int64)
        /// Its key belongs to an alert that had been asked before.
        indirect case joined(Receipt)
    }

    let question: Question
    let caller: Caller
    let buttons: String
    let info: String
    let presenters: String?
    let salt: [UInt8]
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
    func store(in context: WriteContext) throws -> Stored {
        let uid = caller.identity.uid
        if let row = try known(in: context) {
            var joined = try context.db.join(row, question, sequence: context.head.sequence)
            if row.isOverdue(at: context.now) {
                // The asker gets exactly what is stored.
                joined.record = try context.expire(row, by: caller)
                joined.sequence = context.head.sequence
            }
            return .joined(joined)
        }
        let source = try context.source(uid: uid, name: question.source)
        guard source.pending < question.pendingLimit else {
            throw AlertError.tooManyPending(source: question.source, limit: question.pendingLimit)
        }
        guard try context.pending(ofAccount: uid) < question.accountLimit else {
            throw AlertError.tooManyPendingOfAccount(uid: uid, limit: question.accountLimit)
        }
        let expiry = try question.alert.deadline.map {
            try $0.moment(from: context.now, of: "deadline")
        }
        let id = try insert(in: context, source: source.id, expiry: expiry)
        var entry = AuditDraft(kind: .asked, alert: id, source: question.source)
        entry.content = content
        entry.detail = EntryDetail.asked(
            expiry: expiry, terms: terms, moment: context.askedMoment)
        try context.audit(entry, by: caller)
        context.noteAsked()
        return .new(id, at: context.now, expiry: expiry, sequence: context.head.sequence)
    }

    /// Returns the asker's receipt for what became of the question.
    func receipt(of stored: Stored) -> Receipt {
        switch stored {
        case .joined(let receipt): return receipt
        case .new(let id, let now, let expiry, let sequence):
            let identity = caller.identity
            var record = AlertRecord(
                id: id, alert: question.alert.recorded(source: question.source, expiry: expiry),
                source: AlertRecord.Source(
                    name: question.source, uid: identity.uid, pid: identity.pid,
                    host: identity.host),
                state: .queued, askedAt: Timestamp.date(milliseconds: now.wallMilliseconds),
                presentedAt: nil,
                expiresAt: expiry.map { Timestamp.date(milliseconds: $0.wallMilliseconds) },
                snoozedUntil: nil, snoozes: 0, response: nil)
            record.followsWallClock = expiry?.isOnWallClock ?? false
            record.salt = salt
            return Receipt(record: record, isNew: true, expiry: expiry, sequence: sequence)
        }
    }

    /// The alert that the key belongs to.
    private func known(in context: WriteContext) throws -> AlertRow? {
        guard let key = question.alert.key else { return nil }
        try context.insertGathered()
        return try context.db.checkedAlert(
            key: key, source: question.source, uid: caller.identity.uid)
    }

    private func insert(
        in context: WriteContext, source known: Int64?, expiry: ClockReading?
    ) throws -> Alert.ID {
        let uid = caller.identity.uid
        let source = try known ?? context.addSource(uid: uid, name: question.source)
        let turn = try context.nextRound(of: source, uid: uid, question.alert.priority)
        let id = try context.insert(
            QuestionRow(
                prepared: self, source: source, turn: turn, now: context.now, expiry: expiry))
        try context.checkUnknown(id)
        context.changePending(of: source, uid: uid, by: 1)
        return id
    }
}
