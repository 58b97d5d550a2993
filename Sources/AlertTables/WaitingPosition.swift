import AlertCore
import SQL

/// The position of an alert in the list of those that wait: snoozed ones are last.
package struct WaitingPosition: TableRow {
    package let queue: QueuePosition
    /// When it returns, in milliseconds since 1970; `nil` if it is not snoozed.
    package let snoozedUntil: Int64?

    /// The columns, by the parameters of `Query.moment`.
    package static let columns =
        "\(QueuePosition.columns), CASE WHEN \(Query.isSnoozed) THEN snoozed_ms END"
    package static let columnCount = QueuePosition.Column.end + 1

    package init(_ row: borrowing some SQLRow & ~Copyable) {
        let end = QueuePosition.Column.end
        queue = QueuePosition(row)
        snoozedUntil = row.isNull(at: end) ? nil : row.integer(at: end)
    }

    package func comes(before other: WaitingPosition, at now: ClockReading) -> Bool {
        switch (snoozedUntil, other.snoozedUntil) {
        case (nil, nil): queue.comes(before: other.queue, at: now)
        case (nil, _?): true
        case (_?, nil): false
        case (let end?, let otherEnd?): (end, queue.id) < (otherEnd, other.queue.id)
        }
    }
}

extension Query {
    /// The condition that a deadline has not passed, by the parameters of ``moment(_:)``.
    package static let isInTime = """
        (expires_ms IS NULL OR CASE WHEN boot = $2 AND expires_boot_ms IS NOT NULL
            THEN expires_boot_ms > $3 ELSE expires_ms > $4 END)
        """

    /// The condition that a snooze is not over, by the same parameters.
    package static let isSnoozed = """
        CASE WHEN snoozed_boot = $2 THEN snoozed_boot_ms > $3 ELSE snoozed_ms > $4 END
        """
}
