import AlertCore
import SQL

// What a transaction writes.
extension Query {
    /// A change to the row of the alert `$2`.
    private static func change(_ assignments: String) -> SQLText {
        SQLText { sql in
            "UPDATE alerts SET \(assignments) WHERE \(sql.own("alerts"))id = $2"
        }
    }

    package func presented(_ id: Alert.ID, at moment: ClockReading) -> Statement {
        self(Self.presented, .integer(id), .integer(moment.wallMilliseconds))
    }

    private static let presented = change("presented_ms = $3")

    /// That an alert had its turn, according to an entry of the log.
    package func turns(of id: Alert.ID, entry sequence: Int64) -> Statement {
        self(Self.turns, .integer(id), .integer(sequence))
    }

    private static let turns = SQLText { sql in
        """
        INSERT INTO turns (\(sql.queueColumn)priority, principal_id, source_id, seq)
        SELECT \(sql.queueValue)alerts.priority,
            CASE WHEN level.number = 0 THEN 0 ELSE principal.id END,
            CASE WHEN level.number = 2 THEN alerts.source_id ELSE 0 END, $3::bigint
        FROM alerts
        JOIN sources ON sources.id = alerts.source_id
        JOIN sources AS principal ON \(sql.same("principal", "sources"))
            principal.principal = sources.principal AND principal.name = ''
        CROSS JOIN (SELECT 0 AS number UNION ALL SELECT 1 UNION ALL SELECT 2) AS level
        WHERE \(sql.own("alerts"))alerts.id = $2
        ON CONFLICT (\(sql.queueColumn)priority, principal_id, source_id)
            DO UPDATE SET seq = excluded.seq
        """
    }

    /// - Parameter sequence: The entry since which it is in line anew; `nil` if it keeps its place.
    package func snoozed(
        _ id: Alert.ID, until end: ClockReading, requeuedBy sequence: Int64?
    ) -> Statement {
        self(
            Self.snoozed, .integer(id), .integer(end.wallMilliseconds),
            .integer(end.bootMilliseconds), .text(end.boot), .optional(sequence))
    }

    private static let snoozed = change(
        """
        snoozes = snoozes + 1, snoozed_ms = $3, snoozed_boot_ms = $4, snoozed_boot = $5,
            queued_seq = coalesce($6, queued_seq)
        """)

    private static let noSnooze = "snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL"

    /// That a snooze is over.
    package func awake(_ id: Alert.ID) -> Statement { self(Self.awake, .integer(id)) }

    private static let awake = change(noSnooze)

    /// How an alert has ended.
    ///
    /// - Parameter words: The words of the alert, for a table that has them.
    package func resolved(_ id: Alert.ID, _ values: [Value], words: Value?) -> Statement {
        self(Self.resolved, [.integer(id)] + values + (words.map { [$0] } ?? []))
    }

    private static let resolved = SQLText { sql in
        let number = Response.columns.count + 3
        let words = sql == .sqlite ? "" : ", words = array_to_tsvector($\(number)::text[])"
        return """
            UPDATE alerts SET \(noSnooze), \(assignments(Response.columns))\(words)
            WHERE \(sql.own("alerts"))id = $2
            """
    }

    /// Assigns `$3` and so on.
    private static func assignments(_ columns: [String]) -> String {
        columns.enumerated().map { "\($1) = $\($0 + 3)" }.list
    }

    package func superseded(_ id: Alert.ID, by successor: Alert.ID) -> Statement {
        self(Self.superseded, .integer(id), .integer(successor))
    }

    private static let superseded = change("superseded_by = $3")

    package func collected(_ id: Alert.ID, at moment: ClockReading) -> Statement {
        self(Self.collected, .integer(id), .integer(moment.wallMilliseconds))
    }

    private static let collected = change("collected_ms = $3")

    /// That the texts of an alert are erased.
    ///
    /// - Parameter sequence: The entry that names it.
    package func erased(_ id: Alert.ID, leaving left: ErasedButtons, entry sequence: Int64)
        -> Statement
    {
        self(Self.erased, [.integer(id)] + left.values(entry: sequence))
    }

    private static let erased = SQLText { sql in
        let words = sql == .sqlite ? "" : "words = NULL, "
        return """
            UPDATE alerts SET \(words)\(assignments(ErasedButtons.columns))
            WHERE \(sql.own("alerts"))id = $2
            """
    }

    /// How many more alerts of a source, or of a principal, wait than before.
    ///
    /// A number that was tampered with is found by the checks, and must not block answers.
    package func counted(_ principal: Principal, _ name: String, by difference: Int) -> Statement {
        self(Self.counted, .text(principal.text), .text(name), .integer(difference))
    }

    private static let counted = SQLText { sql in
        """
        UPDATE sources SET pending = \(sql.greater("0", "pending + $4"))
        WHERE \(sql.own("sources"))principal = $2 AND name = $3
        """
    }

    /// The same for one whose row is known.
    package func counted(_ row: Int64, by difference: Int) -> Statement {
        self(Self.countedRow, .integer(row), .integer(difference))
    }

    private static let countedRow = SQLText { sql in
        """
        UPDATE sources SET pending = \(sql.greater("0", "pending + $3"))
        WHERE \(sql.own("sources"))id = $2
        """
    }

    /// That named changes which are too old, or from a time to which the clock was set by mistake,
    /// are forgotten, a few at a time.
    package func forgottenRequests(at now: ClockReading) -> Statement {
        let time = now.wallMilliseconds
        return self(
            Self.forgottenRequests,
            .integer(time.subtractingBounded(RequestedChange.lifetime)),
            .integer(time.addingBounded(RequestedChange.lifetime)))
    }

    private static let forgottenRequests = SQLText { sql in
        let row = sql == .sqlite ? "rowid" : "ctid"
        let old = ["made_ms < $2", "made_ms > $3"].map { range in
            """
            SELECT place FROM (SELECT \(row) AS place FROM requests
                WHERE \(sql.own("requests"))\(range) LIMIT 10) AS old
            """
        }
        return "DELETE FROM requests WHERE \(row) IN (\(old.joined(separator: " UNION ALL ")))"
    }

    /// That a named change has taken effect.
    package func requested(
        _ change: RequestedChange, _ made: MadeChange, at now: ClockReading
    ) -> Statement {
        self(
            Self.requested, .text(change.principal.text), .blob(change.request.bytes),
            .integer(change.position), .integer(made.alert), .integer(made.head.sequence),
            .integer(now.wallMilliseconds))
    }

    private static let requested = SQLText { sql in
        """
        INSERT INTO requests
            (\(sql.queueColumn)principal, request, position, alert_id, seq, made_ms)
        VALUES (\(sql.queueValue)$2, $3, $4, $5, $6, $7)
        ON CONFLICT (\(sql.queueColumn)request, principal, position) DO UPDATE SET
            alert_id = excluded.alert_id, seq = excluded.seq, made_ms = excluded.made_ms
        """
    }
}
