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

extension Receipt {
    private enum Name: CodingKey {
        case record, salt, isNew, isCancelRequested, timeLeft, unused, head
    }

    /// Reads what ``encode(to:)`` writes.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        record = try members.decode(AlertRecord.self, forKey: .record)
        record.salt = try members.decodeIfPresent(String.self, forKey: .salt).flatMap {
            Hex.bytes($0)
        }
        isNew = try members.decode(Bool.self, forKey: .isNew)
        isCancelRequested = try members.decode(Bool.self, forKey: .isCancelRequested)
        timeLeft = try members.decodeIfPresent(Duration.self, forKey: .timeLeft)
        unused = try members.decodeIfPresent(UnusedResponse.self, forKey: .unused)
        head = try members.decode(AuditHead.self, forKey: .head)
    }

    /// Writes it with the salt of the record, which that leaves out.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        try members.encode(record, forKey: .record)
        try members.encodeIfPresent(record.salt.map(Hex.text), forKey: .salt)
        try members.encode(isNew, forKey: .isNew)
        try members.encode(isCancelRequested, forKey: .isCancelRequested)
        try members.encodeIfPresent(timeLeft, forKey: .timeLeft)
        try members.encodeIfPresent(unused, forKey: .unused)
        try members.encode(head, forKey: .head)
    }
}
