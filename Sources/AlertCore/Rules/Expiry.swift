import FoundationEssentials
import TextFormats

/// What a deadline is, and what it means for an alert when it passes.
package enum Expiry {
    /// The deadline from its three columns: without a boot time it follows the wall clock.
    package static func moment(
        wallMilliseconds: Int64?, bootMilliseconds: Int64?, boot: String
    ) -> ClockReading? {
        guard let wallMilliseconds else { return nil }
        guard let bootMilliseconds else { return ClockReading(onWallClock: wallMilliseconds) }
        return ClockReading(
            wallMilliseconds: wallMilliseconds, bootMilliseconds: bootMilliseconds, boot: boot)
    }

    /// Whether a deadline has passed although the expiry is not stored yet.
    package static func hasPassed(
        _ expiry: ClockReading?, without response: Response?, at now: ClockReading
    ) -> Bool {
        guard response == nil, let expiry else { return false }
        return now.isAtOrAfter(expiry)
    }

    /// The response of an alert that nobody answered in time.
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
    /// Whether its deadline has passed although the expiry is not stored yet.
    package func isOverdue(_ expiry: ClockReading?, at now: ClockReading) -> Bool {
        Expiry.hasPassed(expiry, without: response, at: now)
    }

    /// The record as readers see it, whether or not a process has stored what is due: an overdue
    /// alert appears as expired, and a snooze that is over has ended.
    package func visible(
        _ expiry: ClockReading?, snoozedUntil end: ClockReading?, at now: ClockReading
    ) -> AlertRecord {
        var record = current(at: now)
        let isOverdue = isOverdue(expiry, at: now)
        if isOverdue || end.map(now.isAtOrAfter) == true { record.snoozedUntil = nil }
        guard isOverdue else { return record }
        record.state = .resolved
        let response = Expiry.response(to: record, at: record.expiresAt ?? record.askedAt)
        record.response = response
        record.validSince = record.alert.limits(response) ? expiry : nil
        record.isStored = false
        return record.current(at: now)
    }
}

extension Alert.Deadline {
    /// The moment that the deadline means: a duration is measured on the clock of this boot, if
    /// that is known; a date follows the wall clock.
    ///
    /// - Parameter part: The part that this is the end of, for the error.
    /// - Throws: ``AlertError/invalid(_:_:)`` for a date in the past, or too far away, and for an
    ///   end that the log can't hold.
    package func moment(
        from now: ClockReading, of part: String
    ) throws(AlertError) -> ClockReading {
        let end = try end(from: now, of: part)
        try end.checkYear(of: part)
        return end
    }

    private func end(from now: ClockReading, of part: String) throws(AlertError) -> ClockReading {
        switch self {
        case .after(let duration):
            let end = now.advanced(by: duration)
            return now.isBootUnknown ? ClockReading(onWallClock: end.wallMilliseconds) : end
        case .at(let date):
            let distance = Timestamp.milliseconds(date) - now.wallMilliseconds
            guard distance > 0 else {
                throw .invalid(part, "\(LocalTime.text(date, .whole)) is in the past")
            }
            guard Duration.milliseconds(distance) <= Alert.Limit.duration else {
                throw .invalid(part, "is more than 100 years away")
            }
            return ClockReading(onWallClock: now.wallMilliseconds + distance)
        }
    }
}
