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
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if the clock shows a time that the log can't hold.
    func audit(_ draft: AuditDraft, by caller: Caller) throws {
        try now.checkYear(of: "clock")
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
        ) { parameters in
            parameters.bind(event.sequence)
            parameters.bind(milliseconds)
            parameters.bind(event.kind.rawValue)
            parameters.bind(event.alertID)
            parameters.bind(event.source)
            parameters.bind(event.outcome?.rawValue)
            parameters.bind(event.buttonIndex.map(Int64.init))
            parameters.bind(entry.buttonRole?.rawValue)
            parameters.bind(event.by?.rawValue)
            parameters.bind(Int64(by.uid))
            parameters.bind(by.user)
            parameters.bind(entry.loginUID.map(Int64.init))
            parameters.bind(entry.session.map(Int64.init))
            parameters.bind(by.via)
            parameters.bind(by.tty)
            parameters.bind(by.ssh)
            parameters.bind(by.host)
            parameters.bind(Int64(by.pid))
            parameters.bind(entry.content)
            parameters.bind(entry.detail)
            parameters.bind(entry.previous)
            parameters.bind(entry.hash)
        }
    }
}
