/// The result of a change or a search.
package struct Receipt: Sendable, Codable {
    /// The alert as readers see it: an overdue one appears as expired.
    package var record: AlertRecord
    /// Whether the change took effect; `false` if it was already done: the key's alert
    /// had been asked, the response collected.
    package var isNew = false
    /// Whether the deadline has passed but the expiry is not stored yet: the response in the record
    /// may still be replaced by another one.
    package var isOverdue: Bool { !record.isStored }
    /// Whether the log has a request for the screen that shows it to cancel it.
    package var isCancelRequested = false
    /// The time until the deadline, negative once it has passed; `nil` if there is none.
    package var timeLeft: Duration?
    /// The response that is not used, although the asker could have it: an older one, where the
    /// question was asked anew, or the one that was to allow a command.
    package var unused: UnusedResponse?
    /// The newest audit entry at that time: everything that happens to the alert later comes after
    /// it.
    package var head: AuditHead

    package init(
        record: AlertRecord, isNew: Bool = false, isCancelRequested: Bool = false,
        timeLeft: Duration? = nil, head: AuditHead
    ) {
        self.record = record
        self.isNew = isNew
        self.isCancelRequested = isCancelRequested
        self.timeLeft = timeLeft
        self.head = head
    }
}
