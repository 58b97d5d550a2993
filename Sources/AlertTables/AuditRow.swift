import AlertCore
import FoundationEssentials
import SQL
import TextFormats

/// Reads the rows of the audit log.
package enum AuditRow {
    package static let columns = Column.list

    /// The columns of an entry, in the order of the query.
    package enum Column: Int, ColumnList {
        case seq, atMs, event, alertId, source, outcome, buttonIndex, buttonRole, resolvedBy
        case principal, user, loginUid, session, via, tty, ssh, means, host, boot, pid, content
        case detail, previous, hash

        package var sql: String { "audit.\(snakeCased)" }
    }

    /// The columns of its alert, which follow those of the entry.
    package enum AlertColumn: Int, ColumnList {
        case title, key, buttons, note

        package static let offset = Column.end
        package var sql: String { "alerts.\(snakeCased)" }
    }

    /// Reads an entry from a row that continues with the columns of its alert.
    package static func entryOfAlert(
        _ row: borrowing some SQLRow & ~Copyable
    ) throws -> AuditEntry {
        var entry = try entry(row)
        entry.event.title = row.optionalText(AlertColumn.title)
        entry.event.key = row.optionalText(AlertColumn.key)
        if entry.event.kind == .resolved { entry.note = row.optionalText(AlertColumn.note) }
        if let index = entry.event.buttonIndex, let buttons = row.optionalText(AlertColumn.buttons)
        {
            let button = StoredJSON.button(at: index, in: buttons)
            (entry.button, entry.label) = (button?.id, button?.title)
        }
        return entry
    }

    /// Reads the number and the hash of an entry, whatever else it contains.
    package static func head(_ row: borrowing some SQLRow & ~Copyable) -> AuditHead {
        AuditHead(sequence: row.integer(Column.seq), hash: row.blob(Column.hash) ?? [])
    }

    /// Reads an entry as it was written.
    ///
    /// A word or a number that no entry can have is an error: if it were read as absent or smaller,
    /// a forged entry would have the hash of the original one.
    package static func entry(_ row: borrowing some SQLRow & ~Copyable) throws -> AuditEntry {
        let kind = AlertEvent.Kind(rawValue: row.text(Column.event))
        guard
            let principal = Principal(
                text: row.text(Column.principal), user: row.optionalText(Column.user))
        else { throw unknown("principal", row, .principal) }
        guard let means = row.means(Column.means, host: Column.host, pid: Column.pid) else {
            throw unknown("means", row, .means)
        }
        return AuditEntry(
            event: AlertEvent(
                sequence: row.integer(Column.seq), kind: kind,
                at: Timestamp.date(milliseconds: row.integer(Column.atMs)),
                alertID: row.optionalInteger(Column.alertId),
                source: row.optionalText(Column.source),
                outcome: try word(Outcome.self, "outcome", row, .outcome),
                buttonIndex: row.optionalInteger(Column.buttonIndex).map { Int($0) },
                by: try word(ResolvedBy.self, "resolver", row, .resolvedBy),
                responder: Caller(
                    principal, via: row.text(Column.via), means: means,
                    tty: row.optionalText(Column.tty), ssh: row.optionalText(Column.ssh))),
            buttonRole: try word(Alert.Button.Role.self, "role", row, .buttonRole),
            loginUID: try number(UInt32.self, "login uid", row, .loginUid),
            session: try number(UInt32.self, "session", row, .session),
            boot: row.text(Column.boot), content: row.blob(Column.content),
            detail: row.optionalText(Column.detail),
            previous: row.blob(Column.previous) ?? [],
            hash: row.blob(Column.hash) ?? [])
    }

    private static let columnCount = Column.end

    /// What is wrong with an entry that is not as it was written.
    package struct Broken: Error {
        package let reason: String
    }

    /// Reads an entry that an alert needs from a row that continues with the hash of the entry before
    /// it and with what the one after it says of it, and makes sure that it is as it was written:
    /// that it has the hash of its contents, continues the one, and is continued by the other.
    static func linkedEntry(
        _ row: borrowing some SQLRow & ~Copyable
    ) -> Result<AuditEntry, Broken> {
        guard let entry = try? Self.entry(row) else {
            return .failure(Broken(reason: "can't be understood"))
        }
        guard entry.computedHash == entry.hash else {
            return .failure(Broken(reason: "was changed"))
        }
        let before = row.blob(at: columnCount) ?? AuditHead.start.hash
        let after = row.blob(at: columnCount + 1) ?? entry.hash
        guard before == entry.previous, after == entry.hash else {
            return .failure(Broken(reason: "was replaced"))
        }
        return .success(entry)
    }

    @inline(__always)
    private static func word<Word: RawRepresentable<String>>(
        _ type: Word.Type, _ what: String, _ row: borrowing some SQLRow & ~Copyable,
        _ column: Column
    ) throws -> Word? {
        guard let text = row.optionalText(column) else { return nil }
        guard let word = Word(rawValue: text) else { throw unknown(what, row, column) }
        return word
    }

    @inline(__always)
    private static func number<Number: FixedWidthInteger>(
        _ type: Number.Type, _ what: String, _ row: borrowing some SQLRow & ~Copyable,
        _ column: Column
    ) throws -> Number? {
        guard let integer = row.optionalInteger(column) else { return nil }
        guard let number = Number(exactly: integer) else { throw unknown(what, row, column) }
        return number
    }

    private static func unknown(
        _ what: String, _ row: borrowing some SQLRow & ~Copyable, _ column: Column
    ) -> AlertError {
        let entry = row.integer(Column.seq)
        return .inconsistent(
            row.optionalInteger(Column.alertId),
            "the \(what) “\(SafeText.line(row.text(column)))” of entry \(entry) is unknown")
    }
}
