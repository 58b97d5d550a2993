import AlertCore
import SQLite

/// Reads the rows of the audit log.
enum AuditRow {
    static let columns = """
        audit.seq, at_ms, event, audit.alert_id, audit.source, audit.outcome, audit.button_index, \
        button_role, audit.resolved_by, audit.uid, audit.user, login_uid, session, audit.via, \
        audit.tty, audit.ssh, audit.host, audit.pid, content, detail, previous, hash
        """
    /// How many columns these are.
    static let count: Int32 = 22

    /// Reads an entry whose row goes on with its alert's title and key.
    static func entryOfAlert(_ row: borrowing Row) throws -> AuditEntry {
        var entry = try entry(row)
        entry.event.title = row.optionalText(count)
        entry.event.key = row.optionalText(count + 1)
        return entry
    }

    /// Reads an entry as it was written.
    ///
    /// A word or a number that no entry can have is an error: read as if it were absent or
    /// smaller, a forged entry would have the hash of the one that it was made of.
    static func entry(_ row: borrowing Row) throws -> AuditEntry {
        guard let kind = AlertEvent.Kind(rawValue: row.text(2)) else {
            throw unknown("event", row, 2)
        }
        return AuditEntry(
            event: AlertEvent(
                sequence: row.integer(0), kind: kind,
                at: Timestamp.date(milliseconds: row.integer(1)),
                alertID: row.optionalInteger(3), source: row.optionalText(4),
                outcome: try word(Outcome.self, "outcome", row, 5),
                buttonIndex: row.optionalInteger(6).map { Int($0) },
                by: try word(ResolvedBy.self, "resolver", row, 8),
                responder: Responder(
                    uid: try number(UInt32.self, "uid", row, 9) ?? 0, user: row.optionalText(10),
                    via: row.text(13), tty: row.optionalText(14), ssh: row.optionalText(15),
                    host: row.text(16), pid: try number(Int32.self, "pid", row, 17) ?? 0)),
            buttonRole: try word(Alert.Button.Role.self, "role", row, 7),
            loginUID: try number(UInt32.self, "login uid", row, 11),
            session: try number(UInt32.self, "session", row, 12),
            content: row.blob(18), detail: row.optionalText(19), previous: row.blob(20) ?? [],
            hash: row.blob(21) ?? [])
    }

    private static func word<Word: RawRepresentable<String>>(
        _ type: Word.Type, _ what: String, _ row: borrowing Row, _ column: Int32
    ) throws -> Word? {
        guard let text = row.optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw unknown(what, row, column) }
        return word
    }

    private static func number<Number: FixedWidthInteger>(
        _ type: Number.Type, _ what: String, _ row: borrowing Row, _ column: Int32
    ) throws -> Number? {
        guard let integer = row.optionalInteger(column) else { return nil }
        guard let number = Number(exactly: integer) else { throw unknown(what, row, column) }
        return number
    }

    private static func unknown(
        _ what: String, _ row: borrowing Row, _ column: Int32
    ) -> AlertError {
        .inconsistent(
            row.optionalInteger(3),
            "the \(what) “\(SafeText.line(row.text(column)))” of entry \(row.integer(0)) is unknown"
        )
    }
}
