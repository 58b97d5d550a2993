import AlertQueueTesting
import AlertTables
import PostgreSQL
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

/// A queue with every kind of row, which the owner of its tables changes without triggers.
struct ForgedQueue {
    let queue: PostgreSQLQueue
    let clock: ManualClock
    let store: PostgreSQLAlertStore

    /// Filled once: that takes much longer than to copy its rows.
    private static let template = Task {
        let template = try await ForgedQueue(PostgreSQLQueue(), ManualClock())
        try await template.fill()
        await template.store.close()
        return template
    }

    private init(_ queue: PostgreSQLQueue, _ clock: ManualClock) async throws {
        (self.queue, self.clock) = (queue, clock)
        store = try await queue.open(clock)
    }

    static func empty() async throws -> ForgedQueue {
        try await ForgedQueue(PostgreSQLQueue(), ManualClock())
    }

    /// A queue with the rows of ``fill()``.
    init() async throws {
        let template = try await Self.template.value
        let queue = try await PostgreSQLQueue()
        let db = try queue.connect()
        let names: [Value] = [.text(template.queue.name), .text(queue.name)]
        for sql in Self.copying { try db.run(Statement(sql, names)) }
        try await self.init(queue, ManualClock(template.clock.now()))
    }

    /// Statements that copy the rows of the queue `$1` to the queue `$2`.
    private static let copying = [
        """
        INSERT INTO sources (queue, id, principal, name, pending)
        SELECT new.id, (new.id::bigint << 32) + row_number() OVER (ORDER BY sources.id),
            principal, sources.name, pending
        FROM queues AS old, queues AS new, sources
        WHERE old.name = $1 AND new.name = $2 AND sources.queue = old.id ORDER BY sources.id
        """,
        """
        INSERT INTO alerts
        SELECT (jsonb_populate_record(alerts,
            jsonb_build_object('queue', new.id, 'source_id', own.id))).*
        FROM queues AS old, queues AS new, alerts, sources, sources AS own
        WHERE old.name = $1 AND new.name = $2 AND alerts.queue = old.id
            AND sources.id = alerts.source_id AND own.queue = new.id
            AND (own.principal, own.name) = (sources.principal, sources.name)
        ORDER BY alerts.id
        """,
        """
        INSERT INTO audit
        SELECT (jsonb_populate_record(audit, jsonb_build_object('queue', new.id))).*
        FROM queues AS old, queues AS new, audit
        WHERE old.name = $1 AND new.name = $2 AND audit.queue = old.id ORDER BY seq
        """,
        """
        UPDATE heads SET (seq, hash, at_ms, last_id, first_id, changes)
            = (filled.seq, filled.hash, filled.at_ms, filled.last_id, filled.first_id,
                filled.changes)
        FROM queues AS old, queues AS new, heads AS filled
        WHERE old.name = $1 AND new.name = $2 AND filled.queue = old.id
            AND heads.queue = new.id
        """,
    ]

    /// The alerts 1 to 11: expired, waiting with a key, answered and collected, snoozed, withdrawn,
    /// waiting, dismissed, answered with another alert in its place, which is 9, answered for some
    /// time with a value and a note, and erased.
    private func fill() async throws {
        try await store.ask(
            Alert(
                "Expires", buttons: ["Yes", "No"], deadline: .after(.seconds(60)),
                defaultButton: "No"))
        try await store.ask(.yesNo("Two", deadline: .after(.seconds(777_600)), key: "k"))
        try await store.ask(
            Alert(
                "Three", message: "Why?", style: .actionSheet,
                buttons: ["Keep", .destructive("Delete", id: "rm"), .cancel("Later")],
                handler: "cleanup", userInfo: ["path": "/srv"]))
        for title in ["Four", "Five", "Six"] { try await store.ask(.yesNo(title)) }
        try await store.ask(Alert("Notice"))
        try await store.ask(.yesNo("Eight", key: "l"))
        store.post(.presented(try await store.record(4)), by: .ana)
        _ = try await store.snooze(4, until: .after(.seconds(777_600)), by: .ana)
        clock.advance(by: .seconds(61))
        try await store.sweep()
        try await store.answer(3, 1, by: .ben)
        _ = try await store.collect(3, by: .ben)
        _ = try await store.resolve(5, .withdraw(), by: .ben)
        _ = try await store.resolve(7, .dismiss, by: .ana)
        let second = Question(alert: .yesNo("Nine", key: "l"), source: "test", join: .replacing)
        _ = try await store.enqueue(second, by: .ana)
        var ten = Alert.yesNo("Ten")
        ten.addTextField("name")
        ten.validFor = .seconds(600)
        try await store.ask(ten)
        let input = Alert.Input(values: ["name": .text("nas")], note: "soon")
        _ = try await store.resolve(10, .choose(button: 0, .person, input), by: .ana)
        let old = Alert(
            "Eleven", message: "Why?", buttons: ["Yes", .destructive("Delete", id: "rm")],
            userInfo: ["path": "/srv"])
        try await store.ask(old)
        try await store.answer(11, 0, by: .ben)
        _ = try await store.collect(11, by: .ben)
        try await erase(old, 11)
        try #require(try await store.verify(expecting: nil).problems.isEmpty)
    }

    /// Erases the texts of an alert, as in a queue that was copied from a file.
    private func erase(_ alert: Alert, _ id: Alert.ID) async throws {
        let left = ErasedButtons(of: alert)
        try await store.writes.perform(.upkeep, "erase") { transaction in
            var entry = AuditDraft(kind: .erased)
            entry.detail = .erased(ErasedAlerts([id]))
            try transaction.append(entry, by: .ben, concernsOthers: false)
            try transaction.write(
                transaction.query.erased(id, leaving: left, entry: transaction.head.sequence))
        }
    }

    /// Runs statements on the rows of the queue, `$1`, without any trigger.
    func forge(_ script: String) throws {
        let (db, id) = try connectAsForger()
        for sql in script.split(separator: ";\n") {
            try #require(try db.run(String(sql), id).changes > 0, "\(sql)")
        }
    }

    /// A connection in which no trigger fires, and the number of the queue.
    func connectAsForger() throws -> (Connection, id: Value) {
        let db = try queue.connect()
        try db.execute("SET session_replication_role = replica")
        let id = try db.first("SELECT id FROM queues WHERE name = $1", .text(queue.name)) {
            $0.integer()
        }
        return (db, .integer(try #require(id)))
    }
}
