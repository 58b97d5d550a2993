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
