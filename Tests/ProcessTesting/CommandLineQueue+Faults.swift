/// The state that a queue must be in after any fault.
///
/// Clean means: no acknowledged ask and no acknowledged answer lost or changed; no alert with two
/// responses; every change of state has its audit entry and every entry its change of state; the
/// chain verifies; the database is whole.
extension CommandLineQueue {
    /// What is wrong with the queue; empty when it is clean.
    package func faults(against ledger: Ledger = Ledger()) async throws -> [String] {
        let told = ledger.all
        var faults = told.contradictions
        let verify = try await run("audit", "verify")
        if verify.code != 0 { faults.append("audit verify: \(verify.errors)\(verify.output)") }
        // One process for all of it: this runs after each of thousands of faults.
        let lines = try await rows(Self.check)
        if lines.last != "checked" { faults.append("the check did not end: \(lines)") }
        let stored = Set(lines.filter { $0.hasPrefix("ask|") || $0.hasPrefix("answer|") })
        faults += lines.filter { $0 != "ok" && $0 != "checked" && !stored.contains($0) }
        faults += told.asked.map { "ask|\($0.key)|\($0.value)" }
            .filter { !stored.contains($0) }.map { "lost or changed: \($0)" }
        faults += told.answered.map { "answer|\($0.key)|\($0.value)" }
            .filter { !stored.contains($0) }.map { "lost or changed: \($0)" }
        return faults
    }

    /// A script for the `sqlite3` shell that prints what contradicts itself, and what is stored.
    private static let check =
        "PRAGMA integrity_check; PRAGMA foreign_key_check;"
        + "INSERT INTO text_index (text_index) VALUES ('integrity-check');"
        + contradictions.map { "SELECT '\($0.0)', * FROM (\($0.1));" }.joined()
            + """
            SELECT 'ask', id, title FROM alerts;
            SELECT 'answer', id, button FROM history WHERE outcome = 'answered';
            SELECT 'checked';
            """

    /// Queries that find rows which contradict each other, in a database with one queue; each must
    /// find none.
    package static let contradictions = [
        (
            "not asked once",
            """
            SELECT id FROM alerts WHERE 1 <> (SELECT count(*) FROM audit
                WHERE alert_id = alerts.id AND event = 'asked')
            """
        ),
        (
            "asked, but not there",
            """
            SELECT seq FROM audit WHERE event = 'asked'
                AND NOT EXISTS (SELECT 1 FROM alerts WHERE id = audit.alert_id)
            """
        ),
        (
            "two responses",
            """
            SELECT alert_id FROM audit WHERE event = 'resolved'
                GROUP BY alert_id HAVING count(*) > 1
            """
        ),
        (
            "response without its entry",
            """
            SELECT id FROM alerts WHERE outcome IS NOT NULL AND 1 <> (SELECT count(*) FROM audit
                WHERE alert_id = alerts.id AND event = 'resolved' AND seq = resolved_seq
                AND outcome = alerts.outcome AND button_index = alerts.button_index
                AND resolved_by = alerts.resolved_by)
            """
        ),
        (
            "entry without its response",
            """
            SELECT seq FROM audit WHERE event = 'resolved'
                AND NOT EXISTS (SELECT 1 FROM alerts
                    WHERE id = audit.alert_id AND outcome IS NOT NULL)
            """
        ),
        (
            "collected without its entry, or the reverse",
            """
            SELECT id FROM alerts WHERE CASE WHEN collected_ms IS NULL THEN 0 ELSE 1 END <>
                (SELECT count(*) FROM audit WHERE alert_id = alerts.id AND event = 'collected')
            """
        ),
        (
            "count of waiting alerts",
            """
            SELECT name, pending FROM sources WHERE name <> '' AND pending <>
                (SELECT count(*) FROM alerts WHERE source_id = sources.id AND outcome IS NULL)
            """
        ),
    ]
}
