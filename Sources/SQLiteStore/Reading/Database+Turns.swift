import AlertCore
import AlertTables
import SQLite

// Whose turn it is on the screen: `SourceLine` and `PriorityLines` have the rules, and this reads
// the lines that they compare.
extension Database {
    private enum LineColumn: Int, ColumnList {
        case id, queuedSeq, principal, principalShown, sourceShown

        var sql: String {
            switch self {
            case .id, .queuedSeq: "alerts.\(snakeCased)"
            case .principal: "principal.id"
            case .principalShown: "coalesce(of_principal.seq, 0)"
            case .sourceShown: "coalesce(of_source.seq, 0)"
            }
        }
    }

    private static let isReady = "outcome IS NULL AND snoozed_ms IS NULL AND priority = ?1"

    /// The sources are found one after the other, each by one look into the index.
    private static let lines = """
        WITH RECURSIVE waiting (source) AS (
            SELECT min(source_id) FROM alerts INDEXED BY alerts_next WHERE \(isReady)
            UNION ALL
            SELECT (SELECT min(source_id) FROM alerts INDEXED BY alerts_next
                WHERE \(isReady) AND source_id > waiting.source)
            FROM waiting WHERE source IS NOT NULL),
        heads (source, id) AS (
            SELECT source, (SELECT id FROM alerts INDEXED BY alerts_next
                WHERE \(isReady) AND source_id = source AND \(Candidates.condition)
                ORDER BY queued_seq LIMIT 1)
            FROM waiting WHERE source IS NOT NULL)
        SELECT \(LineColumn.list) FROM heads
        CROSS JOIN alerts ON alerts.id = heads.id
        CROSS JOIN sources ON sources.id = heads.source
        LEFT JOIN sources AS principal
            ON principal.principal = sources.principal AND principal.name = ''
        LEFT JOIN turns AS of_principal ON of_principal.priority = ?1
            AND of_principal.principal_id = principal.id AND of_principal.source_id = 0
        LEFT JOIN turns AS of_source ON of_source.priority = ?1
            AND of_source.principal_id = principal.id AND of_source.source_id = sources.id
        """

    /// Returns the alert among the candidates whose turn it is.
    func first(of candidates: Candidates, at now: ClockReading) throws -> AlertRow? {
        let all = try Alert.Priority.allCases.map { priority in
            PriorityLines(
                priority, try lines(of: priority, candidates), lastShown: try lastShown(priority))
        }
        return try PriorityLines.next(of: all, at: now, position: position).flatMap(alert)
    }

    private func lines(
        of priority: Alert.Priority, _ candidates: Candidates
    ) throws -> [SourceLine<Int64>] {
        try rows(Self.lines, candidates.values(priority)) { row in
            SourceLine(
                head: row.integer(LineColumn.id), queued: row.integer(LineColumn.queuedSeq),
                principal: row.integer(LineColumn.principal),
                principalShown: row.integer(LineColumn.principalShown),
                sourceShown: row.integer(LineColumn.sourceShown))
        }
    }

    private func lastShown(_ priority: Alert.Priority) throws -> Int64 {
        try first(
            "SELECT seq FROM turns WHERE priority = ? AND principal_id = 0 AND source_id = 0",
            .integer(priority.rawValue)
        ) { $0.integer() } ?? 0
    }

    /// Records that an alert had its turn, according to an entry of the log.
    func noteTurn(of id: Alert.ID, entry sequence: Int64) throws {
        try run(
            """
            INSERT INTO turns (priority, principal_id, source_id, seq)
                SELECT priority, ids.value ->> 0, ids.value ->> 1, ?2
                FROM alerts JOIN sources ON sources.id = source_id
                JOIN sources AS principal ON principal.principal = sources.principal
                    AND principal.name = ''
                JOIN json_each(json_array(json_array(0, 0), json_array(principal.id, 0),
                    json_array(principal.id, source_id))) AS ids
                WHERE alerts.id = ?1
            ON CONFLICT DO UPDATE SET seq = excluded.seq
            """, [.integer(id), .integer(sequence)])
    }
}

/// Which waiting alerts may be shown.
struct Candidates {
    let query: ScreenQuery
    /// Whether the alert must have buttons.
    let hasButtons: Bool

    fileprivate static let condition = """
        (alerts.presenters IS NULL OR EXISTS (
            SELECT 1 FROM json_each(alerts.presenters) AS wanted
            JOIN json_each(?2) AS attached ON attached.value = wanted.value)
            OR (?5 IS NOT NULL AND alerts.id IN (SELECT value FROM json_each(?5))))
        AND (?3 IS NULL OR alerts.id NOT IN (SELECT value FROM json_each(?3)))
        AND (?4 = 0 OR alerts.buttons <> '[]')
        """

    fileprivate func values(_ priority: Alert.Priority) -> [Value] {
        [
            .integer(priority.rawValue), .text(StoredJSON.encode(query.presenters)),
            .optional(query.except.isEmpty ? nil : "\(query.except)"), .integer(hasButtons ? 1 : 0),
            .optional(query.own.isEmpty ? nil : "\(query.own)"),
        ]
    }
}
