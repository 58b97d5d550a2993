import AlertCore
import AlertTables
import SQLite

// Waiting alerts, page by page, in list order: by urgency, then by age; snoozed alerts last.
//
// A server reads the positions of all of them for each page. In a file, where their rows are looked
// up one by one, that takes 0.13 s where 50,000 wait; so ids are sorted, which an index has, and only
// the rows of the page are read.
extension Database {
    /// Returns the next waiting alerts, after one of them or from the first.
    ///
    /// Within a priority they are ordered by id, so that none is skipped or repeated. An alert that
    /// is resolved in the meantime keeps its position, or, if it was snoozed, gets its earlier
    /// position back.
    ///
    /// - Throws: ``AlertError/notFound(_:)`` if the alert after which to continue does not exist.
    package func waiting(
        source: String?, orOverdue: Bool, after last: Alert.ID?, limit: Int, at now: ClockReading
    ) throws -> [Alert.ID] {
        let position = try last.map { id throws in
            guard let position = try waitingPosition(of: id, at: now) else {
                throw AlertError.notFound(id)
            }
            return position
        }
        var ids: [Alert.ID] = []
        if position?.snoozedUntil == nil {
            let ready = try Alert.Priority.allCases.flatMap { priority in
                try positions(
                    priority, source: source, orOverdue, after: position?.queue, limit: limit,
                    at: now)
            }
            // Those whose snooze is over wait again, whether or not that is stored.
            let awake = try rows(query.finishedSnoozes(at: now, limit: .max), as: Alert.ID.self)
                .compactMap { try self.position(of: $0, source: source, orOverdue, at: now) }
                .filter { position?.queue.comes(before: $0, at: now) ?? true }
            ids = (ready + awake).sorted { $0.comes(before: $1, at: now) }.prefix(limit).map(\.id)
        }
        guard ids.count < limit else { return ids }
        let end = position.flatMap { last in last.snoozedUntil.map { ($0, last.queue.id) } }
        return ids
            + (try snoozed(
                source: source, orOverdue, after: end, limit: limit - ids.count, at: now))
    }

    /// The oldest waiting alerts of one priority, without their texts.
    private func positions(
        _ priority: Alert.Priority, source: String?, _ orOverdue: Bool,
        after last: QueuePosition?, limit: Int, at now: ClockReading
    ) throws -> [QueuePosition] {
        let isOwn = last?.priority == priority
        var positions: [QueuePosition] = []
        try visit(
            """
            SELECT id FROM alerts INDEXED BY alerts_next
            WHERE outcome IS NULL AND snoozed_ms IS NULL AND priority = ?1 AND id > ?2
                AND (?3 IS NULL OR source_id IN (SELECT id FROM sources WHERE name = ?3))
            ORDER BY id
            """,
            [
                .integer(priority.rawValue), .integer(isOwn ? last?.id ?? 0 : 0),
                .optional(source),
            ]
        ) { row in
            guard
                let position = try self.position(
                    of: row.integer(), source: source, orOverdue, at: now),
                isOwn || last?.comes(before: position, at: now) != false
            else { return true }
            positions.append(position)
            return positions.count < limit
        }
        return positions
    }

    /// The position of an alert of a source; `nil` if its deadline has passed.
    private func position(
        of id: Alert.ID, source: String?, _ orOverdue: Bool, at now: ClockReading
    ) throws -> QueuePosition? {
        try first(
            """
            SELECT \(QueuePosition.columns) FROM alerts WHERE id = $1
                AND ($5 OR \(Query.isInTime)) AND \(Self.isOfSource)
            """,
            .integer(id), .text(now.boot), .integer(now.bootMilliseconds),
            .integer(now.wallMilliseconds), .integer(orOverdue ? 1 : 0), .optional(source)
        ) { QueuePosition($0) }
    }

    /// The snoozed alerts, in the order in which they return.
    private func snoozed(
        source: String?, _ orOverdue: Bool, after last: (end: Int64, id: Alert.ID)?,
        limit: Int, at now: ClockReading
    ) throws -> [Alert.ID] {
        try rows(
            """
            SELECT id FROM alerts INDEXED BY alerts_snoozed
            WHERE outcome IS NULL AND snoozed_ms IS NOT NULL
                AND (snoozed_ms, id) > ($1, $5) AND \(Query.isSnoozed)
                AND (\(orOverdue ? "1" : "0") OR \(Query.isInTime)) AND \(Self.isOfSource)
            ORDER BY snoozed_ms, id LIMIT $7
            """,
            .integer(last?.end ?? .min), .text(now.boot), .integer(now.bootMilliseconds),
            .integer(now.wallMilliseconds), .integer(last?.id ?? .min), .optional(source),
            .integer(limit)
        ) { $0.integer() }
    }

    private func waitingPosition(
        of id: Alert.ID, at now: ClockReading
    ) throws -> WaitingPosition? {
        try first(
            "SELECT \(WaitingPosition.columns) FROM alerts WHERE id = $1",
            .integer(id), .text(now.boot), .integer(now.bootMilliseconds),
            .integer(now.wallMilliseconds)
        ) { WaitingPosition($0) }
    }

    /// Whether it was asked by the source `$6`, under any account; NULL matches all.
    private static let isOfSource = """
        ($6 IS NULL OR source_id IN (SELECT id FROM sources WHERE name = $6))
        """
}
