/// Something that a caller does to a queue; it is on disk as a whole, or not at all.
///
/// It is a value: it can be sent, played again against a model, and printed.
package enum Change: Sendable {
    /// Stores an alert, or finds the one that its key belongs to.
    ///
    /// Throws ``AlertError/keyConflict(_:_:part:)``, ``AlertError/tooManyPending(source:limit:)``
    /// and ``AlertError/tooManyPendingOfAccount(uid:limit:)`` among others.
    case ask(Question)
    /// Gives an alert its response; the first one wins. `seen` is the digest of what was shown,
    /// which must be that of what was asked.
    ///
    /// Throws ``AlertError/notFound(_:)``, ``AlertError/alreadyResolved(_:)``,
    /// ``AlertError/late(_:)``, ``AlertError/noSuchButton(_:button:known:)``,
    /// ``AlertError/notAsSeen(_:)`` and ``AlertError/notYours(_:owner:)`` among others.
    case resolve(Alert.ID, Resolution, seen: [UInt8]? = nil)
    /// Stores the expiry of an alert if its deadline has passed.
    case expire(Alert.ID)
    /// Snoozes an alert; `nil` means for its own snooze time.
    case snooze(Alert.ID, until: Alert.Deadline?)
    /// Marks a response as taken by its asker; the first time counts.
    case collect(Alert.ID)
    /// Asks the screen that shows an alert to cancel it, because its delegate may handle that.
    ///
    /// Throws ``AlertError/notYours(_:owner:)`` among others.
    case requestCancel(Alert.ID, Resolution.Authority)
}

/// Something that has happened and belongs in the log, but for which nobody waits.
package enum Note: Sendable {
    /// An alert appeared on a screen at a moment; the record is what was shown.
    case presented(AlertRecord, at: ClockReading)
    /// An alert left a screen without a result.
    case returned(AlertRecord, because: String)
    /// The asker has taken the response.
    case collected(Alert.ID)
}

/// What became of a change, or what was found.
package struct Receipt: Sendable {
    /// The alert as people are to see it: an overdue one shows as expired.
    package var record: AlertRecord
    /// Whether the change did what it says; `false` where that had been done before, or was not
    /// due: the key's alert had been asked, the response collected, the deadline not reached.
    package var isNew = false
    /// Whether the deadline has passed and nobody has stored that yet: the response that the record
    /// shows may still become another one.
    package var isOverdue = false
    /// Whether somebody wants the screen that shows it to cancel it, as the log tells.
    package var isCancelRequested = false
    /// The deadline on all clocks, if there is one.
    package var expiry: ClockReading?
    /// The newest audit entry then: what happens to the alert afterwards comes after it.
    package var sequence: Int64

    package init(
        record: AlertRecord, isNew: Bool = false, isOverdue: Bool = false,
        isCancelRequested: Bool = false, expiry: ClockReading? = nil, sequence: Int64
    ) {
        self.record = record
        self.isNew = isNew
        self.isOverdue = isOverdue
        self.isCancelRequested = isCancelRequested
        self.expiry = expiry
        self.sequence = sequence
    }
}

/// How an alert is named by those who look for it.
package enum Reference: Sendable, Hashable {
    case id(Alert.ID)
    /// The alert that a source of an account asked with a key.
    case key(String, source: String, uid: UInt32)
}
