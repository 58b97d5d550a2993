/// An alert as a store keeps it: its record, and what only the rules of the log need.
///
/// Each store makes it from the form that its rows have; ``AlertTrail`` compares it with the log.
package struct StoredAlert: Sendable {
    package var record: AlertRecord
    /// When it was asked.
    package let asked: ClockReading
    package let expiry: ClockReading?
    /// Until when it is snoozed; the record has only the time of the wall clock.
    package let snoozedUntil: ClockReading?
    /// The entry of the log that tells how it ended, according to the store.
    package let resolvedSequence: Int64?
    /// What an erasure has left of it; `nil` while it has its texts.
    package let remains: Remains?
    private var knownContent: [UInt8]?

    /// An alert without its texts.
    package struct Remains: Sendable {
        package let buttons: ErasedButtons
        /// The entry of the log that records the erasure, according to the store.
        package let sequence: Int64?
        /// Whether nothing that an erasure removes is there.
        let isBlank: Bool

        package init(buttons: ErasedButtons, sequence: Int64?, isBlank: Bool) {
            self.buttons = buttons
            self.sequence = sequence
            self.isBlank = isBlank
        }
    }

    package init(
        record: AlertRecord, asked: ClockReading, expiry: ClockReading?,
        snoozedUntil: ClockReading?, resolvedSequence: Int64? = nil, remains: Remains? = nil
    ) {
        self.record = record
        self.asked = asked
        self.expiry = expiry
        self.snoozedUntil = snoozedUntil
        self.resolvedSequence = resolvedSequence
        self.remains = remains
    }

    /// The salted hash of what it asks; `nil` once its texts have been erased.
    package var content: [UInt8]? {
        knownContent ?? record.salt.map { AuditEntry.content(of: record.alert, salt: $0) }
    }

    /// Computes ``content``, once for all who read it.
    package mutating func computeContent() { knownContent = content }

    /// Whether its deadline has passed although the expiry is not stored yet.
    package func isOverdue(at now: ClockReading) -> Bool { record.isOverdue(expiry, at: now) }

    /// Whether its response still had, or has, to be collected: not if it was withdrawn or has no
    /// buttons, unless it names a handler, which runs for those too.
    package var awaitsCollection: Bool {
        record.alert.handler != nil
            || (record.response?.outcome != .withdrawn && !record.alert.buttons.isEmpty)
    }

    /// What the entry of its ask should say, with what that says itself where it can't be known: the
    /// hash of a question that has lost its texts.
    ///
    /// - Parameter checksHashes: Whether the hashes are computed that the content's hash implies.
    func asked(like logged: EntryDetail.Asked, checksHashes: Bool) -> EntryDetail.Asked {
        let alert = record.alert
        var (leaves, key) = (logged.leaves, alert.key == nil ? nil : logged.key)
        if let remains {
            leaves = AuditEntry.leaves(of: alert, remains.buttons)
        } else if checksHashes {
            leaves = AuditEntry.leaves(of: alert)
            key = key.flatMap { KeyDigest(of: alert, source: record.source.name, salt: $0.salt) }
        }
        return EntryDetail.Asked(
            at: asked, expiry: expiry, of: alert, isAwaited: record.awaitedSince != nil,
            leaves: leaves, key: key)
    }
}
