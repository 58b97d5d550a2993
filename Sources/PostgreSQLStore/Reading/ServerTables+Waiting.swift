import AlertCore
import AlertTables
import PostgreSQL

// Waiting alerts in list order: those that wait are bounded, so the positions of all are read.
extension ServerTables {
    package func waiting(
        source: String?, orOverdue: Bool, after last: Alert.ID?, limit: Int, at now: ClockReading
    ) throws -> [Alert.ID] {
        let found: [WaitingAlert] = try rows(
            query.waiting(source: source, orOverdue: orOverdue, and: last, at: now))
        let start = try last.map { id throws(AlertError) in
            guard let start = found.first(where: { $0.position.id == id }) else {
                throw AlertError.notFound(id)
            }
            return start
        }
        let rest = found.filter { alert in
            alert.isListed && start.map { $0.comes(before: alert, at: now) } != false
        }
        return rest.sorted { $0.comes(before: $1, at: now) }.prefix(limit).map(\.position.id)
    }
}

extension Query {
    /// The waiting alerts, and the one with an id, at which a page begins and which may have ended
    /// meanwhile.
    fileprivate func waiting(
        source: String?, orOverdue: Bool, and id: Alert.ID?, at now: ClockReading
    ) -> Statement {
        Statement(
            Self.waitingAlerts,
            [queue] + Self.moment(now) + [
                .integer(orOverdue ? 1 : 0), .optional(source), .optional(id),
            ])
    }

    private static let waitingAlerts = {
        let columns = """
            SELECT \(QueuePosition.columns), CASE WHEN CASE WHEN snoozed_boot = $2
                THEN snoozed_boot_ms > $3 ELSE snoozed_ms > $4 END THEN snoozed_ms END
            """
        let isListed = """
            ($5 = 1 OR expires_ms IS NULL
                OR CASE WHEN boot = $2 AND expires_boot_ms IS NOT NULL
                    THEN expires_boot_ms > $3 ELSE expires_ms > $4 END)
            AND ($6::text IS NULL OR source_id IN (SELECT id FROM sources
                WHERE queue = $1 AND name = $6))
            """
        return """
            \(columns), CASE WHEN \(isListed) THEN 1 ELSE 0 END FROM alerts
            WHERE queue = $1 AND outcome IS NULL
            UNION ALL \(columns), 0 FROM alerts
            WHERE queue = $1 AND id = $7::bigint AND outcome IS NOT NULL
            """
    }()
}

/// An alert that waits, or has waited.
private struct WaitingAlert: TableRow {
    let position: QueuePosition
    /// When it returns, in milliseconds since 1970; `nil` if it is not snoozed.
    private let snoozedUntil: Int64?
    /// Whether it is one of those that are listed.
    let isListed: Bool

    init(_ row: borrowing some SQLRow & ~Copyable) {
        let end = QueuePosition.Column.end
        position = QueuePosition(row)
        snoozedUntil = row.isNull(at: end) ? nil : row.integer(at: end)
        isListed = row.integer(at: end + 1) == 1
    }

    func comes(before other: WaitingAlert, at now: ClockReading) -> Bool {
        switch (snoozedUntil, other.snoozedUntil) {
        case (nil, nil): position.comes(before: other.position, at: now)
        case (nil, _?): true
        case (_?, nil): false
        case (let end?, let otherEnd?): (end, position.id) < (otherEnd, other.position.id)
        }
    }
}
