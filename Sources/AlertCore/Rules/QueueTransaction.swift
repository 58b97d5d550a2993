import FoundationEssentials
import TextFormats

/// A write transaction of a store: what the rules of ``make(_:by:keeper:)`` need of it.
///
/// A change has the same effect in every store, because the rules are here and a store only reads
/// and writes rows. It throws its own errors besides ``AlertError``; nothing of the change is stored
/// then.
package protocol QueueTransaction: AnyObject {
    var now: ClockReading { get }
    /// The end of the log, as it grows during the transaction.
    var head: AuditHead { get }
    /// The earliest moment at which something becomes due because of the changes.
    var due: ClockReading? { get set }

    /// Returns an alert that the log confirms; `nil` if there is none.
    func alert(_ id: Alert.ID) throws -> StoredAlert?

    /// Returns the alert that a principal has asked with a key, if the log confirms it; of several,
    /// the one that no other has replaced.
    func alert(key: String, source: String, of principal: Principal) throws -> StoredAlert?

    /// The digest of the question of an alert with a key, from the entry of its ask.
    func keyDigest(of id: Alert.ID) throws -> KeyDigest

    /// Who last requested that a screen cancel an alert; `nil` if there is no request.
    func cancelRequest(of id: Alert.ID) throws -> CancelRequest?

    /// Whether the log has the start of a command that an alert allowed.
    func hasStartedRun(_ id: Alert.ID) throws -> Bool

    /// Whether the queue has been restored from a backup after an entry of the log.
    func wasRestored(after sequence: Int64) throws -> Bool

    /// Whether a call of any process waits for an alert now, or may do so.
    func isAwaited(_ id: Alert.ID) throws -> Bool

    /// How many alerts of a source wait, and how many of its principal.
    func pendingCounts(
        of principal: Principal, source: String
    ) throws -> (source: Int, principal: Int)

    /// What came of a change with a name; `nil` if it has not taken effect within a day.
    func made(_ change: RequestedChange) throws -> MadeChange?

    /// Remembers that a change with a name has taken effect.
    func remember(_ change: RequestedChange, _ made: MadeChange) throws

    /// Returns the id of the next alert.
    func nextID() throws -> Alert.ID

    /// Stores a new alert with the next id; the next entry of the log will record the ask.
    func insert(_ question: PreparedQuestion, as id: Alert.ID, expiry: ClockReading?) throws

    /// Stores what has happened to an alert. The entry that records it is already the last one of
    /// the log, except for a collection, whose entry follows.
    func update(_ record: AlertRecord, _ update: AlertUpdate) throws

    /// Appends an entry to the log.
    ///
    /// - Parameter concernsOthers: Whether not only the caller, but also other parts of the process
    ///   that makes the change must learn of it.
    func append(_ draft: AuditDraft, by caller: Caller, concernsOthers: Bool) throws
}

/// What has happened to an alert, as far as its row tells.
package enum AlertUpdate: Sendable {
    case presented(at: ClockReading)
    /// `isRequeued` means that it waits in line anew from now on.
    case snoozed(until: ClockReading, isRequeued: Bool)
    /// `givenAt` is the moment from which an answer counts that goes stale.
    case resolved(Response, givenAt: ClockReading?)
    /// Another alert has taken its key.
    case superseded(by: Alert.ID)
    /// `isStale` means that its asker did not use the response because it was stale.
    case collected(at: ClockReading, isStale: Bool)
}

/// A question, with everything of its entry that does not depend on the transaction: the asking
/// tasks prepare that, because they share a store's writer.
package final class PreparedQuestion: Sendable {
    package let question: Question
    package let caller: Caller
    /// The salt of the content's hash.
    package let salt: [UInt8]
    fileprivate let content: [UInt8]
    fileprivate let terms: String

    package init(_ question: Question, by caller: Caller) {
        let alert = question.alert
        self.question = question
        self.caller = caller
        salt = AuditEntry.makeSalt()
        let input = HashInput()
        content = AuditEntry.content(of: alert, salt: salt, input)
        terms =
            EntryDetail.Asked(
                of: alert, isAwaited: question.isAwaited,
                leaves: AuditEntry.leaves(of: alert, input),
                key: KeyDigest(of: alert, source: question.source)
            ).terms
    }

    /// The alert that it becomes.
    package func stored(
        _ id: Alert.ID, at now: ClockReading, expiry: ClockReading?
    ) -> StoredAlert {
        var record = AlertRecord(
            id: id, alert: question.alert.recorded(source: question.source, expiry: expiry),
            source: AlertRecord.Source(
                name: question.source, caller.principal, caller.means),
            state: .queued, askedAt: Timestamp.date(milliseconds: now.wallMilliseconds),
            presentedAt: nil,
            expiresAt: expiry.map { Timestamp.date(milliseconds: $0.wallMilliseconds) },
            snoozedUntil: nil, snoozes: 0, response: nil)
        record.note(expiry)
        record.awaitedSince = question.isAwaited ? now : nil
        record.salt = salt
        return StoredAlert(record: record, asked: now, expiry: expiry, snoozedUntil: nil)
    }
}

// MARK: - Asking

extension QueueTransaction {
    /// Stores a question, or finds the alert that its key belongs to; it may take the place of
    /// that one.
    package func ask(_ prepared: PreparedQuestion) throws -> Receipt {
        let (question, caller) = (prepared.question, prepared.caller)
        let source = question.source
        if case .numbered(let reuse) = question.join {
            return try askNumbered(question, reuse, by: caller)
        }
        var replaced: StoredAlert?
        if let key = question.alert.key,
            let earlier = try alert(key: key, source: source, of: caller.principal)
        {
            let receipt = try earlier.joined(by: question, at: now, head: head) {
                try keyDigest(of: earlier.record.id)
            }
            if var receipt {
                if earlier.isOverdue(at: now) {
                    // The asker gets exactly what is stored.
                    receipt.record = try expire(earlier, by: caller)
                    receipt.head = head
                }
                return receipt
            }
            replaced = earlier
        }
        if !question.mayBeNew { throw AlertError.keyNotFound(question.alert.key ?? "") }
        // Whatever can be refused is refused before anything is written.
        let leaves = replaced.map { $0.record.response == nil } ?? false
        try checkLimits(of: question, caller.principal, leaving: leaves ? 1 : 0)
        let expiry = try question.alert.deadline.map { try $0.moment(from: now, of: "deadline") }
        let id = try nextID()
        // The key is free only then.
        if let replaced { try supersede(replaced, by: id, caller) }
        try insert(prepared, as: id, expiry: expiry)
        var entry = AuditDraft(kind: .asked, alert: id, source: source)
        entry.content = prepared.content
        entry.preparedDetail = EntryDetail.Asked.text(
            at: now, expiry: expiry, terms: prepared.terms)
        try append(entry, by: caller, concernsOthers: false)
        noteDue(expiry)
        return changed(
            prepared.stored(id, at: now, expiry: expiry).record, timeLeft: expiry.map(now.time))
    }

    /// Joins the last alert of a question with numbered keys, or asks with the next number and logs
    /// why the response of the last one is not used.
    private func askNumbered(
        _ question: Question, _ reuse: Question.Reuse, by caller: Caller
    ) throws -> Receipt {
        let (last, next) = try question.last {
            try alert(key: $0, source: question.source, of: caller.principal)
        }
        func askAnew() throws -> Receipt {
            guard question.mayBeNew else {
                throw AlertError.keyNotFound(question.alert.key ?? "")
            }
            return try ask(PreparedQuestion(question.numbered(next), by: caller))
        }
        guard let last = last?.current(at: now) else { return try askAnew() }
        let record = last.record.visible(last.expiry, snoozedUntil: nil, at: now)
        let response = record.response
        if response?.collectedAt != nil || response?.outcome == .withdrawn {
            return try askAnew()
        }
        guard let reason = try response.flatMap({ try whyUnused($0, of: last, reuse) }) else {
            return try ask(PreparedQuestion(question.numbered(next - 1), by: caller))
        }
        // First, because it may be refused.
        var receipt = try askAnew()
        _ = try collect(last, because: reason, by: caller)
        receipt.unused = UnusedResponse(record, because: reason)
        return receipt
    }

    /// Why a response that nobody has taken is not one to the same question, asked again; `nil` if
    /// it is.
    private func whyUnused(
        _ response: Response, of alert: StoredAlert, _ reuse: Question.Reuse
    ) throws -> EntryReason? {
        if response.outcome == .expired, !reuse.byDefault || !response.isAnswer {
            return .undecided
        }
        if let reason = try whyUnusable(response, of: alert) { return reason }
        guard let limit = reuse.within else { return nil }
        let age = now.wallMilliseconds - Timestamp.milliseconds(response.resolvedAt)
        return (0..<limit.milliseconds).contains(age) ? nil : .earlier
    }

    /// Why a response may no longer be acted on, by whomever; `nil` if it may.
    private func whyUnusable(
        _ response: Response, of alert: StoredAlert
    ) throws -> EntryReason? {
        if response.isStale { return .stale }
        return try alert.resolvedSequence.map(wasRestored) == true ? .restored : nil
    }

    /// Makes sure that one more alert may wait, while some of the source leave the line.
    private func checkLimits(
        of question: Question, _ principal: Principal, leaving count: Int
    ) throws {
        let pending = try pendingCounts(of: principal, source: question.source)
        guard pending.source - count < question.pendingLimit else {
            throw AlertError.tooManyPending(source: question.source, limit: question.pendingLimit)
        }
        guard pending.principal - count < question.principalLimit else {
            throw AlertError.tooManyPendingOfPrincipal(
                principal, limit: question.principalLimit)
        }
    }

    /// Gives the key of an alert to another one; the alert is withdrawn if it waits.
    private func supersede(_ alert: StoredAlert, by id: Alert.ID, _ caller: Caller) throws {
        var record = alert.record
        if alert.isOverdue(at: now) {
            record = try expire(alert, by: caller)
        } else if record.response == nil {
            let response = record.withdrawal(at: now, caller.recorded)
            // Calls of this process may wait for it, and its screen may show it.
            record = try store(response, of: alert, by: caller, nil, concernsOthers: true)
        }
        try append(
            AuditDraft(kind: .superseded, record: record, detail: .superseded(by: id)),
            by: caller, concernsOthers: false)
        try update(record, .superseded(by: id))
    }
}

extension StoredAlert {
    /// The receipt of asking again with the same key; `nil` if the question takes the alert's
    /// place.
    ///
    /// - Parameter digest: Reads the digest of the question from the log.
    /// - Throws: ``AlertError/keyConflict(_:_:part:)`` for another question, or
    ///   ``AlertError/alreadyResolved(_:)`` if it was to replace an alert whose answer nobody has
    ///   collected.
    package func joined(
        by question: Question, at now: ClockReading, head: AuditHead, digest: () throws -> KeyDigest
    ) throws -> Receipt? {
        var (record, asked) = (record.current(at: now), question.alert)
        let part =
            record.isErased
            ? try differenceFromErased(asked, digest()) : asked.firstDifference(from: record.alert)
        if question.join == .replacing {
            let response = record.visible(expiry, snoozedUntil: nil, at: now).response
            // The answer to a question is kept for whoever asks that again.
            if let response, !response.isAnswer || response.isStale { return nil }
            if part != nil {
                if let response, response.collectedAt == nil {
                    throw AlertError.alreadyResolved(response)
                }
                return nil
            }
        }
        if let part { throw AlertError.keyConflict(asked.key ?? "", record.id, part: part) }
        // The digest has shown that these are the texts that were erased.
        if record.isErased { record.restoreTexts(from: asked) }
        return Receipt(record: record, timeLeft: expiry.map(now.time), head: head)
    }

    /// The first part of a question that differs from an alert whose texts have been erased; the
    /// log has a hash of them.
    private func differenceFromErased(_ asked: Alert, _ digest: KeyDigest) throws -> String? {
        let difference = asked.firstDifference(fromErased: record.alert)
        let own = KeyDigest(of: asked, source: record.source.name, salt: digest.salt)
        guard own?.hash == digest.hash else { return difference ?? "text" }
        // It is the same question, so this can't differ.
        guard difference == nil else {
            throw AlertError.inconsistent(
                record.id, "its \(difference ?? "") is not what was asked")
        }
        // They are no texts, and the digest does not have them.
        return asked.firstDifference(fromTermsOf: record.alert)
    }
}

// MARK: - Changes

extension QueueTransaction {
    /// Refuses changes under an attachment or a lease that is over, unless they took effect before
    /// that, and only the reply was lost.
    ///
    /// - Throws: ``AlertError/detached``.
    package func refuseIfOver(_ isOver: Bool, _ names: [RequestedChange?]) throws {
        guard isOver else { return }
        guard try names.contains(where: { try $0.map(made) ?? nil != nil }) else {
            throw AlertError.detached
        }
    }

    /// Makes a change, unless it has a name and has already taken effect: then its receipt is
    /// returned.
    ///
    /// - Parameter prepared: The question, if the change asks one.
    package func make(
        _ change: Change, _ prepared: PreparedQuestion?, named name: RequestedChange?,
        by caller: Caller, keeper: Caller
    ) throws -> Result<Receipt, AlertError> {
        if let name, let made = try made(name) {
            let alert = try existing(made.alert)
            let isCancelRequested =
                try alert.record.response == nil && cancelRequest(of: made.alert) != nil
            return .success(
                Receipt(
                    record: alert.record, isNew: true, isCancelRequested: isCancelRequested,
                    timeLeft: alert.expiry.map(now.time), head: made.head))
        }
        let result =
            if let prepared { Result<Receipt, AlertError>.success(try ask(prepared)) } else {
                try make(change, by: caller, keeper: keeper)
            }
        if let name, case .success(let receipt) = result, receipt.isNew {
            try remember(
                name, MadeChange(alert: receipt.record.id, head: receipt.head))
        }
        return result
    }

    /// Makes a change. One that is late fails, but since it was a write, the expiry is stored.
    ///
    /// - Parameter keeper: On whose behalf the expiry is stored that a late change finds.
    /// - Throws: The other errors, with which nothing of the change may stay.
    package func make(
        _ change: Change, by caller: Caller, keeper: Caller
    ) throws -> Result<Receipt, AlertError> {
        switch change {
        case .ask(let question): return .success(try ask(PreparedQuestion(question, by: caller)))
        case .resolve(let id, let resolution, let seen):
            let alert = try existing(id)
            if let late = try refuseIfEnded(alert, keeper) { return .failure(late) }
            guard seen == nil || seen == alert.content else { throw AlertError.notAsSeen(id) }
            return .success(try resolve(alert, resolution, by: caller))
        case .snooze(let id, let end):
            if case .after(let duration)? = end { try Alert.check(duration, "snooze") }
            let alert = try existing(id)
            if let late = try refuseIfEnded(alert, keeper) { return .failure(late) }
            return .success(try snooze(alert, until: end, by: caller))
        case .claim(let id, let end, let isForced):
            if case .after(let duration)? = end { try Alert.check(duration, "claim") }
            let alert = try existing(id)
            if let late = try refuseIfEnded(alert, keeper) { return .failure(late) }
            return .success(try claim(alert, until: end, isForced: isForced, by: caller))
        case .release(let id, let isForced):
            let alert = try existing(id)
            if let late = try refuseIfEnded(alert, keeper) { return .failure(late) }
            return .success(try release(alert, isForced: isForced, by: caller))
        case .collect(let id, let reason):
            return .success(try collect(existing(id), because: reason, by: caller))
        case .run(let id, let step):
            return .success(try run(step, allowedBy: existing(id), by: caller))
        case .requestCancel(let id, let authority):
            return .success(try requestCancel(of: existing(id).record, authority, by: caller))
        }
    }

    private func existing(_ id: Alert.ID) throws -> StoredAlert {
        guard let alert = try alert(id) else { throw AlertError.notFound(id) }
        return alert.current(at: now)
    }

    private func changed(_ record: AlertRecord, timeLeft: Duration? = nil) -> Receipt {
        Receipt(record: record, isNew: true, timeLeft: timeLeft, head: head)
    }

    private func noteDue(_ moment: ClockReading?) {
        due = now.earliest(of: [due, moment].compactMap(\.self))
    }

    /// Stores the expiry of an alert whose deadline has passed; returns the error that says so, or
    /// `nil` while the alert waits.
    ///
    /// - Throws: ``AlertError/alreadyResolved(_:)``, or ``AlertError/late(_:)`` if the deadline ended
    ///   it: a late answer that is repeated gets the same error.
    private func refuseIfEnded(_ alert: StoredAlert, _ keeper: Caller) throws -> AlertError? {
        if let response = alert.record.response {
            let isLate = response.outcome == .expired && alert.expiry.map(now.isAtOrAfter) == true
            throw isLate ? AlertError.late(response) : .alreadyResolved(response)
        }
        guard alert.isOverdue(at: now) else { return nil }
        let expired = try expire(alert, by: keeper)
        return expired.response.map(AlertError.late) ?? .notFound(expired.id)
    }

    private func resolve(
        _ alert: StoredAlert, _ resolution: Resolution, by caller: Caller
    ) throws -> Receipt {
        let record = alert.record
        if resolution.isOnlyForOrphans,
            try !record.mayBeOrphaned(at: now) || isAwaited(record.id)
        {
            return Receipt(
                record: record, timeLeft: alert.expiry.map(now.time), head: head)
        }
        let request = resolution.isRequested ? try cancelRequest(of: record.id) : nil
        let actor = resolution.actor(by: caller, request)
        let response = try resolution.response(to: record, at: now, by: actor, request)
        let detail = resolution.detail(of: record, response, at: now)
        return changed(try store(response, of: alert, by: actor, detail))
    }

    /// Stores that an alert's deadline has passed.
    @discardableResult
    package func expire(_ alert: StoredAlert, by caller: Caller) throws -> AlertRecord {
        let date = Timestamp.date(milliseconds: now.wallMilliseconds)
        let expired = EntryDetail.Expired(
            at: now, isEarly: false, isUnseen: alert.record.presentedAt == nil)
        // Calls of this process may wait for the alert, although none of them made this change.
        return try store(
            Expiry.response(to: alert.record, at: date), of: alert, by: caller.through("deadline"),
            .expired(expired), concernsOthers: true)
    }

    /// Stores the one response of an alert, with its entry.
    private func store(
        _ response: Response, of alert: StoredAlert, by caller: Caller, _ detail: EntryDetail?,
        concernsOthers: Bool = false
    ) throws -> AlertRecord {
        var record = alert.record
        record.snoozedUntil = nil
        record.givenAt = record.alert.limits(response) ? now : nil
        try append(
            AuditDraft(
                kind: .resolved, record: record, response: response, content: alert.content,
                detail: detail), by: caller, concernsOthers: concernsOthers)
        try update(record, .resolved(response, givenAt: record.givenAt))
        record.state = .resolved
        record.response = response
        record.setGiven(at: record.givenAt, deadline: alert.expiry)
        return record.current(at: now)
    }

    private func snooze(
        _ alert: StoredAlert, until end: Alert.Deadline?, by caller: Caller
    ) throws -> Receipt {
        var record = alert.record
        let until = try (end ?? .after(record.alert.snooze ?? .seconds(300)))
            .moment(from: now, of: "snooze")
        try append(
            AuditDraft(
                kind: .snoozed, record: record, content: alert.content,
                detail: .snoozed(until: EntryDetail.Moment(until))), by: caller,
            concernsOthers: true)
        try update(record, .snoozed(until: until, isRequeued: record.presentedAt != nil))
        record.snoozes += 1
        record.snoozedUntil = Timestamp.date(milliseconds: until.wallMilliseconds)
        noteDue(until)
        return changed(record, timeLeft: alert.expiry.map(now.time))
    }

    private func claim(
        _ alert: StoredAlert, until end: Alert.Deadline?, isForced: Bool, by caller: Caller
    ) throws -> Receipt {
        var record = alert.record
        try refuseIfClaimed(record, isForced: isForced, by: caller)
        let until = try (end ?? .after(AlertClaim.length)).moment(from: now, of: "claim")
        try append(
            AuditDraft(
                kind: .claimed, record: record,
                detail: .claimed(until: EntryDetail.Moment(until))), by: caller,
            concernsOthers: false)
        record.claim = AlertClaim(by: caller, until: until)
        return changed(record, timeLeft: alert.expiry.map(now.time))
    }

    private func release(
        _ alert: StoredAlert, isForced: Bool, by caller: Caller
    ) throws -> Receipt {
        var record = alert.record
        let timeLeft = alert.expiry.map(now.time)
        guard record.claim != nil else {
            return Receipt(record: record, timeLeft: timeLeft, head: head)
        }
        try refuseIfClaimed(record, isForced: isForced, by: caller)
        try append(
            AuditDraft(kind: .released, record: record), by: caller, concernsOthers: false)
        record.claim = nil
        return changed(record, timeLeft: timeLeft)
    }

    /// - Throws: ``AlertError/claimed(_:_:)`` if another principal deals with the alert.
    private func refuseIfClaimed(
        _ record: AlertRecord, isForced: Bool, by caller: Caller
    ) throws {
        guard let claim = record.claim, !isForced, !caller.hasRight(over: claim.by.principal)
        else { return }
        throw AlertError.claimed(record.id, claim)
    }

    /// Marks a response as collected, unless it already is.
    private func collect(
        _ alert: StoredAlert, because reason: EntryReason? = nil, by caller: Caller
    ) throws -> Receipt {
        var record = alert.record
        guard caller.mayCollect(from: record.source.principal) else {
            throw AlertError.notYours(record.id, owner: record.source.principal)
        }
        // The collector has read an expiry that is not stored yet.
        if alert.isOverdue(at: now) { record = try expire(alert, by: caller) }
        guard let response = record.response, response.collectedAt == nil else {
            return Receipt(record: record, head: head)
        }
        try update(record, .collected(at: now, isStale: reason == .stale))
        try append(
            AuditDraft(kind: .collected, record: record, detail: reason.map(EntryDetail.unused)),
            by: caller, concernsOthers: false)
        record.response = response.collected(
            at: Timestamp.date(milliseconds: now.wallMilliseconds))
        return changed(record)
    }

    private func run(
        _ step: RunStep, allowedBy alert: StoredAlert, by caller: Caller
    ) throws -> Receipt {
        let record = alert.record
        guard caller.mayCollect(from: record.source.principal) else {
            throw AlertError.notYours(record.id, owner: record.source.principal)
        }
        var receipt = Receipt(record: record, head: head)
        var content: [UInt8]?
        if case .started(let allowsDefault) = step {
            guard let response = record.response, response.collectedAt == nil,
                response.allowsRun(byDefault: allowsDefault)
            else { return receipt }
            let reason = try whyUnusable(response, of: alert)
            receipt = try collect(alert, because: reason, by: caller)
            if let reason {
                receipt.isNew = false
                receipt.unused = UnusedResponse(record, because: reason)
            }
            content = alert.content
        } else {
            // Only what was started can end.
            receipt.isNew = try hasStartedRun(record.id)
        }
        guard receipt.isNew else { return receipt }
        try append(
            AuditDraft(
                kind: .ran, record: record, content: content, detail: .ran(step)),
            by: caller, concernsOthers: false)
        receipt.head = head
        return receipt
    }

    private func requestCancel(
        of record: AlertRecord, _ authority: Resolution.Authority, by caller: Caller
    ) throws -> Receipt {
        guard record.response == nil else {
            return Receipt(record: record, head: head)
        }
        let request = authority.isRequested ? try cancelRequest(of: record.id) : nil
        let by = try authority.resolver(of: record, owner: .system, by: caller, request)
        try append(
            AuditDraft(kind: .cancelling, record: record, by: by), by: caller,
            concernsOthers: false)
        var receipt = changed(record)
        receipt.isCancelRequested = true
        return receipt
    }

    /// Stores an entry that was posted at a moment.
    package func store(_ entry: PostedEntry, at moment: ClockReading, by caller: Caller) throws {
        switch entry {
        case .presented(let record):
            // The hash covers what was shown, even if the row differs by now.
            try append(
                AuditDraft(
                    kind: .presented, at: moment, record: record, content: record.seenDigest),
                by: caller, concernsOthers: false)
            try update(record, .presented(at: moment))
        case .returned(let record, let why):
            try append(
                AuditDraft(kind: .returned, record: record, detail: .returned(why)), by: caller,
                concernsOthers: false)
        case .collected(let id): _ = try collect(existing(id), by: caller)
        }
    }
}
