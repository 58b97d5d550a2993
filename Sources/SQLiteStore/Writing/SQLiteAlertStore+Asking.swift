import AlertCore
import FoundationEssentials
import Glibc
import Linux
import SQLite

/// A question prepared for its row, outside of the writer's thread.
private struct PreparedQuestion: Sendable {
    let question: Question
    let caller: Caller
    let buttons: String
    let info: String
    let presenters: String?
    let salt: [UInt8]
    let content: [UInt8]
    let leaves: [UInt8]
    let key: KeyDigest?

    init(_ question: Question, by caller: Caller) {
        self.question = question
        self.caller = caller
        buttons = StoredJSON.encode(question.alert.buttons)
        info = StoredJSON.encode(question.alert.userInfo)
        presenters = question.alert.presenters.map { StoredJSON.encode($0) }
        salt = AuditEntry.makeSalt()
        let input = HashInput()
        content = AuditEntry.content(of: question.alert, salt: salt, input)
        leaves = AuditEntry.leaves(of: question.alert, input)
        key = KeyDigest(of: question.alert, source: question.source)
    }

    /// Stores the question, or finds the one that its key belongs to.
    func store(in context: WriteContext) throws -> Receipt {
        let uid = caller.identity.uid
        let (source, pending) = try context.source(uid: uid, name: question.source)
        if let key = question.alert.key,
            let row = try context.db.checkedAlert(
                key: key, source: question.source, uid: uid)
        {
            var joined = try context.db.join(row, question, sequence: context.head.sequence)
            if row.isOverdue(at: context.now) {
                // The asker gets exactly what is stored.
                joined.record = try context.expire(row, by: caller)
                joined.sequence = context.head.sequence
            }
            return joined
        }
        guard pending < question.pendingLimit else {
            throw AlertError.tooManyPending(source: question.source, limit: question.pendingLimit)
        }
        guard try context.pending(ofAccount: uid) < question.accountLimit else {
            throw AlertError.tooManyPendingOfAccount(uid: uid, limit: question.accountLimit)
        }
        let row = try context.insert(self, source: source)
        try context.audit(
            AuditDraft(
                kind: .asked, record: row.record, content: content,
                detail: row.askedDetail(leaves: leaves, key: key)),
            by: caller)
        context.noteAsked()
        return Receipt(
            record: row.record, isNew: true, expiry: row.expiry, sequence: context.head.sequence)
    }
}

extension SQLiteAlertStore {
    nonisolated(nonsending) func storeQuestion(
        _ question: Question, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        // A known key needs no write, and so no disk space.
        if let known = try await known(question, of: caller) { return known }
        let prepared = PreparedQuestion(question, by: caller)
        return try await commits.perform(.ask, Self.storing) { try prepared.store(in: $0) }
    }

    /// Stores one alert on the calling thread, without a store and its threads.
    ///
    /// A process that writes once and ends would spend more time on them than on its write. This
    /// never waits: `nil` means that nothing was stored; open a store, which waits or reports the
    /// problem.
    ///
    /// Gain: `alertq notify` takes 0.83 times as long (`alertq-bench notify`, files in memory;
    /// against `nil` at once).
    ///
    /// - Throws: The errors of ``Change/ask(_:)`` once its transaction has begun.
    package static func enqueueAtOnce(
        _ question: Question, by caller: Caller, path: String, clock: any AlertClock = .system
    ) throws(AlertError) -> Receipt? {
        // A key is looked up before anything is written; a queue is created under the lock.
        guard question.alert.key == nil, let files = try? QueueFiles(database: path),
            FileIdentity(path: files.database) != nil, (try? WriteAccess.check(files)) != nil
        else { return nil }
        let writer = Writer(files: files, clock: clock, known: LogTail(), busyTime: .zero)
        defer { writer.close() }
        guard (try? writer.open()) != nil else { return nil }
        let bell = Bell(path: files.bell, mode: files.mode)
        bell.create()
        SlotFile(path: files.slot, mode: files.mode).allocate()
        let prepared = PreparedQuestion(question, by: caller)
        guard (try? writer.tryLock()) == true else { return nil }
        defer { writer.unlock() }
        guard (try? writer.begin()) != nil else { return nil }
        let box = ResultBox<Receipt>()
        let job = WriteJob(kind: .ask, operation: storing) { context in
            box.put(try prepared.store(in: context))
        }
        let outcome = writer.commit([job])
        if let error = outcome.errors[0] { throw error }
        bell.ring()
        writer.checkpointIfDue()
        return box.take()
    }

    private static let storing = "store the alert"

    private nonisolated(nonsending) func known(
        _ question: Question, of caller: Caller
    ) async throws(AlertError) -> Receipt? {
        guard let key = question.alert.key else { return nil }
        return try await read("look for the key") { [clock] db in
            guard
                let row = try db.checkedAlert(
                    key: key, source: question.source, uid: caller.identity.uid),
                // An expiry that is not stored yet is stored first.
                !row.isOverdue(at: clock.now())
            else { return nil }
            return try db.join(row, question, sequence: try db.lastSequence())
        }
    }
}

extension Database {
    /// The result of asking again with the same key.
    fileprivate func join(
        _ row: AlertRow, _ question: Question, sequence: Int64
    ) throws -> Receipt {
        var (record, asked) = (row.record, question.alert)
        let isErased = row.salt == nil
        let digest = isErased ? try keyDigest(of: row) : nil
        let part =
            isErased
            ? try differenceFromErased(row, asked, digest)
            : asked.firstDifference(from: record.alert)
        if let part { throw AlertError.keyConflict(asked.key ?? "", record.id, part: part) }
        // The digest has shown that these are the texts that were erased.
        if digest != nil { record.restoreTexts(from: asked) }
        return Receipt(record: record, expiry: row.expiry, sequence: sequence)
    }
}

extension Database {
    /// The first part of a question that differs from an alert whose texts have been erased, as far
    /// as the log still shows.
    private func differenceFromErased(
        _ row: AlertRow, _ asked: Alert, _ digest: KeyDigest?
    ) throws -> String? {
        let (id, left) = (row.record.id, row.record.alert)
        let difference = asked.firstDifference(fromErased: left)
        let source = row.record.source.name
        guard let digest else { return difference }
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

extension WriteContext {
    fileprivate func insert(_ prepared: PreparedQuestion, source: Int64) throws -> AlertRow {
        let alert = prepared.question.alert
        let identity = prepared.caller.identity
        let uid = identity.uid
        let turn = try nextRound(of: source, uid: uid, alert.priority)
        let expiry = try alert.deadline.map { try $0.moment(from: now, of: "deadline") }
        try db.change(
            """
            INSERT INTO alerts (source_id, pid, host, key, style, priority, title, message,
                buttons, info, default_button, handler, presenters, salt, dismiss_after_ms,
                snooze_ms, boot, asked_ms, asked_boot_ms, expires_ms, expires_boot_ms, account,
                turn)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            .integer(source), .integer(Int64(identity.pid)), .text(identity.host),
            .optional(alert.key),
            .text(alert.style.rawValue), .integer(alert.priority.rawValue), .text(alert.title),
            .optional(alert.message), .text(prepared.buttons), .text(prepared.info),
            .optional(alert.defaultButton), .optional(alert.handler),
            .optional(prepared.presenters), .blob(prepared.salt),
            .optional(alert.dismissAfter?.milliseconds), .optional(alert.snooze?.milliseconds),
            .text(now.boot), .integer(now.wallMilliseconds), .integer(now.bootMilliseconds),
            .optional(expiry?.wallMilliseconds),
            .optional(expiry.flatMap { $0.isOnWallClock ? nil : $0.bootMilliseconds }),
            .integer(Int64(uid)), .integer(turn))
        let id = db.lastInsertedID
        try checkUnknown(id)
        changePending(of: source, uid: uid, by: 1)
        return AlertRow(
            asked: prepared, id: id, source: source, at: now, expiry: expiry)
    }
}

extension AlertRow {
    /// The row of a question that has just been stored.
    fileprivate init(
        asked prepared: PreparedQuestion, id: Alert.ID, source: Int64, at now: ClockReading,
        expiry: ClockReading?
    ) {
        let identity = prepared.caller.identity
        sourceID = source
        asked = now
        self.expiry = expiry
        salt = prepared.salt
        isHandled = false
        erasedSequence = nil
        isMarkedResolved = false
        isMarkedCancelled = false
        erasedButtons = nil
        isBlank = false
        record = AlertRecord(
            id: id,
            alert: prepared.question.alert.recorded(
                source: prepared.question.source, expiry: expiry),
            source: AlertRecord.Source(
                name: prepared.question.source, uid: identity.uid, pid: identity.pid,
                host: identity.host),
            state: .queued, askedAt: Timestamp.date(milliseconds: now.wallMilliseconds),
            presentedAt: nil,
            expiresAt: expiry.map { Timestamp.date(milliseconds: $0.wallMilliseconds) },
            snoozedUntil: nil, snoozes: 0, response: nil)
        record.followsWallClock = expiry?.isOnWallClock ?? false
        record.salt = salt
    }
}
