import AlertCore
import SQLite

/// Compares the rows of responses with entries of the audit log, byte by byte.
///
/// Part of ``QuickAuditCheck``, as ``AlertContents`` is.
struct ResponseContents {
    let known: ButtonCache

    /// Facts about a response that matches its entry.
    struct Found {
        let number: Int64
        /// Whether its entry has the form of versions before schema 5.
        var isOlder = false
        /// Whether its expiry's entry records that the alert was never on a screen.
        var isUnseen = false
    }

    /// Returns the response of an alert if it is the one in the entry; else `nil`.
    func response(
        of id: Int64, _ entry: borrowing Row, _ db: Database
    ) throws -> Found? {
        try db.first(Self.query, .integer(id)) { row in
            var found = Found(number: row.integer(Column.seq))
            guard row.raw(Column.outcome).isSame(as: entry.raw(Entry.outcome)),
                row.raw(Column.buttonIndex).isSame(as: entry.raw(Entry.buttonIndex)),
                row.raw(Column.resolvedBy).isSame(as: entry.raw(Entry.resolvedBy)),
                row.raw(Column.resolvedMs).isSame(as: entry.raw(Entry.atMs)),
                row.raw(Column.source).isSame(as: row.raw(Column.alertSource)),
                row.raw(Column.key).isSame(as: row.raw(Column.alertKey)),
                row.raw(Column.handler).isSame(as: row.raw(Column.alertHandler)),
                hasResponder(row, entry), hasReason(row, entry, &found)
            else { return nil }
            let role = entry.optionalText(Entry.buttonRole)
            let isRight =
                row.isNull(Column.salt)
                ? try hasErasedButton(row, role: role) : try hasButton(row, role: role)
            return isRight ? found : nil
        } ?? nil
    }

    /// Whether an expiry came when it was due, and a cancel was handled as its entry records.
    private func hasReason(
        _ row: borrowing Row, _ entry: borrowing Row, _ found: inout Found
    ) -> Bool {
        let isHandled = row.integer(Column.handled) != 0
        if row.holds(Column.outcome, "expired") {
            let end = ExpiryCheck(row, detail: entry.optionalText(Entry.detail))
            (found.isOlder, found.isUnseen) = (end.isOlder, end.isUnseen)
            return !isHandled && end.isInTime
        }
        guard row.holds(Column.outcome, "cancelled") else { return !isHandled }
        found.isOlder = entry.isNull(Entry.detail)
        return found.isOlder || isHandled == EntryDetail.isHandled(entry.optionalText(Entry.detail))
    }

    /// A timer is not a responder; the entry then names the process that stored it.
    private func hasResponder(_ row: borrowing Row, _ entry: borrowing Row) -> Bool {
        let isTimer =
            row.holds(Column.outcome, "expired")
            || (row.holds(Column.outcome, "dismissed") && row.holds(Column.resolvedBy, "system"))
        return Self.responder.allSatisfy { mine, its in
            isTimer ? row.isNull(mine) : row.raw(mine).isSame(as: entry.raw(its))
        }
    }

    /// Whether the response names the id of its alert's button.
    private func hasButton(_ row: borrowing Row, role: String?) throws -> Bool {
        let index = row.integer(Column.buttonIndex)
        guard index >= 0 else { return index == -1 && row.isNull(Column.button) && role == nil }
        guard let buttons = try known.buttons(row.raw(Column.buttons)), index < buttons.ids.count
        else { return false }
        return buttons.roles[Int(index)] == role
            && buttons.ids[Int(index)].withUnsafeBytes(row.raw(Column.button).holds)
    }

    /// Whether the response names what is left of its alert's button.
    private func hasErasedButton(_ row: borrowing Row, role: String?) throws -> Bool {
        let index = row.integer(Column.buttonIndex)
        guard index >= 0 else { return index == -1 && row.isNull(Column.button) }
        let buttons = try StoredJSON.partialButtons(row.text(Column.buttons))
        guard index < buttons.count else { return false }
        let button = buttons[Int(index)]
        return button.role == role && button.id.isIdentical(to: row.optionalText(Column.button))
    }
}

// MARK: - Columns

extension ResponseContents {
    private typealias Entry = AuditRow.Column

    /// The columns of a response and of its alert.
    enum Column: Int, ColumnList {
        case outcome, buttonIndex, resolvedBy, resolvedMs, uid, user, via, tty, ssh, host, pid
        case source, alertSource, key, alertKey, handler, alertHandler, button, buttons, salt
        case handled, seq, expiresMs, expiresBootMs, boot, defaultButton

        var sql: String {
            switch self {
            case .uid, .host, .pid, .key, .handler, .seq: "responses.\(snakeCased)"
            case .alertSource: "sources.name"
            case .alertKey: "alerts.key"
            case .alertHandler: "alerts.handler"
            default: snakeCased
            }
        }
    }

    private static let query = """
        SELECT \(Column.list) FROM responses INDEXED BY sqlite_autoindex_responses_1
        JOIN alerts NOT INDEXED ON alerts.id = alert_id
        JOIN sources NOT INDEXED ON sources.id = source_id WHERE alert_id = ?
        """

    /// The columns for who gave a response, in its row and in its entry.
    private static let responder: [(Column, Entry)] = [
        (.uid, .uid), (.user, .user), (.via, .via), (.tty, .tty), (.ssh, .ssh), (.host, .host),
        (.pid, .pid),
    ]
}
