import AlertCore
import TextFormats

/// An alert in a queue in memory.
struct InMemoryAlert {
    let id: Alert.ID
    /// The alert that was asked, as it is read from then on.
    let alert: Alert
    let source: AlertRecord.Source
    let sourceName: SourceName
    /// The salt of the content's hash.
    let salt: [UInt8]
    let asked: ClockReading
    let expiry: ClockReading?
    /// When it was asked, if its asker waits.
    let awaitedSince: ClockReading?
    /// The entry of the log since which it is in line: that of its ask, or of its last snooze after
    /// it was shown.
    var queuedSequence: Int64
    /// When it was last on a screen, by the wall clock.
    var presentedMilliseconds: Int64?
    var snoozes = 0
    var snoozedUntil: ClockReading?
    /// Who deals with it, even if that has lapsed by now.
    var claim: AlertClaim?
    var response: Response?
    /// When it was given, if it goes stale.
    var givenAt: ClockReading?
    /// The entry of the log that tells how it ended.
    var resolvedSequence: Int64?

    /// An alert that has just been asked.
    init(_ stored: StoredAlert, entry sequence: Int64) {
        let record = stored.record
        (id, alert, source) = (record.id, record.alert, record.source)
        sourceName = SourceName(source.principal, source.name)
        salt = record.salt ?? []
        asked = stored.asked
        expiry = stored.expiry
        awaitedSince = record.awaitedSince
        queuedSequence = sequence
    }

    var position: QueuePosition { QueuePosition(id: id, priority: alert.priority, asked: asked) }

    /// Whether it can be shown now, as far as its own state allows.
    var isReady: Bool { response == nil && snoozedUntil == nil }

    var record: AlertRecord {
        var record = AlertRecord(
            id: id, alert: alert, source: source, state: response == nil ? .queued : .resolved,
            askedAt: Timestamp.date(milliseconds: asked.wallMilliseconds),
            presentedAt: presentedMilliseconds.map(Timestamp.date),
            expiresAt: expiry.map { Timestamp.date(milliseconds: $0.wallMilliseconds) },
            snoozedUntil: snoozedUntil.map { Timestamp.date(milliseconds: $0.wallMilliseconds) },
            snoozes: snoozes, response: response)
        record.note(expiry)
        record.awaitedSince = awaitedSince
        record.claim = claim
        record.setGiven(at: givenAt, deadline: expiry)
        record.salt = salt
        return record
    }

    /// The alert as the log's rules know it.
    var stored: StoredAlert {
        StoredAlert(
            record: record, asked: asked, expiry: expiry, snoozedUntil: snoozedUntil,
            resolvedSequence: resolvedSequence)
    }

    func visible(at now: ClockReading) -> AlertRecord {
        record.visible(expiry, snoozedUntil: snoozedUntil, at: now)
    }

    func isOverdue(at now: ClockReading) -> Bool {
        Expiry.hasPassed(expiry, without: response, at: now)
    }
}
