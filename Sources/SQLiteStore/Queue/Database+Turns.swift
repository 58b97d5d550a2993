import AlertCore
import SQLite

// Whose turn it is on the screen.
//
// Within a priority, the account that was shown longest ago comes first. Its alerts are shown in
// rounds: an alert belongs to the round after the current one, and after that of the last waiting
// alert of its source. So a round that has begun does not grow, and each source has one alert in
// it; in a round, the oldest alert comes first.
extension Database {
    private enum HeadColumn: Int, ColumnList {
        case account

        static let offset = AlertRow.Column.end
        var sql: String { "alerts.account" }
    }

    private static let heads = """
        SELECT \(AlertRow.columns), \(HeadColumn.list) FROM alerts INDEXED BY alerts_turn
        CROSS JOIN sources ON sources.id = alerts.source_id
        LEFT JOIN responses ON responses.alert_id = alerts.id
        WHERE alerts.state = 'queued' AND alerts.snoozed_ms IS NULL AND alerts.priority = ?1
        AND alerts.account > ?2 AND \(Candidates.condition)
        ORDER BY alerts.account, alerts.turn, alerts.id LIMIT 1
        """

    private enum TurnColumn: Int, ColumnList { case uid, shown }

    private static let turns = "SELECT \(TurnColumn.list) FROM turns WHERE priority = ?"

    private static let oldest = """
        SELECT \(QueuePosition.columns) FROM alerts INDEXED BY alerts_next
        WHERE state = 'queued' AND snoozed_ms IS NULL AND priority = ?1 AND ?2 < 0
        AND \(Candidates.condition) ORDER BY id LIMIT 1
        """

    /// Returns the alert among the candidates whose turn it is.
    func first(of candidates: Candidates, at now: ClockReading) throws -> AlertRow? {
        var heads: [(priority: Alert.Priority, rows: [AlertRow])] = []
        for priority in Alert.Priority.allCases {
            let rows = try self.heads(of: priority, candidates)
            if !rows.isEmpty { heads.append((priority, rows)) }
        }
        guard heads.count > 1 else { return try heads.first.flatMap(inTurn) }
        // The priority of the alert that has waited longest counts for all alerts with it.
        let urgencies = try heads.map { head in
            try oldest(of: head.priority, candidates)?.effectivePriority(at: now)
                ?? head.priority.rawValue
        }
        let most = urgencies.max()
        let mostUrgent = zip(heads, urgencies).filter { $0.1 == most }.map(\.0)
        guard mostUrgent.count > 1 else { return try mostUrgent.first.flatMap(inTurn) }
        // Priorities that have become as urgent as others take turns with them.
        let turns = try mostUrgent.compactMap { head in
            try inTurn(head).map { (shown: try lastShown(of: head.priority), row: $0) }
        }
        return turns.min { ($0.shown, $0.row.record.id) < ($1.shown, $1.row.record.id) }?.row
    }

    /// The first alert of each account that waits with a priority.
    private func heads(
        of priority: Alert.Priority, _ candidates: Candidates
    ) throws -> [AlertRow] {
        var (found, last): ([AlertRow], Int64) = ([], .min)
        while let (row, account) = try first(
            Self.heads, candidates.values(priority, after: last),
            read: { (try AlertRow($0), $0.integer(HeadColumn.account)) })
        {
            found.append(row)
            last = account
        }
        return found
    }

    /// Of several accounts' alerts, the one whose account was shown longest ago, or never.
    private func inTurn(_ head: (priority: Alert.Priority, rows: [AlertRow])) throws -> AlertRow? {
        guard head.rows.count > 1 else { return head.rows.first }
        let shown = Dictionary(
            try rows(
                Self.turns, .integer(head.priority.rawValue)
            ) { ($0.integer(TurnColumn.uid), $0.integer(TurnColumn.shown)) },
            uniquingKeysWith: max)
        return head.rows.min { first, second in
            let turns = [first, second].map { row in
                (shown[Int64(row.record.source.uid), default: 0], row.record.id)
            }
            return turns[0] < turns[1]
        }
    }

    private func oldest(
        of priority: Alert.Priority, _ candidates: Candidates
    ) throws -> QueuePosition? {
        try first(Self.oldest, candidates.values(priority, after: -1)) { row in
            QueuePosition(row, priority)
        }
    }

    /// The log entry of the last appearance of an alert with a priority.
    private func lastShown(of priority: Alert.Priority) throws -> Int64 {
        try first(
            "SELECT coalesce(max(shown), 0) FROM turns WHERE priority = ?",
            .integer(priority.rawValue)
        ) { $0.integer() } ?? 0
    }

    /// The current round of an account.
    func turn(of uid: UInt32, _ priority: Alert.Priority) throws -> Int64 {
        try first(
            "SELECT turn FROM turns WHERE priority = ? AND uid = ?", .integer(priority.rawValue),
            .integer(Int64(uid))
        ) { $0.integer() } ?? 0
    }

    /// The round of a source's last alert that waits with a priority; 0 if there is none.
    func lastTurn(of source: Int64, _ priority: Alert.Priority) throws -> Int64 {
        try first(
            """
            SELECT max(turn) FROM alerts INDEXED BY alerts_source_turn
            WHERE state = 'queued' AND source_id = ? AND priority = ?
            """, .integer(source), .integer(priority.rawValue)
        ) { $0.integer() } ?? 0
    }

    /// Records that an alert had its turn, according to an entry of the log.
    ///
    /// Its round is then the current one, unless the alert was shown before others: by the terminal
    /// that asked it, or because no screen was able to show those.
    func noteTurn(of id: Alert.ID, entry sequence: Int64) throws {
        try run(
            """
            INSERT INTO turns (priority, uid, turn, shown)
                SELECT priority, account,
                    CASE WHEN turn > first THEN max(first, 1) - 1 ELSE turn END, ?2
                FROM (SELECT priority, account, turn, (
                    SELECT min(others.turn) FROM alerts AS others INDEXED BY alerts_turn
                    WHERE others.state = 'queued' AND others.snoozed_ms IS NULL
                        AND others.priority = alerts.priority
                        AND others.account = alerts.account) AS first
                    FROM alerts WHERE id = ?1 AND account IS NOT NULL) WHERE true
            ON CONFLICT DO UPDATE SET turn = max(turn, excluded.turn), shown = excluded.shown
            """, [.integer(id), .integer(sequence)])
    }

    /// How many alerts of an account wait.
    ///
    /// Gain: with 50,000 waiting alerts an ask takes less than a hundredth of the time
    /// (`alertq-bench growth --alerts 50000`; against counting them).
    func pending(ofAccount uid: UInt32) throws -> Int64 {
        try first("SELECT pending FROM accounts WHERE uid = ?", .integer(Int64(uid))) {
            $0.integer()
        } ?? 0
    }
}

/// Which waiting alerts may be shown.
struct Candidates {
    /// The names of the presenters, one of which must be allowed to show it, as a JSON array.
    let presenters: String
    /// Further alerts that may be shown, as a JSON array.
    let own: String?
    /// The alerts to skip, as a JSON array.
    let exceptions: String?
    /// Whether the alert must have buttons.
    let hasButtons: Bool

    init(presenters: String, own: [Alert.ID], except ids: [Alert.ID], hasButtons: Bool) {
        self.presenters = presenters
        self.own = own.isEmpty ? nil : "\(own)"
        exceptions = ids.isEmpty ? nil : "\(ids)"
        self.hasButtons = hasButtons
    }

    fileprivate static let condition = """
        (alerts.presenters IS NULL OR EXISTS (
            SELECT 1 FROM json_each(alerts.presenters) AS wanted
            JOIN json_each(?3) AS attached ON attached.value = wanted.value)
            OR (?6 IS NOT NULL AND alerts.id IN (SELECT value FROM json_each(?6))))
        AND (?4 IS NULL OR alerts.id NOT IN (SELECT value FROM json_each(?4)))
        AND (?5 = 0 OR alerts.buttons <> '[]')
        """

    fileprivate func values(_ priority: Alert.Priority, after account: Int64) -> [Value] {
        [
            .integer(priority.rawValue), .integer(account), .text(presenters),
            .optional(exceptions), .integer(hasButtons ? 1 : 0), .optional(own),
        ]
    }
}
