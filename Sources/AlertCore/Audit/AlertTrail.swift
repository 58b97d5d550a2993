import TextFormats

/// What the log says about one alert, gathered from its entries, and the rules that they and the
/// alert have to agree with.
///
/// Whatever compares an alert with the log does it here: each reading, with the few entries that
/// say what was asked and how it ended, and a verification, with all.
package struct AlertTrail: Sendable {
    package let id: Alert.ID
    /// How many entries were added.
    package private(set) var count = 0
    private var (asked, resolved, collected): (ReadEntry?, ReadEntry?, ReadEntry?)
    /// The entry that names the alert that was asked in its place.
    private var superseded: ReadEntry?
    /// The entry of a restore that names it: the log contradicted it in the backup.
    private var contradicted: ReadEntry?
    /// The last entries of their kinds.
    private var (presented, snoozed): (ReadEntry?, ReadEntry?)
    private var snoozes = 0
    /// The last entry that says who deals with it, or that nobody does.
    private var lastClaim: ReadEntry?
    /// Whether the command that it allows was started.
    private var hasStarted = false
    /// Whether it was shown before it ended.
    private var wasSeen = false
    /// A presentation without a content: what was shown had already lost its texts.
    private var shownErased: ReadEntry?
    /// The entry that records its erasure.
    private var erased: Int64?
    /// The contradictions between its entries.
    private var faults: [AlertFault] = []

    package init(of id: Alert.ID) { self.id = id }

    /// Adds an entry about the alert; they come in the order of the log.
    package mutating func add(_ entry: consuming AuditEntry) {
        count += 1
        let entry = ReadEntry(entry)
        switch entry.kind {
        case .asked:
            asked = first(asked, entry)
        case .presented:
            presented = entry
            if resolved == nil { wasSeen = true }
            if entry.content == nil { shownErased = entry } else { checkContent(of: entry) }
        case .snoozed:
            snoozed = entry
            snoozes += 1
            checkContent(of: entry)
        case .claimed, .released:
            lastClaim = entry
            if resolved != nil {
                report("was \(entry.kind.rawValue) after it had ended", at: entry)
            }
        case .resolved:
            resolved = first(resolved, entry)
            checkContent(of: entry)
        case .collected:
            collected = first(collected, entry)
            if resolved == nil { report("was collected before it had a response", at: entry) }
        case .ran:
            if collected == nil {
                report("allowed a command to run before its response was collected", at: entry)
            }
            if entry.content != nil { checkContent(of: entry) }
            if case .ran(.started)? = entry.meaning {
                if hasStarted { report("allowed a command to start again", at: entry) }
                hasStarted = true
            } else if !hasStarted {
                report("has the end of a command that was not started", at: entry)
            }
        case .superseded:
            superseded = first(superseded, entry)
            if resolved == nil { report("was superseded before it had ended", at: entry) }
        case .restored: contradicted = entry
        case .returned, .cancelling, .erased, .moved, .clock, .other: break
        }
    }

    /// Adds the entry that records the erasure of the alert's texts, and perhaps of others'.
    package mutating func addErasure(by sequence: Int64) { erased = sequence }

    /// The first of two entries of a kind of which there can be only one.
    private mutating func first(_ known: ReadEntry?, _ entry: ReadEntry) -> ReadEntry {
        guard let known else { return entry }
        report(
            "was already \(entry.kind.rawValue) by entry \(known.sequence), and again "
                + "by entry \(entry.sequence)", at: entry)
        return known
    }

    /// Makes sure that an entry is about what was asked.
    private mutating func checkContent(of entry: ReadEntry) {
        guard let asked, entry.content != asked.content else { return }
        report(Self.isNotWhat(entry), at: entry)
    }

    private static func isNotWhat(_ entry: ReadEntry) -> String {
        "was changed: it is not what entry \(entry.sequence) says was "
            + (entry.kind == .ran ? "run" : entry.kind.rawValue)
    }

    private mutating func report(_ what: String, at entry: ReadEntry) {
        faults.append(AlertFault(what, at: entry.sequence))
    }
}

// MARK: - What was asked, and how it ended

extension AlertTrail {
    /// The digest of its question, from the entry of its ask.
    ///
    /// - Throws: ``AlertError/inconsistent(_:_:)`` if it has none.
    package func keyDigest() throws(AlertError) -> KeyDigest {
        try KeyDigest(asked: asked?.entry, of: id)
    }

    /// The first contradiction between its entries; `nil` if there is none.
    var contradiction: AlertFault? { restoredFault ?? faults.first }

    /// Who deals with it, even if that has lapsed by now.
    package var claim: AlertClaim? { lastClaim?.entry.claim }

    /// Whether its asker did not use the response because it was stale.
    package var wasStale: Bool {
        collected?.meaning == .unused(.stale)
    }

    /// Why no reading may return the alert, whatever its row is now; `nil` unless the backup that
    /// it comes from was restored although the log contradicted it.
    package var restoredFault: AlertFault? {
        contradicted.map { entry in
            AlertFault(
                "was contradicted by the log of a backup that was restored, as entry "
                    + "\(entry.sequence) says", at: entry.sequence)
        }
    }

    /// Why the log contradicts an alert in what it asks and how it ended; empty if it does not.
    ///
    /// It needs the alert's `asked`, `resolved`, `superseded` and `collected` entries, and that of
    /// its erasure.
    ///
    /// - Parameter checksHashes: Whether the hashes are computed again that the content's hash
    ///   implies: a reading needs no more than that.
    package func faults(of alert: StoredAlert, checksHashes: Bool = false) -> [AlertFault] {
        guard let asked else { return [AlertFault("was never asked: no entry records it")] }
        var faults = faults
        // It has the same hash as an alert without presenters, and would wait forever.
        if alert.record.alert.presenters?.isEmpty == true {
            faults.append(AlertFault("names no presenter that may show it"))
        }
        if let remains = alert.remains {
            faults += erasureFaults(of: alert, remains)
        } else if let shownErased {
            faults.append(AlertFault(Self.isNotWhat(shownErased), at: shownErased.sequence))
        }
        // One fault should cause one problem: the hash of a key covers the content, too.
        if alert.remains == nil, alert.content != asked.content {
            faults.append(AlertFault(Self.isNotWhat(asked), at: asked.sequence))
        } else if !asked.isAsk(of: alert, checksHashes: checksHashes) {
            faults.append(
                AlertFault(
                    "was changed: its source, time, deadline, timers, buttons, key or the wait for "
                        + "it are not those of entry \(asked.sequence)", at: asked.sequence))
        }
        return faults + responseFaults(of: alert)
    }

    /// Why an alert may not have lost its texts.
    ///
    /// What is left of it is compared with the entry of its ask, as the rest is.
    private func erasureFaults(
        of alert: StoredAlert, _ remains: StoredAlert.Remains
    ) -> [AlertFault] {
        guard let erased, remains.sequence == erased else {
            return [AlertFault("has lost its texts, and no entry records that")]
        }
        var faults: [AlertFault] = []
        if resolved.map({ $0.sequence > erased }) ?? true {
            faults.append(AlertFault("waits, and has lost its texts"))
        }
        if !remains.isBlank {
            faults.append(AlertFault("has texts that were written after they had been erased"))
        }
        if alert.awaitsCollection, collected.map({ $0.sequence > erased }) ?? true {
            faults.append(AlertFault("lost its texts before its response was collected"))
        }
        return faults
    }

    private func responseFaults(of alert: StoredAlert) -> [AlertFault] {
        var faults: [AlertFault] = []
        let response = alert.record.response
        switch (response, resolved) {
        case (nil, nil): break
        case (nil, let end?):
            faults.append(
                AlertFault("waits, but entry \(end.sequence) says that it ended", at: end.sequence))
        case (_?, nil):
            faults.append(AlertFault("has a response that no entry records"))
        case (let response?, let end?):
            if let difference = end.difference(from: response, of: alert) {
                faults.append(AlertFault(difference, at: end.sequence))
            } else if alert.resolvedSequence != end.sequence {
                faults.append(
                    AlertFault(
                        "does not name entry \(end.sequence), which says how it ended",
                        at: end.sequence))
            }
        }
        let successor = response?.supersededBy
        if (successor == nil) != (superseded == nil)
            || superseded?.meaning != successor.map(EntryDetail.superseded)
        {
            faults.append(
                AlertFault("differs from the log in which alert was asked in its place"))
        }
        if response?.collectedAt.map(Timestamp.milliseconds) != collected?.milliseconds {
            faults.append(
                AlertFault("differs from the log in whether and when its response was collected"))
        }
        return faults
    }
}

// MARK: - What happened in between

extension AlertTrail {
    /// Everything that a verification finds wrong with an alert.
    ///
    /// It needs all entries of the alert.
    ///
    /// - Parameter form: What only its row can have got wrong.
    package func allFaults(
        of alert: StoredAlert, form: [String] = [], at now: ClockReading
    ) -> [AlertFault] {
        faults(of: alert, checksHashes: true) + laterFaults(of: alert, at: now)
            + form.map { AlertFault($0) }
    }

    /// Why the log contradicts an alert in what happened between its ask and its end; empty if it
    /// does not.
    ///
    /// It needs all entries of the alert.
    package func laterFaults(of alert: StoredAlert, at now: ClockReading) -> [AlertFault] {
        guard asked != nil else { return [] }
        var faults: [AlertFault] = []
        let record = alert.record
        if record.presentedAt.map(Timestamp.milliseconds) != presented?.milliseconds {
            faults.append(AlertFault("has a time of presentation that the log doesn't record"))
        }
        if let resolved, wasSeen, case .expired(let expired)? = resolved.meaning, expired.isUnseen {
            faults.append(
                AlertFault(
                    "was shown, but entry \(resolved.sequence) says that it expired unseen",
                    at: resolved.sequence))
        }
        if record.snoozes != snoozes {
            faults.append(
                AlertFault(
                    "was snoozed \(snoozes) times according to the log, but \(record.snoozes) "
                        + "times according to its row"))
        }
        if let end = alert.snoozedUntil {
            if resolved != nil || snoozed?.isSnooze(until: end) != true {
                faults.append(
                    AlertFault(
                        "is snoozed until a different time from the one in its last snooze entry"))
            }
        } else if resolved == nil, snoozed?.mayBeOver(at: now) == false {
            faults.append(AlertFault("is no longer snoozed, though its snooze can't be over"))
        }
        return faults
    }

    /// Why it can't be that a store has no such alert, although the log has entries about it.
    package var faultsWithoutAlert: [AlertFault] {
        guard let asked else {
            return [
                AlertFault("is gone"),
                AlertFault("was never asked, though the log has entries about it"),
            ]
        }
        return [
            AlertFault(
                "of entry \(asked.sequence) is gone or can't be understood", at: asked.sequence)
        ]
    }
}

// MARK: - Single entries

/// An entry with what its detail says, which is read once; a reference, because entries have so many
/// parts that copying trails of them costs more than reading them.
private final class ReadEntry: Sendable {
    let entry: AuditEntry
    let meaning: EntryDetail?

    init(_ entry: consuming AuditEntry) {
        meaning = entry.meaning
        self.entry = entry
    }

    var sequence: Int64 { entry.event.sequence }
    var kind: AlertEvent.Kind { entry.event.kind }
    var content: [UInt8]? { entry.content }
    var milliseconds: Int64 { Timestamp.milliseconds(entry.event.at) }

    /// Whether this entry of an ask records an alert's source, time, deadline and timers, and what
    /// an erasure leaves of it; the content is apart.
    func isAsk(of alert: StoredAlert, checksHashes: Bool) -> Bool {
        let source = alert.record.source
        let isPlain = alert.expiry.map { Timestamp.plain.contains($0.wallMilliseconds) } ?? true
        guard isPlain, entry.event.source.isIdentical(to: source.name),
            entry.event.responder.principal == source.principal,
            entry.event.responder.means.isSame(as: source.means),
            milliseconds == alert.asked.wallMilliseconds,
            entry.boot.isIdentical(to: alert.asked.boot), case .asked(let asked)? = meaning
        else { return false }
        return asked == alert.asked(like: asked, checksHashes: checksHashes)
    }

    /// Whether this entry records a snooze until the given end.
    func isSnooze(until end: ClockReading) -> Bool {
        guard Timestamp.plain.contains(end.wallMilliseconds) else { return false }
        return (end.isOnWallClock || entry.boot.isIdentical(to: end.boot))
            && meaning == .snoozed(until: EntryDetail.Moment(end))
    }

    /// Whether the snooze of this entry may be over by now.
    ///
    /// No entry records the end. Within the same boot, the boot clock says whether it can have
    /// come; after a restart of the machine the wall clock decided, and it may have been set since.
    func mayBeOver(at now: ClockReading) -> Bool {
        guard case .snoozed(let until)? = meaning, let end = until.bootMilliseconds,
            entry.boot.isIdentical(to: now.boot)
        else { return true }
        return end <= now.bootMilliseconds
    }

    /// Why a response is not the one that this entry records; `nil` if it is.
    func difference(from response: Response, of alert: StoredAlert) -> String? {
        guard records(response) else {
            return "has a response that is not the one of entry \(sequence)"
        }
        guard givesTime(of: response, alert) else {
            return "was given at a time that is not the one of entry \(sequence)"
        }
        let input = EntryDetail.Answered(
            response, of: alert.record,
            givenAt: response.outcome == .expired ? nil : alert.record.givenAt
        ).map(EntryDetail.answered)
        switch response.outcome {
        // The values were erased with the texts.
        case .answered where alert.remains == nil && meaning != input,
            .dismissed where alert.remains == nil && meaning != input,
            .withdrawn where alert.remains == nil && meaning != input,
            .cancelled where input != nil, .expired where input != nil:
            return "has values or a note other than those of entry \(sequence)"
        case .cancelled where meaning != .cancelled(isHandled: !response.runsHandlers):
            return "differs from entry \(sequence) in whether its cancel was handled"
        case .expired where !isInTime(for: response, of: alert):
            return "expired with entry \(sequence) before its deadline had passed"
        case .answered, .cancelled, .dismissed, .expired, .withdrawn:
            return nil
        }
    }

    /// Whether an answer that goes stale was given at the time of this entry, by both clocks.
    private func givesTime(of response: Response, _ alert: StoredAlert) -> Bool {
        guard alert.record.alert.limits(response) else { return alert.record.givenAt == nil }
        guard let given = alert.record.givenAt, given.boot.isIdentical(to: entry.boot) else {
            return false
        }
        return switch meaning {
        case .expired(let expired)?: given.bootMilliseconds == expired.bootMilliseconds
        case .answered(let answered)?: given.bootMilliseconds == answered.givenMilliseconds
        default: false
        }
    }

    /// Whether a response has the outcome, the choice, the time and the responder of this entry.
    private func records(_ response: Response) -> Bool {
        guard entry.event.outcome == response.outcome,
            entry.event.buttonIndex == response.buttonIndex,
            entry.event.by == response.by, entry.buttonRole == response.button?.role,
            milliseconds == Timestamp.milliseconds(response.resolvedAt)
        else { return false }
        guard !entry.isOfTimer else { return response.responder == nil }
        return response.responder?.isRecorded(as: entry.event.responder) ?? false
    }

    /// Whether the deadline had passed by its own clock: the boot clock in the boot in which the
    /// alert was asked; the wall clock otherwise, and for a deadline given as a date. Before that
    /// only a default button can be applied, if nobody is there to answer.
    private func isInTime(for response: Response, of alert: StoredAlert) -> Bool {
        guard case .expired(let recorded)? = meaning else { return false }
        let end = ClockReading(
            wallMilliseconds: milliseconds,
            bootMilliseconds: recorded.bootMilliseconds, boot: entry.boot)
        if alert.expiry.map({ end.isAtOrAfter($0) }) ?? false { return true }
        // The name of an erased button is erased, too.
        let hasDefault =
            alert.remains == nil
            ? alert.record.alert.defaultButton != nil : response.buttonIndex >= 0
        return recorded.isEarly && hasDefault
    }
}
