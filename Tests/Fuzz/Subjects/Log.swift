import AlertTables
import FoundationEssentials
import Migrations
import SQLite

@testable import AlertCore
@testable import SQLiteStore

/// A whole queue with arbitrary values in its rows, which is read by every query and verified.
@Sendable func audit(_ input: inout Input) {
    guard let db = queue.database else { preconditionFailure("no memory") }
    do {
        try db.execute("SAVEPOINT try")
        defer { try? db.execute("ROLLBACK TO try; RELEASE try") }
        for _ in 0..<input.number(below: 6) { insertAny(&input, db) }
        let now = ClockReading(
            wallMilliseconds: input.integer(), bootMilliseconds: input.integer(), boot: "boot")
        readAll(db, now)
        verify(db)
    } catch {
        preconditionFailure("\(error)")
    }
}

private func insertAny(_ input: inout Input, _ db: Database) {
    let table = input.pick(tables)
    let values = table.columns.map { input.value(like: $0.kind) }
    // A value that a strict table refuses can't have been stored.
    try? db.run(table.insert, values)
}

private func readAll(_ db: Database, _ now: ClockReading) {
    for id in [1, Int64.min, Int64.max] { _ = try? db.alert(id) }
    for id in [nil, 1, Int64.max] {
        for orOverdue in [false, true] {
            _ = try? db.waiting(
                source: nil, orOverdue: orOverdue, after: id, limit: 5, at: now)
        }
    }
    _ = try? db.due(at: now, from: OverdueStart(), atMost: 5)
    _ = try? db.upcoming(ScreenQuery(for: ["terminal"], own: [3], except: [7]), at: now)
    _ = try? db.comparedAlerts([1, 2, 3])
    for id in [1, 2] as [Alert.ID] { _ = try? db.run(db.query.turns(of: id, entry: 9)) }
    _ = try? db.nextDue(at: now)
    if let count = try? db.pendingCount(at: now) {
        expect(count >= 0, "a negative number of alerts waits")
    }
    _ = try? db.lastHead()
}

private func verify(_ db: Database) {
    var verification = QueueVerification(expecting: nil)
    guard (try? verification.finish(db, at: SystemClock().now())) != nil else { return }
    let entries = (try? db.first("SELECT count(*) FROM audit") { $0.integer() }) ?? 0
    // Without knowing the chain, nobody can write an entry that verifies.
    expect(
        entries == 0 || !verification.report(damage: []).problems.isEmpty,
        "made-up entries verify")
}

private struct AnyTable {
    let columns: [(name: String, kind: Kind)]
    let insert: String

    init(_ name: String, _ columns: [(name: String, kind: Kind)]) {
        self.columns = columns
        let names = columns.map(\.name).joined(separator: ", ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        insert = "INSERT OR REPLACE INTO \(name) (\(names)) VALUES (\(marks))"
    }
}

let principals = ["0", "1", "1000@db7", "person:boss", "person:", "4294967296", "01", ""]

/// The columns of an alert that are made up, with their kinds.
let alertColumns: [(name: String, kind: Kind)] = [
    ("id", .small), ("source_id", .small), ("means", .optional(.text)),
    ("pid", .optional(.integer)), ("host", .optional(.text)),
    ("key", .text), ("style", .word(["alert", "actionSheet"])), ("priority", .small),
    ("title", .text), ("message", .text), ("buttons", .json("[")), ("info", .json("{")),
    ("default_button", .text), ("handler", .text), ("presenters", .json("[")),
    ("salt", .blob), ("dismiss_after_ms", .integer), ("snooze_ms", .integer),
    ("valid_ms", .optional(.integer)), ("resolved_boot_ms", .optional(.integer)),
    ("resolved_boot", .optional(.word(["boot", "other"]))), ("superseded_by", .small),
    ("boot", .word(["boot", "other"])), ("asked_ms", .integer), ("asked_boot_ms", .integer),
    ("expires_ms", .integer), ("expires_boot_ms", .integer), ("presented_ms", .integer),
    ("snoozes", .integer), ("snoozed_ms", .optional(.integer)),
    ("snoozed_boot_ms", .integer), ("snoozed_boot", .word(["boot", "other"])),
    ("queued_seq", .integer),
    ("outcome", .optional(.word(Outcome.allCases.map(\.rawValue)))),
    ("button_index", .small), ("resolved_by", .word(ResolvedBy.allCases.map(\.rawValue))),
    ("handled", .small), ("responder", .optional(.word(principals))),
    ("responder_name", .optional(.text)), ("via", .text), ("tty", .text), ("ssh", .text),
    ("responder_means", .optional(.text)), ("responder_host", .optional(.text)),
    ("responder_pid", .optional(.integer)),
    ("resolved_ms", .integer), ("resolved_seq", .small), ("collected_ms", .integer),
    ("erased_seq", .small),
]

private let tables = [
    AnyTable(
        "sources",
        [("id", .small), ("principal", .word(principals)), ("name", .text), ("pending", .small)]),
    AnyTable("alerts", alertColumns),
    AnyTable(
        "turns",
        [
            ("priority", .small), ("principal_id", .small), ("source_id", .small),
            ("seq", .integer),
        ]),
    AnyTable(
        "audit",
        [
            ("seq", .integer), ("at_ms", .integer),
            ("event", .word(AlertEvent.Kind.known.map(\.rawValue))), ("alert_id", .small),
            ("source", .text), ("outcome", .word(Outcome.allCases.map(\.rawValue))),
            ("button_index", .small), ("button_role", .word(["cancel", "destructive"])),
            ("resolved_by", .word(ResolvedBy.allCases.map(\.rawValue))),
            ("principal", .word(principals)), ("user", .optional(.text)), ("login_uid", .integer),
            ("session", .integer),
            ("via", .text),
            ("tty", .text), ("ssh", .text), ("means", .optional(.text)),
            ("host", .optional(.text)), ("boot", .text), ("pid", .optional(.integer)),
            ("content", .blob), ("detail", .text), ("previous", .blob), ("hash", .blob),
        ]),
]

/// The queue's tables without their checks and triggers, which any account that may write the file
/// can remove.
private let queue = Confined(
    database: {
        guard let database = try? Database(path: ":memory:", access: .create) else { return nil }
        do {
            database.setDefensive(false)
            for migration in Migration.all { try database.execute(migration.sql) }
            database.setDefensive(true)
            let triggers = try database.rows(
                "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
            ) { $0.text() }
            for trigger in triggers { try database.execute("DROP TRIGGER \(trigger)") }
            try database.execute(
                """
                PRAGMA ignore_check_constraints = ON;
                INSERT INTO sources (id, principal, name)
                    VALUES (0, '0', 'root'), (1, '1', 'one'), (2, '1', '');
                """)
            return database
        } catch {
            return nil
        }
    }())
