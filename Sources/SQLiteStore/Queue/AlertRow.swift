import AlertCore
import FoundationEssentials
import SQLite

/// An alert as read from its row: the record, and what only the store needs.
struct AlertRow {
    var record: AlertRecord
    let sourceID: Int64
    let asked: ClockReading
    let expiry: ClockReading?
    /// Whether the deadline, if there is one, has its time on the wall clock.
    var isDeadlineWhole = true
    /// Whether a delegate has handled a cancel.
    let isHandled: Bool
    /// The salt of the content's hash; `nil` once the texts have been erased.
    let salt: [UInt8]?
    /// The entry of the audit log that records the erasure, if it is known.
    let erasedSequence: Int64?
    /// Whether the column `state` says that the alert has its response.
    let isMarkedResolved: Bool
    /// Whether the row says that a cancel was requested from a screen.
    let isMarkedCancelled: Bool
    /// What is left of the buttons once the texts have been erased.
    let erasedButtons: ErasedButtons?
    /// Whether none of the texts that an erasure removes is there.
    let isBlank: Bool
    /// The value of ``content``, if it has been computed.
    private var knownContent: [UInt8]?

    static let columns = Column.list

    /// Reads a row of ``columns``.
    init(_ row: borrowing Row) throws {
        let id = row.integer(Column.id)
        let alert = try Self.alert(row)
        let boot = row.text(Column.boot)
        asked = ClockReading(
            wallMilliseconds: row.integer(Column.askedMs),
            bootMilliseconds: row.integer(Column.askedBootMs), boot: boot)
        let expiry = Expiry.moment(
            wallMilliseconds: row.optionalInteger(Column.expiresMs),
            bootMilliseconds: row.optionalInteger(Column.expiresBootMs),
            boot: boot)
        self.expiry = expiry
        isDeadlineWhole = !row.isNull(Column.expiresMs) || row.isNull(Column.expiresBootMs)
        salt = row.blob(Column.salt)
        isHandled = row.integer(Column.handled) != 0
        sourceID = row.integer(Column.sourceId)
        erasedSequence = row.optionalInteger(Column.erasedSeq)
        isMarkedResolved = row.raw(Column.state).holds("resolved")
        isMarkedCancelled = row.integer(Column.cancelRequested) != 0
        erasedButtons =
            salt == nil
            ? ErasedButtons(
                stored: (try? StoredJSON.partialButtons(row.text(Column.buttons))) ?? [],
                defaultButton: row.optionalText(Column.defaultButton)) : nil
        isBlank =
            row.isNull(Column.title) && row.isNull(Column.message)
            && row.raw(Column.info).holds("{}")
            && erasedButtons?.buttons.allSatisfy { $0.title == nil } ?? false
        let response = try Self.response(row, id: id, alert: alert)
        record = AlertRecord(
            id: id, alert: alert,
            source: AlertRecord.Source(
                name: row.text(Column.sourceName),
                uid: UInt32(truncatingIfNeeded: row.integer(Column.sourceUid)),
                pid: Int32(truncatingIfNeeded: row.integer(Column.pid)), host: row.text(Column.host)
            ),
            state: response == nil ? .queued : .resolved,
            askedAt: Timestamp.date(milliseconds: row.integer(Column.askedMs)),
            presentedAt: row.optionalInteger(Column.presentedMs).map(Timestamp.date),
            expiresAt: row.optionalInteger(Column.expiresMs).map(Timestamp.date),
            snoozedUntil: row.optionalInteger(Column.snoozedMs).map(Timestamp.date),
            snoozes: Int(row.integer(Column.snoozes)), response: response)
        record.isErased = salt == nil
        record.followsWallClock = expiry?.isOnWallClock ?? false
        record.salt = salt
    }

    /// The salted hash of what the row asks; `nil` once its texts have been erased.
    var content: [UInt8]? {
        knownContent ?? salt.map { AuditEntry.content(of: record.alert, salt: $0) }
    }

    /// The row with its ``content``, which is then computed only once.
    var withContent: AlertRow {
        var row = self
        row.knownContent = content
        return row
    }

    /// Whether the deadline has passed although the expiry is not stored yet.
    func isOverdue(at now: ClockReading) -> Bool { record.isOverdue(expiry, at: now) }

    /// The record as readers see it: an overdue alert appears as expired.
    func visible(at now: ClockReading) -> AlertRecord { record.visible(expiry, at: now) }

    /// The expected detail of its ask's entry, with the entry's own parts for what the row no
    /// longer has.
    func askedDetail(logged detail: String?) -> String {
        let alert = record.alert
        var key = alert.key == nil ? nil : EntryDetail.key(asked: detail)
        guard let erasedButtons else {
            key = key.flatMap { KeyDigest(of: alert, source: record.source.name, salt: $0.salt) }
            return askedDetail(leaves: AuditEntry.leaves(of: alert), key: key)
        }
        return askedDetail(leaves: AuditEntry.leaves(of: alert, erasedButtons), key: key)
    }

    private func askedDetail(leaves: [UInt8], key: KeyDigest?) -> String {
        EntryDetail.asked(
            at: asked, expiry: expiry, dismissAfter: record.alert.dismissAfter,
            snooze: record.alert.snooze, leaves: leaves, key: key)
    }

    private static func alert(_ row: borrowing Row) throws -> Alert {
        guard let style = Alert.Style(rawValue: row.text(Column.style)),
            let priority = Alert.Priority(rawValue: Int(row.integer(Column.priority)))
        else { throw damaged(row.integer(Column.id), "style or priority") }
        let title = row.optionalText(Column.title) ?? "#\(row.integer(Column.id))"
        var alert = Alert(title, message: row.optionalText(Column.message), style: style)
        alert.priority = priority
        do {
            alert.buttons = try StoredJSON.buttons(row.text(Column.buttons))
            alert.userInfo = try StoredJSON.strings(row.text(Column.info))
            alert.presenters = try row.optionalText(Column.presenters).map {
                try StoredJSON.decode([String].self, $0)
            }
        } catch {
            throw damaged(row.integer(Column.id), "buttons, info or presenters")
        }
        alert.defaultButton = row.optionalText(Column.defaultButton)
        alert.handler = row.optionalText(Column.handler)
        alert.key = row.optionalText(Column.key)
        alert.dismissAfter = row.optionalInteger(Column.dismissAfterMs).map { .milliseconds($0) }
        alert.snooze = row.optionalInteger(Column.snoozeMs).map { .milliseconds($0) }
        alert.deadline = row.optionalInteger(Column.expiresMs).map {
            .at(Timestamp.date(milliseconds: $0))
        }
        alert.source = row.text(Column.sourceName)
        return alert
    }

    private static func response(
        _ row: borrowing Row, id: Alert.ID, alert: Alert
    ) throws -> Response? {
        guard let outcomeName = row.optionalText(Column.outcome) else { return nil }
        guard let outcome = Outcome(rawValue: outcomeName),
            let by = ResolvedBy(rawValue: row.text(Column.resolvedBy))
        else { throw damaged(id, "response") }
        let index = Int(row.integer(Column.buttonIndex))
        return Response(
            alertID: id, outcome: outcome, buttonIndex: index,
            button: alert.buttons.indices.contains(index) ? alert.buttons[index] : nil, by: by,
            responder: responder(row),
            resolvedAt: Timestamp.date(milliseconds: row.integer(Column.resolvedMs)),
            collectedAt: row.optionalInteger(Column.collectedMs).map(Timestamp.date),
            userInfo: alert.userInfo,
            cancelHandling: outcome == .cancelled
                ? CancelHandling(isHandled: row.integer(Column.handled) != 0) : nil)
    }

    private static func responder(_ row: borrowing Row) -> Responder? {
        guard let via = row.optionalText(Column.via) else { return nil }
        return Responder(
            uid: UInt32(truncatingIfNeeded: row.integer(Column.responderUid)),
            user: row.optionalText(Column.user), via: via,
            tty: row.optionalText(Column.tty), ssh: row.optionalText(Column.ssh),
            host: row.text(Column.responderHost),
            pid: Int32(truncatingIfNeeded: row.integer(Column.responderPid)))
    }

    private static func damaged(_ id: Alert.ID, _ what: String) -> AlertError {
        .inconsistent(id, "its \(what) can't be understood")
    }
}
