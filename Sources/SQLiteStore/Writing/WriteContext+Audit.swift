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
            """,
            .integer(event.sequence), .integer(milliseconds), .text(event.kind.rawValue),
            .optional(event.alertID), .optional(event.source),
            .optional(event.outcome?.rawValue), .optional(event.buttonIndex.map(Int64.init)),
            .optional(entry.buttonRole?.rawValue), .optional(event.by?.rawValue),
            .integer(Int64(by.uid)), .optional(by.user),
            .optional(entry.loginUID.map(Int64.init)), .optional(entry.session.map(Int64.init)),
            .text(by.via), .optional(by.tty), .optional(by.ssh), .text(by.host),
            .integer(Int64(by.pid)), .optional(entry.content), .optional(entry.detail),
            .blob(entry.previous), .blob(entry.hash))
    }
}
