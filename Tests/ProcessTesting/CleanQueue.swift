/// The state that a queue must be in after any fault.
///
/// Clean means: no acknowledged ask and no acknowledged answer lost or changed; no alert with two
/// responses; every change of state has its audit entry and every entry its change of state; the
/// chain verifies; the database is whole.
extension CommandLineQueue {
    /// What is wrong with the queue; empty when it is clean.
    package func faults(against ledger: Ledger = Ledger()) async throws -> [String] {
        var faults = ledger.all.contradictions
        let verify = try await run("audit", "verify")
        if verify.code != 0 { faults.append("audit verify: \(verify.errors)\(verify.output)") }
        for pragma in ["integrity_check", "foreign_key_check"] {
            let lines = try await rows("PRAGMA \(pragma)")
            faults += lines.filter { $0 != "ok" }.map { "\(pragma): \($0)" }
        }
        for (name, sql) in Self.contradictions {
            faults += try await rows(sql).map { "\(name): \($0)" }
        }
        return try await faults + missing(from: ledger.all)
    }

    private func missing(from told: Ledger.Entries) async throws -> [String] {
        let asked = Set(try await rows("SELECT id || ' ' || title FROM alerts"))
        let answered = Set(
            try await rows(
                "SELECT alert_id || ' ' || button FROM responses WHERE outcome = 'answered'"))
        return told.asked.map { "\($0.key) \($0.value)" }
            .filter { !asked.contains($0) }.map { "ask lost or changed: \($0)" }
            + told.answered.map { "\($0.key) \($0.value)" }
            .filter { !answered.contains($0) }.map { "answer lost or changed: \($0)" }
    }

    /// Queries that find rows which contradict each other; each must find none.
    private static let contradictions = [
        (
            "two responses",
            "SELECT alert_id FROM responses GROUP BY alert_id HAVING count(*) > 1"
        ),
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
            "response without its entry",
            """
            SELECT alert_id FROM responses WHERE 1 <> (SELECT count(*) FROM audit
                WHERE alert_id = responses.alert_id AND event = 'resolved'
                AND outcome = responses.outcome AND button_index = responses.button_index
                AND resolved_by = responses.resolved_by)
            """
        ),
        (
            "entry without its response",
            """
            SELECT seq FROM audit WHERE event = 'resolved'
                AND NOT EXISTS (SELECT 1 FROM responses WHERE alert_id = audit.alert_id)
            """
        ),
        (
            "collected without its entry, or the reverse",
            """
            SELECT alert_id FROM responses WHERE (collected_ms IS NOT NULL) <>
                (SELECT count(*) FROM audit
                    WHERE alert_id = responses.alert_id AND event = 'collected')
            """
        ),
        (
            "state",
            """
            SELECT id, state FROM alerts WHERE (state = 'resolved') <>
                EXISTS (SELECT 1 FROM responses WHERE alert_id = alerts.id)
            """
        ),
        (
            "count of waiting alerts",
            """
            SELECT name, pending FROM sources WHERE pending <> (SELECT count(*) FROM alerts
                WHERE source_id = sources.id AND state = 'queued')
            """
        ),
    ]
}
