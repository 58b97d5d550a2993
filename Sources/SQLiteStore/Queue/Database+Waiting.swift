import AlertCore
import SQLite

// Waiting alerts, page by page, in list order: by urgency, then by age; snoozed alerts last.
extension Database {
    /// Returns the next waiting alerts, after one of them or from the first.
    ///
    /// Within a priority they are ordered by id, so that none is skipped or repeated. An alert that
    /// is resolved in the meantime keeps its position, or, if it was snoozed, gets its earlier
    /// position back.
    ///
    /// - Throws: ``AlertError/notFound(_:)`` if the alert after which to continue does not exist.
    func waiting(
        source: String?, after last: Alert.ID?, limit: Int, at now: ClockReading
    ) throws -> [Alert.ID] {
        let position = try last.map { id throws in
            guard let position = try waitingPosition(of: id) else { throw AlertError.notFound(id) }
            return position
        }
        var ids: [Alert.ID] = []
        if position?.snoozedUntil == nil {
            ids = try Alert.Priority.allCases
                .flatMap { priority in
                    try positions(
                        priority, source: source, after: position?.queue, limit: limit, at: now)
                }
                .sorted { $0.comes(before: $1, at: now) }
                .prefix(limit).map(\.id)
        }
        guard ids.count < limit else { return ids }
        let end = position.flatMap { last in last.snoozedUntil.map { ($0, last.queue.id) } }
        return ids + (try snoozed(source: source, after: end, limit: limit - ids.count, at: now))
    }

    /// The oldest waiting alerts of one priority, without their texts.
    private func positions(
        _ priority: Alert.Priority, source: String?, after last: QueuePosition?, limit: Int,
        at now: ClockReading
    ) throws -> [QueuePosition] {
        let isOwn = last?.priority == priority
        var positions: [QueuePosition] = []
        try visit(
            """
            SELECT \(QueuePosition.columns) FROM alerts
            WHERE state = 'queued' AND snoozed_ms IS NULL AND priority = ?1 AND \(Self.isInTime)
                AND id > ?5 AND \(Self.isOfSource) ORDER BY id
            """,
            [
                .integer(priority.rawValue), .text(now.boot), .integer(now.bootMilliseconds),
                .integer(now.wallMilliseconds), .integer(isOwn ? last?.id ?? 0 : 0),
                .optional(source),
            ]
        ) { row in
            let position = QueuePosition(row, priority)
            if isOwn || last?.comes(before: position, at: now) != false {
                positions.append(position)
            }
            return positions.count < limit
        }
        return positions
    }

    /// The snoozed alerts, in the order in which they return.
    private func snoozed(
        source: String?, after last: (end: Int64, id: Alert.ID)?, limit: Int,
        at now: ClockReading
    ) throws -> [Alert.ID] {
        try rows(
            """
            SELECT id FROM alerts WHERE state = 'queued' AND snoozed_ms IS NOT NULL
                AND (snoozed_ms, id) > (?1, ?5) AND \(Self.isInTime) AND \(Self.isOfSource)
            ORDER BY snoozed_ms, id LIMIT ?7
            """,
            .integer(last?.end ?? .min), .text(now.boot), .integer(now.bootMilliseconds),
            .integer(now.wallMilliseconds), .integer(last?.id ?? .min), .optional(source),
            .integer(limit)
        ) { $0.integer() }
    }

    private func waitingPosition(of id: Alert.ID) throws -> WaitingPosition? {
        try first(
            "SELECT \(QueuePosition.columns), \(WaitingPosition.columns) FROM alerts WHERE id = ?",
            .integer(id)
        ) { row in
            let priority = Int(clamping: row.integer(WaitingPosition.Column.priority))
            return WaitingPosition(
                queue: QueuePosition(row, Alert.Priority(rawValue: priority) ?? .normal),
                snoozedUntil: row.optionalInteger(WaitingPosition.Column.snoozedMs))
        }
    }

    /// Whether the deadline has not passed: `?2` is the boot, `?3` its time, `?4` the wall clock's.
    private static let isInTime = """
        (expires_ms IS NULL OR CASE WHEN boot = ?2 AND expires_boot_ms IS NOT NULL
            THEN expires_boot_ms > ?3 ELSE expires_ms > ?4 END)
        """

    /// Whether it was asked by the source `?6`, under any account; NULL matches all.
    private static let isOfSource = """
        (?6 IS NULL OR source_id IN (SELECT id FROM sources WHERE name = ?6))
        """
}

/// The position of an alert among the waiting ones.
private struct WaitingPosition {
    let queue: QueuePosition
    /// When it returns; `nil` if it is not snoozed.
    let snoozedUntil: Int64?

    /// The columns read in addition to its position in the queue.
    enum Column: Int, ColumnList {
        case priority, snoozedMs

        static let offset = QueuePosition.Column.end
    }

    static let columns = Column.list
}

extension QueuePosition {
    /// The columns of the position of an alert whose priority is known.
    enum Column: Int, ColumnList { case id, askedMs, askedBootMs, boot }

    static let columns = Column.list

    init(_ row: borrowing Row, _ priority: Alert.Priority) {
        self.init(
            id: row.integer(Column.id), priority: priority,
            asked: ClockReading(
                wallMilliseconds: row.integer(Column.askedMs),
                bootMilliseconds: row.integer(Column.askedBootMs), boot: row.text(Column.boot)))
    }
}
