import FoundationEssentials

/// What a deadline is, and what it means for an alert once it has passed.
package enum Expiry {
    /// The deadline as three columns have it: without a boot time it follows the wall clock.
    static func moment(
        wallMilliseconds: Int64?, bootMilliseconds: Int64?, boot: String
    ) -> ClockReading? {
        guard let wallMilliseconds else { return nil }
        guard let bootMilliseconds else { return ClockReading(onWallClock: wallMilliseconds) }
        return ClockReading(
            wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds, boot: boot)
    }

    /// The response of an alert that nobody has answered in time.
    package static func response(to record: AlertRecord, at date: Date) -> Response {
        let index = record.alert.defaultButton.map(record.alert.buttonIndex) ?? -1
        return Response(
            alertID: record.id, outcome: .expired, buttonIndex: index,
            button: record.alert.buttons.indices.contains(index)
                ? record.alert.buttons[index] : nil,
            by: index >= 0 ? .policy : .system, responder: nil, resolvedAt: date,
            collectedAt: nil, userInfo: record.alert.userInfo)
    }
}

extension AlertRecord {
    /// Whether its deadline has passed without anybody having stored that.
    package func isOverdue(_ expiry: ClockReading?, at now: ClockReading) -> Bool {
        guard response == nil, let expiry else { return false }
        return now.isAtOrAfter(expiry)
    }

    /// The record as a reader is to see it: an overdue alert shows as expired.
    package func visible(_ expiry: ClockReading?, at now: ClockReading) -> AlertRecord {
        guard isOverdue(expiry, at: now) else { return self }
        var record = self
        record.state = .resolved
        record.response = Expiry.response(to: record, at: record.expiresAt ?? record.askedAt)
        return record
    }
}
