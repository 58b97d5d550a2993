import FoundationEssentials
import SQLite

/// A verification of the audit log under way, page by page.
struct AuditCheck: Sendable {
    private static let pageLength = 1000

    private(set) var report = AuditReport()
    private var previous = AuditHead.start
    private let expected: AuditHead?
    private var hasSeenExpected = false
    private var erased = ErasedRanges()

    init(expecting head: AuditHead?) {
        expected = head
    }

    /// Checks the next entries; returns whether these were the last.
    mutating func readPage(_ db: Database) throws -> Bool {
        var count = 0
        try db.forEach(
            "SELECT \(AuditRow.columns) FROM audit WHERE seq > ? ORDER BY seq LIMIT ?",
            [.integer(previous.sequence), .integer(Self.pageLength)]
        ) { row in
            count += 1
            try check(row, db)
        }
        return count < Self.pageLength
    }

    /// Compares what the log can't know by itself: its end, and rows that no entry tells of.
    mutating func finish(_ db: Database) throws {
        // What was written since the last page, so that rows and entries are of one moment.
        while try !readPage(db) {}
        report.head = previous.sequence > 0 ? previous : nil
        if let expected, !hasSeenExpected {
            report.report(
                previous.sequence < expected.sequence
                    ? "the log ends at entry \(previous.sequence), before the saved head "
                        + "\(expected.sequence): its tail was cut"
                    : "entry \(expected.sequence) is not the one of the saved head: "
                        + "the log was rewritten", entry: expected.sequence)
        }
        // Where nothing has been read, an entry could pass for the one that is missing.
        for sequence in try db.rows(
            "SELECT seq FROM audit WHERE seq < 1 ORDER BY seq LIMIT 100", read: { $0.integer(0) })
        {
            report.report("entry \(sequence) stands before the first one", entry: sequence)
        }
        try reportUntold(
            db, "was never asked: no entry tells of it",
            """
            SELECT id FROM alerts WHERE NOT EXISTS
                (SELECT 1 FROM audit WHERE alert_id = alerts.id AND event = 'asked')
            """)
        try reportUntold(
            db, "has a response that no entry tells of",
            """
            SELECT alert_id FROM responses WHERE NOT EXISTS (SELECT 1 FROM audit
                WHERE audit.alert_id = responses.alert_id AND event = 'resolved')
            """)
        try reportUntold(
            db, "is in a state that its responses contradict",
            """
            SELECT id FROM alerts WHERE (state = 'resolved') <>
                EXISTS (SELECT 1 FROM responses WHERE alert_id = alerts.id)
            """)
        try reportTexts(db)
        try reportUntold(
            db, "has a response under another source, key, handler or button",
            """
            SELECT alert_id FROM responses
            JOIN alerts ON alerts.id = alert_id JOIN sources ON sources.id = source_id
            WHERE responses.source <> sources.name OR responses.key IS NOT alerts.key
                OR responses.handler IS NOT alerts.handler
                OR button IS NOT CASE WHEN button_index >= 0 AND json_valid(buttons)
                    THEN json_extract(buttons, '$[' || button_index || '].id') END
            """)
        // No presenter means that nobody chose; the view `history` would still show the name.
        try reportUntold(
            db, "names somebody in a response that nobody gave",
            """
            SELECT alert_id FROM responses WHERE via IS NULL
                AND coalesce(uid, user, tty, ssh, host, pid) IS NOT NULL
            """)
        try reportUntold(
            db, "was collected or not, against what the entries say",
            """
            SELECT alert_id FROM responses WHERE (collected_ms IS NOT NULL) <> EXISTS
                (SELECT 1 FROM audit WHERE audit.alert_id = responses.alert_id
                    AND event = 'collected')
            """)
    }

    /// Compares the alerts without texts with those whose erasure the log tells of.
    private mutating func reportTexts(_ db: Database) throws {
        var left = 100
        try db.forEach(
            "SELECT id, salt IS NULL FROM alerts ORDER BY id", []
        ) { row in
            let (id, isErased) = (row.integer(0), row.integer(1) == 1)
            guard isErased != erased.contains(id), left > 0 else { return }
            left -= 1
            report.report(
                isErased
                    ? "alert \(id) has lost its texts, and no entry tells of that"
                    : "alert \(id) has texts, which an entry says were erased", alert: id)
        }
        try reportUntold(
            db, "has texts that were written after they had been erased",
            """
            SELECT id FROM alerts WHERE salt IS NULL AND (title IS NOT NULL OR message IS NOT NULL
                OR info <> '{}' OR NOT json_valid(buttons) OR EXISTS (SELECT 1
                    FROM json_each(buttons) WHERE json_extract(value, '$.title') IS NOT NULL))
            """)
        try reportUntold(
            db, "waits, and has lost its texts",
            "SELECT id FROM alerts WHERE salt IS NULL AND state <> 'resolved'")
    }

    private mutating func reportUntold(
        _ db: Database, _ reason: String, _ sql: String
    ) throws {
        for id in try db.rows(sql + " LIMIT 100", read: { $0.integer(0) }) {
            report.report("alert \(id) \(reason)", alert: id)
        }
    }

    private mutating func check(_ row: borrowing Row, _ db: Database) throws {
        let sequence = row.integer(0)
        report.entries += 1
        let stored = AuditHead(sequence: sequence, hash: row.blob(21) ?? [])
        defer {
            previous = stored
            if stored == expected { hasSeenExpected = true }
        }
        if sequence != previous.sequence + 1 {
            let missing = previous.sequence + 1
            report.report("entry \(missing) is missing", entry: missing)
        }
        guard let entry = try? AuditRow.entry(row) else {
            report.report("entry \(sequence) can't be understood", entry: sequence)
            return
        }
        if entry.computedHash != entry.hash {
            report.report(
                "entry \(sequence) was changed", entry: sequence, alert: entry.event.alertID)
        } else if sequence == previous.sequence + 1, entry.previous != previous.hash {
            report.report(
                "entry \(sequence) does not continue entry \(previous.sequence): "
                    + "one of them was replaced", entry: sequence, alert: entry.event.alertID)
        } else {
            try compare(entry, db)
        }
    }

    /// Compares an entry with the rows that it tells of.
    private mutating func compare(_ entry: AuditEntry, _ db: Database) throws {
        let sequence = entry.event.sequence
        if entry.event.kind == .erased {
            guard let alerts = ErasedAlerts(detail: entry.detail) else {
                report.report(
                    "entry \(sequence) does not say whose texts were erased", entry: sequence)
                return
            }
            erased.add(alerts)
        }
        guard let id = entry.event.alertID else { return }
        switch entry.event.kind {
        case .asked, .presented:
            guard let row = try? db.alert(id) else {
                report.report(
                    "alert \(id) of entry \(sequence) is gone or can't be understood",
                    entry: sequence, alert: id)
                return
            }
            if entry.event.kind == .asked, !entry.tells(of: row) {
                report.report(
                    "alert \(id) was changed: its source, time or deadline is not the one of "
                        + "entry \(sequence)", entry: sequence, alert: id)
            }
            // Erased texts can't be compared any more.
            guard let content = row.content else { return }
            if content != entry.content {
                report.report(
                    "alert \(id) was changed: it is not what entry \(sequence) says was "
                        + "\(entry.event.kind.rawValue)", entry: sequence, alert: id)
            }
        case .resolved:
            guard let response = try? db.alert(id)?.record.response, entry.tells(of: response)
            else {
                report.report(
                    "the response of alert \(id) is not the one of entry \(sequence)",
                    entry: sequence, alert: id)
                return
            }
        case .returned, .snoozed, .collected, .erased:
            break
        }
    }
}

extension AuditEntry {
    /// Whether a stored alert has the source, the time and the deadline that this entry recorded.
    fileprivate func tells(of row: AlertRow) -> Bool {
        let source = row.record.source
        return event.source == source.name && event.responder.uid == source.uid
            && event.responder.pid == source.pid && event.responder.host == source.host
            && Timestamp.milliseconds(event.at) == row.asked.wallMilliseconds
            && detail == row.expiry.map(Self.deadline)
    }

    /// How the entry of an ask tells the deadline.
    static func deadline(_ expiry: ClockReading) -> String {
        deadline(milliseconds: expiry.wallMilliseconds)
    }

    static func deadline(milliseconds: Int64) -> String {
        "expires " + Timestamp.text(Timestamp.date(milliseconds: milliseconds))
    }

    /// Whether a stored response is the one that this entry recorded.
    fileprivate func tells(of response: Response) -> Bool {
        guard event.outcome == response.outcome, event.buttonIndex == response.buttonIndex,
            event.by == response.by, buttonRole == response.button?.role,
            Timestamp.milliseconds(event.at) == Timestamp.milliseconds(response.resolvedAt)
        else { return false }
        // A timer is no responder; the entry then names the process that stored it.
        let isTimer =
            response.outcome == .expired
            || (response.outcome == .dismissed && response.by == .system)
        return isTimer ? response.responder == nil : response.responder == event.responder
    }
}
