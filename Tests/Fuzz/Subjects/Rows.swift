import AlertTables
import FoundationEssentials
import Migrations
import SQLite

@testable import AlertCore
@testable import SQLiteStore

/// A stored alert with arbitrary values in its columns, which is read and shown.
@Sendable func rows(_ input: inout Input) {
    let now = ClockReading(
        wallMilliseconds: input.integer(), bootMilliseconds: input.integer(), boot: "boot")
    let values = columns.map { input.value(like: $0) }
    let row = try? memory.first(selectRow, values) { try AlertRow($0) }
    guard let row = row ?? nil else { return }
    let visible = row.visible(at: now)
    expect(
        row.isOverdue(at: now) == (visible.response != nil && row.record.response == nil),
        "an overdue alert that is not expired")
    expect(
        visible.response.map { $0.button == nil || visible.alert.buttons.count > $0.buttonIndex }
            ?? true, "a button that is not there")
    let position = QueuePosition(
        id: row.record.id, priority: row.record.alert.priority, asked: row.alert.asked)
    _ = position.comes(before: position, at: now)
    _ = row.content
    _ = try? row.record.alert.validate()
}

/// The kinds of the columns that ``AlertRow`` reads, in its order.
private let columns: [Kind] =
    AlertRow.tableColumns.map { name in alertColumns.first { $0.name == name }?.kind ?? .text }
    + [.text, .word(principals)]

private let selectRow =
    "SELECT " + (1...columns.count).map { "?\($0)" }.joined(separator: ", ")

/// The usual contents of a column, in place of which other values come occasionally.
enum Kind: Sendable {
    case integer, small, text, blob
    case word([String])
    case json(String)
    /// As often there is none.
    indirect case optional(Kind)
}

extension Input {
    mutating func value(like kind: Kind) -> Value {
        switch byte() {
        case 0: return .null
        case 1: return .integer(integer())
        case 2: return .text(text())
        case 3: return .blob(bytes())
        default: break
        }
        switch kind {
        case .integer: return .integer(integer())
        case .small: return .integer(Int64(byte()) % 5 - 1)
        case .text: return .text(text())
        case .blob: return .blob(bytes())
        case .word(let words): return .text(pick(words))
        case .json(let first): return .text(jsonText(first))
        case .optional(let kind): return byte() & 1 == 0 ? .null : value(like: kind)
        }
    }

    private mutating func jsonText(_ first: String) -> String {
        switch byte() & 3 {
        case 0: text()
        case 1: first == "[" ? #"[{"id":"yes","title":"Yes","role":"destructive"},{}]"# : "{}"
        case 2: first == "[" ? #"["terminal"]"# : #"{"a":"b"}"#
        default: first + text()
        }
    }
}

/// A database that is used only on the fuzzer's thread.
struct Confined: @unchecked Sendable {
    let database: Database?
}

private let plain = Confined(database: try? Database(path: ":memory:", access: .create))

private var memory: Database {
    guard let database = plain.database else { preconditionFailure("no memory") }
    return database
}

extension Database {
    fileprivate func first<Result>(
        _ sql: String, _ values: [Value], read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        var result: Result?
        try forEach(sql, values) { result = try read($0) }
        return result
    }
}
