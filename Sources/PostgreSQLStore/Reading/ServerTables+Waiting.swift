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
            guard let start = found.first(where: { $0.position.queue.id == id }) else {
                throw AlertError.notFound(id)
            }
            return start.position
        }
        let rest = found.filter(\.isListed).map(\.position).filter { position in
            start?.comes(before: position, at: now) != false
        }
        return rest.sorted { $0.comes(before: $1, at: now) }.prefix(limit).map(\.queue.id)
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
        let columns = "SELECT \(WaitingPosition.columns)"
        let isListed = """
            ($5 = 1 OR \(isInTime))
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
    let position: WaitingPosition
    /// Whether it is one of those that are listed.
    let isListed: Bool

    init(_ row: borrowing some SQLRow & ~Copyable) {
        position = WaitingPosition(row)
        isListed = row.integer(at: WaitingPosition.columnCount) == 1
    }
}
