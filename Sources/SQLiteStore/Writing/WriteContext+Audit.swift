import AlertCore
import FoundationEssentials
import SQLite

extension AuditDraft {
    /// An erasure concerns the whole queue; its detail names the alerts.
    init(erased alerts: ErasedAlerts) {
        self.init(kind: .erased)
        detail = alerts.detail
    }
}

extension WriteContext {
    /// Appends an entry to the audit log, chained to the previous one.
    func audit(_ draft: AuditDraft, by caller: Caller) throws {
        guard head.sequence < .max else { throw AlertError.usedUp("entries of the audit log") }
        let entry = draft.entry(after: head, at: now, by: caller, input)
        try insert(entry, milliseconds: (draft.at ?? now).wallMilliseconds)
        head = AuditHead(sequence: entry.event.sequence, hash: entry.hash)
    }

    private func insert(_ entry: AuditEntry, milliseconds: Int64) throws {
        let event = entry.event
        let by = event.responder
        try db.change(
            """
            INSERT INTO audit (seq, at_ms, event, alert_id, source, outcome, button_index,
                button_role, resolved_by, uid, user, login_uid, session, via, tty, ssh, host, pid,
                content, detail, previous, hash)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        ) { row in
            row.bind(event.sequence)
            row.bind(milliseconds)
            row.bind(event.kind.rawValue)
            row.bind(event.alertID)
            row.bind(event.source)
            row.bind(event.outcome?.rawValue)
            row.bind(event.buttonIndex.map(Int64.init))
            row.bind(entry.buttonRole?.rawValue)
            row.bind(event.by?.rawValue)
            row.bind(Int64(by.uid))
            row.bind(by.user)
            row.bind(entry.loginUID.map(Int64.init))
            row.bind(entry.session.map(Int64.init))
            row.bind(by.via)
            row.bind(by.tty)
            row.bind(by.ssh)
            row.bind(by.host)
            row.bind(Int64(by.pid))
            row.bind(entry.content)
            row.bind(entry.detail)
            row.bind(entry.previous)
            row.bind(entry.hash)
        }
    }
}
