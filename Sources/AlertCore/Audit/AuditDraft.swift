import FoundationEssentials
import TextFormats

/// The contents of an audit entry before it has its position in the chain.
package struct AuditDraft: Sendable {
    var kind: AlertEvent.Kind
    /// When it happened, if not now.
    package var at: ClockReading?
    package private(set) var alert: Alert.ID?
    var source: String?
    var response: Response?
    var by: ResolvedBy?
    package var content: [UInt8]?
    package var detail: EntryDetail?
    /// The stored text of the detail, if it is known.
    var preparedDetail: String?

    package init(kind: AlertEvent.Kind, alert: Alert.ID, source: String) {
        self.kind = kind
        self.alert = alert
        self.source = source
    }

    /// An entry about the whole queue.
    package init(kind: AlertEvent.Kind) { self.kind = kind }

    /// An entry that names an alert that the log contradicted in a restored backup.
    ///
    /// - Parameter sequence: The entry of that log which says otherwise, if a single one does.
    package init(contradicted alert: Alert.ID, by sequence: Int64?) {
        self.init(kind: .restored)
        self.alert = alert
        detail = sequence.map(EntryDetail.contradicted)
    }

    package init(
        kind: AlertEvent.Kind, at moment: ClockReading? = nil, record: AlertRecord,
        response: Response? = nil, by: ResolvedBy? = nil, content: [UInt8]? = nil,
        detail: EntryDetail? = nil
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

    /// The entry that follows the given head, chained to it.
    package func entry(
        after head: AuditHead, at now: ClockReading, by caller: Caller,
        _ input: HashInput = HashInput()
    ) -> AuditEntry {
        var entry = AuditEntry(
            event: AlertEvent(
                sequence: head.sequence + 1, kind: kind,
                at: Timestamp.date(milliseconds: (at ?? now).wallMilliseconds), alertID: alert,
                source: source, outcome: response?.outcome, buttonIndex: response?.buttonIndex,
                by: by, responder: caller.recorded),
            buttonRole: response?.button?.role, loginUID: caller.loginUID,
            session: caller.session, boot: now.boot, content: content,
            detail: preparedDetail ?? detail?.text,
            previous: head.hash)
        entry.hash = entry.hash(with: input)
        return entry
    }
}
