import FoundationEssentials
import SQLite

/// What an audit entry tells, before it has its place in the chain.
struct AuditDraft {
    var kind: AlertEvent.Kind
    var at: ClockReading?
    var alert: Alert.ID?
    var source: String?
    var response: Response?
    var by: ResolvedBy?
    var content: [UInt8]?
    var detail: String?

    init(kind: AlertEvent.Kind, alert: Alert.ID, source: String) {
        self.kind = kind
        self.alert = alert
        self.source = source
    }

    /// An entry about the whole queue.
    init(kind: AlertEvent.Kind) { self.kind = kind }

    /// An erasure is of the whole queue; its detail says which alerts it was.
    init(erased alerts: ErasedAlerts) {
        kind = .erased
        detail = alerts.detail
    }

    init(
        kind: AlertEvent.Kind, at moment: ClockReading? = nil, record: AlertRecord,
        response: Response? = nil, by: ResolvedBy? = nil, content: [UInt8]? = nil,
        detail: String? = nil
    ) {
        self.kind = kind
        at = moment
        alert = record.id
        source = record.source.name
        self.response = response
        self.by = response?.by ?? by
        self.content = content
        self.detail = detail
    }
}

extension WriteContext {
    /// Appends an entry to the audit log, chained to the one before.
    func audit(_ draft: AuditDraft, by caller: Caller) throws {
        guard head.sequence < .max else { throw AlertError.usedUp("entries of the audit log") }
        let role = draft.response?.button?.role
        let moment = (draft.at ?? now).wallMilliseconds
        var entry = AuditEntry(
            event: AlertEvent(
                sequence: head.sequence + 1, kind: draft.kind,
                at: Timestamp.date(milliseconds: moment), alertID: draft.alert,
                source: draft.source, outcome: draft.response?.outcome,
                buttonIndex: draft.response?.buttonIndex, by: draft.by,
                responder: caller.responder),
            buttonRole: role, loginUID: caller.identity.loginUID,
            session: caller.identity.session, content: draft.content, detail: draft.detail,
            previous: head.hash)
        entry.hash = entry.computedHash
        try insert(entry, milliseconds: moment)
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
