/// The result of a change or a search.
package struct Receipt: Sendable {
    /// The alert as readers see it: an overdue one appears as expired.
    package var record: AlertRecord
    /// Whether the change took effect; `false` if it was already done or not due: the key's alert
    /// had been asked, the response collected, the deadline not reached.
    package var isNew = false
    /// Whether the deadline has passed but the expiry is not stored yet: the response in the record
    /// may still be replaced by another one.
    package var isOverdue: Bool { !record.isStored }
    /// Whether the log has a request for the screen that shows it to cancel it.
    package var isCancelRequested = false
    /// The deadline on all clocks, if there is one.
    package var expiry: ClockReading?
    /// The next moment at which something becomes due because of the change.
    package var due: ClockReading?
    /// The newest audit entry at that time: everything that happens to the alert later comes after
    /// it.
    package var sequence: Int64

    package init(
        record: AlertRecord, isNew: Bool = false, isCancelRequested: Bool = false,
        expiry: ClockReading? = nil, sequence: Int64
    ) {
        self.record = record
        self.isNew = isNew
        self.isCancelRequested = isCancelRequested
        self.expiry = expiry
        self.sequence = sequence
    }
}
