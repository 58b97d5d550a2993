import AlertCore
import FoundationEssentials
import SQLite

/// An alert as its row has it: the record, and what only the store needs.
struct AlertRow {
    var record: AlertRecord
    let sourceID: Int64
    let asked: ClockReading
    let expiry: ClockReading?
    /// Whether the deadline, if there is one, stands there on the wall clock.
    var isDeadlineWhole = true
    /// Whether a delegate has done what a cancel needed.
    let isHandled: Bool
    /// The salt of the content's hash; `nil` once the texts have been erased.
    let salt: [UInt8]?
    /// Which entry of the audit log says that, if it is known.
    let erasedSequence: Int64?
    /// Whether the column `state` says that the alert has its response.
    let isMarkedResolved: Bool
    /// Whether somebody wants a screen to cancel it, as far as the row knows.
    let isMarkedCancelled: Bool
    /// What is left of the buttons, once the texts have been erased.
    let erasedButtons: ErasedButtons?
    /// Whether none of the texts is there that an erasure takes.
    let isBlank: Bool

    static let columns = """
        alerts.id, title, message, style, priority, buttons, info, default_button, \
        alerts.handler, presenters, alerts.key, dismiss_after_ms, snooze_ms, alerts.pid, \
        alerts.host, boot, asked_ms, asked_boot_ms, expires_ms, expires_boot_ms, presented_ms, \
        snoozes, snoozed_ms, salt, sources.name, sources.uid, outcome, button_index, resolved_by, \
        responses.uid, user, via, tty, ssh, responses.host, responses.pid, resolved_ms, \
        collected_ms, handled, alerts.source_id, erased_seq, alerts.state, cancel_requested
        """
    /// How many columns these are.
    static let count: Int32 = 43

    /// Reads a row of ``columns``.
    init(_ row: borrowing Row) throws {
        let id = row.integer(0)
        let alert = try Self.alert(row)
        let boot = row.text(15)
        asked = ClockReading(
            wallMilliseconds: row.integer(16), bootMilliseconds: row.integer(17), boot: boot)
        let expiry = Expiry.moment(
            wallMilliseconds: row.optionalInteger(18), bootMilliseconds: row.optionalInteger(19),
            boot: boot)
        self.expiry = expiry
        isDeadlineWhole = !row.isNull(18) || row.isNull(19)
        salt = row.blob(23)
        isHandled = row.integer(38) != 0
        sourceID = row.integer(39)
        erasedSequence = row.optionalInteger(40)
        isMarkedResolved = row.holds(41, "resolved")
        isMarkedCancelled = row.integer(42) != 0
        erasedButtons =
            salt == nil
            ? ErasedButtons(
                stored: (try? StoredJSON.partialButtons(row.text(5))) ?? [],
                defaultButton: row.optionalText(7)) : nil
        isBlank =
            row.isNull(1) && row.isNull(2) && row.holds(6, "{}")
            && erasedButtons?.buttons.allSatisfy { $0.title == nil } ?? false
        let response = try Self.response(row, id: id, alert: alert)
        record = AlertRecord(
            id: id, alert: alert,
            source: AlertRecord.Source(
                name: row.text(24), uid: UInt32(truncatingIfNeeded: row.integer(25)),
                pid: Int32(truncatingIfNeeded: row.integer(13)), host: row.text(14)),
            state: response == nil ? .queued : .resolved,
            askedAt: Timestamp.date(milliseconds: row.integer(16)),
            presentedAt: row.optionalInteger(20).map(Timestamp.date),
            expiresAt: row.optionalInteger(18).map(Timestamp.date),
            snoozedUntil: row.optionalInteger(22).map(Timestamp.date),
            snoozes: Int(row.integer(21)), response: response)
        record.isErased = salt == nil
        record.followsWallClock = expiry?.isOnWallClock ?? false
        record.salt = salt
    }

    /// Whether the deadline has passed without anybody having stored that.
    func isOverdue(at now: ClockReading) -> Bool { record.isOverdue(expiry, at: now) }

    /// The record as a reader is to see it: an overdue alert shows as expired.
    func visible(at now: ClockReading) -> AlertRecord { record.visible(expiry, at: now) }

    /// What the entry of its ask says besides its columns.
    ///
    /// - Parameter key: The digest of its key, if it has one.
    func askedDetail(leaves: [UInt8], key: KeyDigest?) -> String {
        EntryDetail.asked(
            at: asked, expiry: expiry, dismissAfter: record.alert.dismissAfter,
            snooze: record.alert.snooze, leaves: leaves, key: key)
    }

    /// What that entry has to say, which it says itself as far as the row no longer knows.
    func askedDetail(told detail: String?) -> String {
        let alert = record.alert
        var key = alert.key == nil ? nil : EntryDetail.key(asked: detail)
        guard let erasedButtons else {
            key = key.flatMap { KeyDigest(of: alert, source: record.source.name, salt: $0.salt) }
            return askedDetail(leaves: AuditEntry.leaves(of: alert), key: key)
        }
        return askedDetail(leaves: AuditEntry.leaves(of: alert, erasedButtons), key: key)
    }

    private static func alert(_ row: borrowing Row) throws -> Alert {
        guard let style = Alert.Style(rawValue: row.text(3)),
            let priority = Alert.Priority(rawValue: Int(row.integer(4)))
        else { throw damaged(row.integer(0), "style or priority") }
        let title = row.optionalText(1) ?? "#\(row.integer(0))"
        var alert = Alert(title, message: row.optionalText(2), style: style)
        alert.priority = priority
        do {
            alert.buttons = try StoredJSON.buttons(row.text(5))
            alert.userInfo = try StoredJSON.strings(row.text(6))
            alert.presenters = try row.optionalText(9).map {
                try StoredJSON.decode([String].self, $0)
            }
        } catch {
            throw damaged(row.integer(0), "buttons, info or presenters")
        }
        alert.defaultButton = row.optionalText(7)
        alert.handler = row.optionalText(8)
        alert.key = row.optionalText(10)
        alert.dismissAfter = row.optionalInteger(11).map { .milliseconds($0) }
        alert.snooze = row.optionalInteger(12).map { .milliseconds($0) }
        alert.deadline = row.optionalInteger(18).map { .at(Timestamp.date(milliseconds: $0)) }
        alert.source = row.text(24)
        return alert
    }

    private static func response(
        _ row: borrowing Row, id: Alert.ID, alert: Alert
    ) throws -> Response? {
        guard let outcomeName = row.optionalText(26) else { return nil }
        guard let outcome = Outcome(rawValue: outcomeName),
            let by = ResolvedBy(rawValue: row.text(28))
        else { throw damaged(id, "response") }
        let index = Int(row.integer(27))
        return Response(
            alertID: id, outcome: outcome, buttonIndex: index,
            button: alert.buttons.indices.contains(index) ? alert.buttons[index] : nil, by: by,
            responder: responder(row),
            resolvedAt: Timestamp.date(milliseconds: row.integer(36)),
            collectedAt: row.optionalInteger(37).map(Timestamp.date), userInfo: alert.userInfo,
            cancelHandling: outcome == .cancelled
                ? CancelHandling(isHandled: row.integer(38) != 0) : nil)
    }

    private static func responder(_ row: borrowing Row) -> Responder? {
        guard let via = row.optionalText(31) else { return nil }
        return Responder(
            uid: UInt32(truncatingIfNeeded: row.integer(29)), user: row.optionalText(30), via: via,
            tty: row.optionalText(32), ssh: row.optionalText(33), host: row.text(34),
            pid: Int32(truncatingIfNeeded: row.integer(35)))
    }

    private static func damaged(_ id: Alert.ID, _ what: String) -> AlertError {
        .inconsistent(id, "its \(what) can't be understood")
    }
}
