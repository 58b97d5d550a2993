import AlertCore

/// The contents of a queue in memory, and the effect of each change: a value without clocks, locks
/// or waits, which is also the model that other stores are compared with.
struct InMemoryQueue {
    /// All alerts, from id 1.
    private(set) var alerts: [InMemoryAlert] = []
    /// The alerts that have a response, in the order in which the responses were stored.
    private(set) var resolved: [Alert.ID] = []
    var log = InMemoryLog()
    private(set) var turns = InMemoryTurns()
    /// How many snoozes have ended, which the log doesn't record.
    private(set) var awakened: UInt64 = 0
    /// How often a deadline or the end of a snooze has been set.
    private(set) var timesSet: UInt64 = 0
    /// The alerts that wait, in ascending order.
    private var waitingIDs: [Alert.ID] = []
    private var keys: [KeyName: Alert.ID] = [:]
    private var pendingOfSource: [SourceName: Int] = [:]
    private var pendingOfAccount: [UInt32: Int] = [:]

    func alert(_ id: Alert.ID) -> InMemoryAlert? {
        id > 0 && id <= alerts.count ? alerts[Int(id) - 1] : nil
    }

    func alert(key: String, source: String, uid: UInt32) -> InMemoryAlert? {
        let name = KeyName(SourceName(uid, source), key)
        return keys[name].flatMap(alert)
    }

    /// The alerts that wait, snoozed and overdue ones included, in ascending order.
    var waiting: [InMemoryAlert] { waitingIDs.compactMap(alert) }

    /// Makes a change.
    ///
    /// - Throws: The errors that ``Change`` lists; nothing of the change is stored then.
    mutating func commit(
        _ change: Change, _ write: InMemoryWrite
    ) throws(AlertError) -> Attempt<Receipt> {
        try write.now.checkYear(of: "clock")
        return switch change {
        case .ask(let question): .done(try ask(question, write))
        case .resolve(let id, let resolution, let seen):
            try resolve(id, resolution, seen, write)
        case .expire(let id): .done(try expire(id, write))
        case .snooze(let id, let end): try snooze(id, until: end, write)
        case .collect(let id, let reason): .done(try collect(id, unused: reason, write))
        case .run(let id, let step): .done(try run(id, step, write))
        case .requestCancel(let id, let authority):
            .done(try requestCancel(id, authority, write))
        }
    }

    /// Stores a note, unless its alert does not exist.
    mutating func post(_ note: Note, _ write: InMemoryWrite) {
        guard Timestamp.plain.contains(write.now.wallMilliseconds) else { return }
        switch note {
        case .presented(let record, let moment):
            guard let alert = alert(record.id) else { return }
            // The hash is of what was shown, no matter what is stored.
            let content = AuditEntry.content(of: record.alert, salt: alert.salt)
            let draft = AuditDraft(
                kind: .presented, at: moment, record: record, content: content)
            log.append(draft, write)
            alerts[Int(alert.id) - 1].presentedMilliseconds = moment.wallMilliseconds
            turns.note(alert, entry: log.head.sequence)
        case .returned(let record, let reason):
            log.append(AuditDraft(kind: .returned, record: record, detail: reason), write)
        case .collected(let id):
            // Nobody waits for the result, so a failure is ignored.
            _ = try? collect(id, write)
        }
    }

    /// Stores all expiries that are due, and ends the snoozes that are over.
    mutating func keepTime(_ write: InMemoryWrite) {
        let now = write.now
        // As in a file, nothing is stored at a time that the log can't hold.
        guard Timestamp.plain.contains(now.wallMilliseconds) else { return }
        for alert in waiting.filter({ $0.isOverdue(at: now) }).sorted(by: Self.endsBefore(now)) {
            _ = storeExpiry(of: alert, write, by: write.keeper)
        }
        for alert in waiting where alert.snoozedUntil.map(now.isAtOrAfter) ?? false {
            alerts[Int(alert.id) - 1].snoozedUntil = nil
            awakened += 1
        }
    }

    /// The order in which expiries are stored: those of this boot by its clock, then those of other
    /// boots, then those given as moments, both by the wall clock.
    private static func endsBefore(
        _ now: ClockReading
    ) -> (InMemoryAlert, InMemoryAlert) -> Bool {
        let key = { (alert: InMemoryAlert) -> (Int, Int64, Alert.ID) in
            guard let expiry = alert.expiry else { return (3, 0, alert.id) }
            if expiry.isOnWallClock { return (2, expiry.wallMilliseconds, alert.id) }
            return expiry.boot == now.boot
                ? (0, expiry.bootMilliseconds, alert.id) : (1, expiry.wallMilliseconds, alert.id)
        }
        return { key($0) < key($1) }
    }
}

// MARK: - Asking

extension InMemoryQueue {
    private mutating func ask(
        _ question: Question, _ write: InMemoryWrite
    ) throws(AlertError) -> Receipt {
        let identity = write.caller.identity
        let source = SourceName(identity.uid, question.source)
        let name = question.alert.key.map { KeyName(source, $0) }
        if let name, let known = keys[name].flatMap(alert) {
            return try join(known, question.alert, write)
        }
        guard pendingOfSource[source, default: 0] < question.pendingLimit else {
            throw .tooManyPending(source: question.source, limit: question.pendingLimit)
        }
        guard pendingOfAccount[identity.uid, default: 0] < question.accountLimit else {
            throw .tooManyPendingOfAccount(uid: identity.uid, limit: question.accountLimit)
        }
        let expiry = try question.alert.deadline.map { deadline throws(AlertError) in
            try deadline.moment(from: write.now, of: "deadline")
        }
        let alert = InMemoryAlert(
            id: Int64(alerts.count) + 1, question, by: identity, at: write.now, expiry: expiry,
            entry: log.head.sequence + 1)
        alerts.append(alert)
        waitingIDs.append(alert.id)
        if let name { keys[name] = alert.id }
        pendingOfSource[source, default: 0] += 1
        pendingOfAccount[identity.uid, default: 0] += 1
        if expiry != nil { timesSet += 1 }
        let key = KeyDigest(of: question.alert, source: question.source)
        log.append(
            AuditDraft(
                kind: .asked, record: alert.record, content: alert.content,
                detail: alert.askedDetail(key: key)), write)
        return Receipt(
            record: alert.record, isNew: true, expiry: expiry, sequence: log.head.sequence)
    }

    /// Asks again with a known key.
    private mutating func join(
        _ known: InMemoryAlert, _ asked: Alert, _ write: InMemoryWrite
    ) throws(AlertError) -> Receipt {
        if let part = asked.firstDifference(from: known.alert) {
            throw .keyConflict(asked.key ?? "", known.id, part: part)
        }
        // The asker gets what is stored, and nothing else.
        let record =
            known.isOverdue(at: write.now)
            ? storeExpiry(of: known, write, by: write.caller) : known.record
        return Receipt(record: record, expiry: known.expiry, sequence: log.head.sequence)
    }
}

// MARK: - Ending

extension InMemoryQueue {
    private mutating func resolve(
        _ id: Alert.ID, _ resolution: Resolution, _ seen: [UInt8]?, _ write: InMemoryWrite
    ) throws(AlertError) -> Attempt<Receipt> {
        guard let alert = alert(id) else { throw .notFound(id) }
        if let response = alert.response { throw .alreadyResolved(response) }
        guard !alert.isOverdue(at: write.now) else {
            return .late(storeExpiry(of: alert, write, by: write.keeper))
        }
        guard seen == nil || seen == alert.content else { throw .notAsSeen(id) }
        let request = resolution.isRequested ? alert.cancelRequest : nil
        let actor = resolution.actor(by: write.caller, request)
        let response = try resolution.response(
            to: alert.record, at: write.now, by: actor, request)
        let detail = resolution.detail(of: alert.record, at: write.now)
        let record = store(response, of: alert, write, by: actor, detail)
        return .done(Receipt(record: record, isNew: true, sequence: log.head.sequence))
    }

    private mutating func expire(
        _ id: Alert.ID, _ write: InMemoryWrite
    ) throws(AlertError) -> Receipt {
        guard let alert = alert(id) else { throw .notFound(id) }
        guard alert.isOverdue(at: write.now) else {
            return Receipt(
                record: alert.record, expiry: alert.expiry, sequence: log.head.sequence)
        }
        let record = storeExpiry(of: alert, write, by: write.caller)
        return Receipt(record: record, isNew: true, sequence: log.head.sequence)
    }

    private mutating func storeExpiry(
        of alert: InMemoryAlert, _ write: InMemoryWrite, by caller: Caller
    ) -> AlertRecord {
        let now = write.now
        let response = Expiry.response(
            to: alert.record, at: Timestamp.date(milliseconds: now.wallMilliseconds))
        let detail = EntryDetail.expired(
            at: now, because: nil, isUnseen: alert.presentedMilliseconds == nil)
        // Callers of any process may wait for the alert, and the write was meant to do otherwise.
        return store(
            response, of: alert, write, by: caller.through("deadline"), detail,
            concernsOthers: true)
    }

    /// Stores the response of an alert, with its entry.
    private mutating func store(
        _ response: Response, of alert: InMemoryAlert, _ write: InMemoryWrite, by caller: Caller,
        _ detail: String?, concernsOthers: Bool = false
    ) -> AlertRecord {
        var alert = alert
        alert.snoozedUntil = nil
        log.append(
            AuditDraft(
                kind: .resolved, record: alert.record, response: response,
                content: alert.content, detail: detail),
            write, by: caller, concernsOthers: concernsOthers)
        alert.response = response
        alert.resolvedSequence = log.head.sequence
        alerts[Int(alert.id) - 1] = alert
        resolved.append(alert.id)
        waitingIDs.remove(at: waitingIDs.partitionIndex { $0 >= alert.id })
        pendingOfSource[alert.sourceName, default: 0] -= 1
        pendingOfAccount[alert.source.uid, default: 0] -= 1
        return alert.record
    }
}

// MARK: - Other changes

extension InMemoryQueue {
    private mutating func snooze(
        _ id: Alert.ID, until end: Alert.Deadline?, _ write: InMemoryWrite
    ) throws(AlertError) -> Attempt<Receipt> {
        if case .after(let duration)? = end { try Alert.check(duration, "snooze") }
        guard var alert = alert(id) else { throw .notFound(id) }
        if let response = alert.response { throw .alreadyResolved(response) }
        guard !alert.isOverdue(at: write.now) else {
            return .late(storeExpiry(of: alert, write, by: write.keeper))
        }
        let own = Alert.Deadline.after(alert.alert.snooze ?? .seconds(300))
        let until = try (end ?? own).moment(from: write.now, of: "snooze")
        log.append(
            AuditDraft(
                kind: .snoozed, record: alert.record, content: alert.content,
                detail: EntryDetail.snoozed(until: until)), write, concernsOthers: true)
        alert.snoozes += 1
        alert.snoozedUntil = until
        if alert.presentedMilliseconds != nil { alert.queuedSequence = log.head.sequence }
        alerts[Int(id) - 1] = alert
        timesSet += 1
        return .done(
            Receipt(
                record: alert.record, isNew: true, expiry: alert.expiry,
                sequence: log.head.sequence))
    }

    mutating func collect(
        _ id: Alert.ID, unused reason: String? = nil, _ write: InMemoryWrite
    ) throws(AlertError) -> Receipt {
        guard let known = alert(id) else { throw .notFound(id) }
        guard write.caller.mayCollect(from: known.source.uid) else {
            throw .notYours(id, owner: known.source.uid)
        }
        if known.isOverdue(at: write.now) {
            // The collector has read the expiry, which was not stored yet.
            _ = storeExpiry(of: known, write, by: write.caller)
        }
        guard var alert = alert(id), let response = alert.response else {
            return Receipt(record: known.record, sequence: log.head.sequence)
        }
        let isNew = response.collectedAt == nil
        if isNew {
            let date = Timestamp.date(milliseconds: write.now.wallMilliseconds)
            alert.response = response.collected(at: date)
            alerts[Int(id) - 1] = alert
            var draft = AuditDraft(kind: .collected, alert: id, source: alert.source.name)
            draft.detail = reason
            log.append(draft, write)
        }
        return Receipt(record: alert.record, isNew: isNew, sequence: log.head.sequence)
    }

    private mutating func requestCancel(
        _ id: Alert.ID, _ authority: Resolution.Authority, _ write: InMemoryWrite
    ) throws(AlertError) -> Receipt {
        guard var alert = alert(id) else { throw .notFound(id) }
        guard alert.response == nil else {
            return Receipt(record: alert.record, sequence: log.head.sequence)
        }
        let request = authority.isRequested ? alert.cancelRequest : nil
        let by = try authority.resolver(
            of: alert.record, owner: .system, by: write.caller, request)
        log.append(AuditDraft(kind: .cancelling, record: alert.record, by: by), write)
        alert.cancelRequest = CancelRequest(by: by, caller: write.caller)
        alerts[Int(id) - 1] = alert
        return Receipt(
            record: alert.record, isNew: true, isCancelRequested: true,
            sequence: log.head.sequence)
    }
}

extension [Int64] {
    /// The index of the first element that is beyond a limit, in an array in ascending order.
    fileprivate func partitionIndex(where isBeyond: (Int64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
