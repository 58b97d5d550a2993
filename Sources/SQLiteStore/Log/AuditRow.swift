import AlertCore
import FoundationEssentials
import SQLite
import TextFormats

/// Reads the rows of the audit log.
enum AuditRow {
    static let columns = Column.list

    /// The columns of an entry, in the order of the query.
    enum Column: Int, ColumnList {
        case seq, atMs, event, alertId, source, outcome, buttonIndex, buttonRole, resolvedBy
        case accountHost, uid, user, loginUid, session, via, tty, ssh, host, boot, pid, content
        case detail, previous, hash

        var sql: String { "audit.\(snakeCased)" }
    }

    /// The columns of its alert, which follow those of the entry.
    enum AlertColumn: Int, ColumnList {
        case title, key, button

        static let offset = Column.end
        var sql: String {
            self == .button ? StoredJSON.buttonID(at: "audit.button_index") : "alerts.\(snakeCased)"
        }
    }

    /// Reads an entry from a row that continues with the columns of its alert.
    static func entryOfAlert(_ row: borrowing Row) throws -> AuditEntry {
        var entry = try entry(row)
        entry.event.title = row.optionalText(AlertColumn.title)
        entry.event.key = row.optionalText(AlertColumn.key)
        entry.button = row.optionalText(AlertColumn.button)
        return entry
    }

    /// Reads the number and the hash of an entry, whatever else it contains.
    static func head(_ row: borrowing Row) -> AuditHead {
        AuditHead(sequence: row.integer(Column.seq), hash: row.blob(Column.hash) ?? [])
    }

    /// Reads an entry as it was written.
    ///
    /// A word or a number that no entry can have is an error: if it were read as absent or smaller,
    /// a forged entry would have the hash of the original one.
    static func entry(_ row: borrowing Row) throws -> AuditEntry {
        guard let kind = AlertEvent.Kind(rawValue: row.text(Column.event)) else {
            throw unknown("event", row, .event)
        }
        let accountHost = row.optionalText(Column.accountHost)
        // It would have the hash of an entry without one.
        guard accountHost != "" else { throw unknown("account's host", row, .accountHost) }
        return AuditEntry(
            event: AlertEvent(
                sequence: row.integer(Column.seq), kind: kind,
                at: Timestamp.date(milliseconds: row.integer(Column.atMs)),
                alertID: row.optionalInteger(Column.alertId),
                source: row.optionalText(Column.source),
                outcome: try word(Outcome.self, "outcome", row, .outcome),
                buttonIndex: row.optionalInteger(Column.buttonIndex).map { Int($0) },
                by: try word(ResolvedBy.self, "resolver", row, .resolvedBy),
                responder: Responder(
                    Account(
                        uid: try number(UInt32.self, "uid", row, .uid) ?? 0,
                        name: row.optionalText(Column.user), host: accountHost ?? ""),
                    via: row.text(Column.via), tty: row.optionalText(Column.tty),
                    ssh: row.optionalText(Column.ssh),
                    process: ProcessIdentity(
                        host: row.text(Column.host),
                        pid: try number(Int32.self, "pid", row, .pid) ?? 0))),
            buttonRole: try word(Alert.Button.Role.self, "role", row, .buttonRole),
            loginUID: try number(UInt32.self, "login uid", row, .loginUid),
            session: try number(UInt32.self, "session", row, .session),
            boot: row.text(Column.boot), content: row.blob(Column.content),
            detail: row.optionalText(Column.detail),
            previous: row.blob(Column.previous) ?? [],
            hash: row.blob(Column.hash) ?? [])
    }

    private static func word<Word: RawRepresentable<String>>(
        _ type: Word.Type, _ what: String, _ row: borrowing Row, _ column: Column
    ) throws -> Word? {
        guard let text = row.optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw unknown(what, row, column) }
        return word
    }

    private static func number<Number: FixedWidthInteger>(
        _ type: Number.Type, _ what: String, _ row: borrowing Row, _ column: Column
    ) throws -> Number? {
        guard let integer = row.optionalInteger(column) else { return nil }
        guard let number = Number(exactly: integer) else { throw unknown(what, row, column) }
        return number
    }

    private static func unknown(
        _ what: String, _ row: borrowing Row, _ column: Column
    ) -> AlertError {
        let entry = row.integer(Column.seq)
        return .inconsistent(
            row.optionalInteger(Column.alertId),
            "the \(what) “\(SafeText.line(row.text(column)))” of entry \(entry) is unknown")
    }
}

// Heads of the audit log.
extension Database {
    func lastSequence() throws -> Int64 {
        try lastHead().sequence
    }

    /// The end of the audit log; ``AuditHead/start`` if it is empty.
    func lastHead() throws -> AuditHead {
        try first("SELECT seq, hash FROM audit NOT INDEXED ORDER BY seq DESC LIMIT 1") { row in
            AuditHead(sequence: row.integer(at: 0), hash: row.blob(at: 1) ?? [])
        } ?? AuditHead.start
    }

    /// Whether the last entry of the log is what its hash says; an empty log is intact.
    func isLastEntryIntact() throws -> Bool {
        do {
            return try first(
                "SELECT \(AuditRow.columns) FROM audit NOT INDEXED ORDER BY seq DESC LIMIT 1"
            ) { try AuditRow.entry($0) }.map { $0.computedHash == $0.hash } ?? true
        } catch AlertError.inconsistent {
            return false
        }
    }

    func auditHead(at sequence: Int64) throws -> AuditHead? {
        try first("SELECT hash FROM audit NOT INDEXED WHERE seq = ?", .integer(sequence)) { row in
            AuditHead(sequence: sequence, hash: row.blob() ?? [])
        }
    }
}
