import AlertTables
import PostgreSQLTesting
import StoreChecks
import StoreTesting
import TestSupport
import Testing

@testable import AlertCore
@testable import PostgreSQLStore

/// The owner of a database can switch off its triggers, but not what the log says.
@Suite("Forged rows in PostgreSQL", .inParallel, .needsServer)
struct ForgedRowTests {
    private let forged: ForgedQueue
    private var store: PostgreSQLAlertStore { forged.store }

    init() async throws { forged = try await ForgedQueue() }

    /// Assignments to columns of an alert, and whether what hands out the alert finds them, too:
    /// when it was shown and snoozed concerns nobody's answer, and neither does how the same
    /// value is written.
    static let columns: [(String, Alert.ID, isRefused: Bool)] = [
        ("title = 'Other'", 6, true),
        ("message = 'Because.'", 3, true),
        ("buttons = replace(buttons, 'rm', 'mr')", 3, true),
        ("buttons = replace(buttons, '{\"id\"', '{ \"id\"')", 6, false),
        ("info = '{}'", 3, true),
        ("style = 'actionSheet'", 6, true),
        ("priority = 3", 6, true),
        ("handler = NULL", 3, true),
        ("presenters = '[\"x\"]'", 6, true),
        ("default_button = 'Yes'", 1, true),
        ("salt = decode(repeat('00', 16), 'hex')", 6, true),
        ("key = 'other'", 2, true),
        ("pid = pid + 1", 6, true),
        ("pid = pid + 4294967296", 6, true),
        ("host = 'other'", 6, true),
        ("source_id = (SELECT max(id) FROM sources WHERE queue = $1 AND name = '')", 6, true),
        ("awaited = 1", 6, true),
        ("boot = 'other'", 6, true),
        ("asked_ms = asked_ms - 1", 6, true),
        ("asked_boot_ms = 1", 6, true),
        ("expires_ms = expires_ms - 1", 2, true),
        ("expires_ms = NULL, expires_boot_ms = NULL", 2, true),
        ("dismiss_after_ms = 1", 7, true),
        ("snooze_ms = 1", 6, true),
        ("valid_ms = 1000", 6, true),
        ("presented_ms = NULL", 4, false),
        ("snoozes = 5", 6, false),
        ("snoozed_ms = snoozed_ms + 1", 4, false),
        (ForgedRow.answered, 6, true),
        (ForgedRow.waiting, 3, true),
        ("button_index = 0", 3, true),
        ("outcome = 'expired'", 3, true),
        ("resolved_by = 'policy'", 3, true),
        ("responder_name = 'eve'", 3, true),
        ("responder = '7'", 3, true),
        ("responder = responder || '@other'", 3, true),
        ("responder_means = 'link'", 3, true),
        ("means = 'link'", 3, true),
        ("via = 'x'", 3, true),
        ("resolved_ms = resolved_ms + 1", 3, true),
        ("resolved_seq = resolved_seq + 1", 3, true),
        ("note = 'Well.'", 3, true),
        ("handled = 1", 3, true),
        ("collected_ms = collected_ms + 1", 3, true),
        ("collected_ms = resolved_ms", 5, true),
        ("superseded_by = 0", 8, true),
        ("superseded_by = 99", 3, true),
        ("erased_seq = 1", 3, true),
        (
            "responder = '7', responder_name = 'eve', via = 'x', responder_host = 'h', responder_pid = 1",
            1, true
        ),
        ("responder = '0'", 1, true),
        ("tty = '/dev/pts/9'", 3, true),
        ("ssh = '192.0.2.8'", 3, true),
        ("responder_host = 'other'", 3, true),
        ("responder_pid = 1", 3, true),
        ("collected_ms = NULL", 3, true),
        (
            "valid_ms = NULL, resolved_boot = NULL, resolved_boot_ms = NULL", 10, true
        ),
        ("valid_ms = valid_ms + 1", 10, true),
        ("resolved_boot_ms = resolved_boot_ms + 1", 10, true),
        ("resolved_boot = 'other'", 10, true),
        ("resolved_boot = NULL, resolved_boot_ms = NULL", 10, true),
        ("field_values = '{\"name\":\"other\"}'", 10, true),
        ("field_values = '{ \"name\":\"nas\"}'", 10, false),
        ("fields = NULL, field_values = NULL", 10, true),
        ("note = NULL", 10, true),
        ("title = 'x'", 11, true),
        ("info = '{\"a\":\"b\"}'", 11, true),
        ("buttons = '[{\"id\":\"rm\",\"title\":\"x\"}]'", 11, true),
        ("salt = decode('00', 'hex')", 11, true),
        ("style = 'actionSheet'", 11, true),
        ("priority = 3", 11, true),
        ("erased_seq = NULL", 11, true),
        ("erased_seq = 1", 11, true),
        ("button_index = 1", 11, true),
        (
            "title = NULL, message = NULL, buttons = '[{},{}]', info = '{}', salt = NULL", 5,
            true
        ),
    ]

    @Test(
        "A changed column is reported for its alert, which is not handed out, and listed with a mark",
        arguments: columns)
    func column(assignments: String, id: Alert.ID, isRefused: Bool) async throws {
        // A key that two alerts have is refused by an index.
        if assignments == "superseded_by = 0" {
            try forged.forge("UPDATE alerts SET key = 'm' WHERE queue = $1 AND id = 9")
        }
        try forged.forge("UPDATE alerts SET \(assignments) WHERE queue = $1 AND id = \(id)")
        let problems = try await store.verify(expecting: nil).problems
        #expect(problems.contains { $0.alertID == id }, "\(problems)")
        let found = await thrown { try await store.record(id) }
        #expect(found?.kind == (isRefused ? "inconsistent" : nil), "\(found as Any)")
        if isRefused {
            let answered = await thrown { try await store.answer(id, 0) }
            #expect(answered?.kind == "inconsistent", "\(answered as Any)")
        }
        try await expectMark(on: isRefused ? id : nil)
        await store.close()
    }

    @Test(
        "A property is refused another value, and found with one that was forged",
        arguments: AlertProperty.columns)
    func property(column: String) async throws {
        let property = try #require(AlertProperty.all.first { $0.column == column })
        let id = try await store.ask(.withAllProperties).id
        let change = "UPDATE alerts SET \(property.assignment) WHERE queue = $1 AND id = \(id)"
        let (db, queue) = try forged.connectAsForger()
        try db.execute("SET session_replication_role = origin")
        let refusal = #expect(throws: (any Error).self) { try db.run(change, queue) }
        #expect("\(refusal as Any)".contains("a question never changes"), "\(refusal as Any)")
        try forged.forge(change)
        let problems = try await store.verify(expecting: nil).problems
        #expect(problems.contains { $0.alertID == id }, "\(problems)")
        let error = await thrown { try await store.record(id) }
        #expect(error?.kind == "inconsistent", "\(error as Any)")
        await store.close()
    }

    /// The history marks one alert, if it is listed, and no other.
    private func expectMark(on id: Alert.ID?) async throws {
        let listed = try await store.history(HistoryFilter(), limit: 99)
        #expect(listed.count > 3)
        #expect(
            listed.filter(\.isContradicted).map(\.id) == listed.map(\.id).filter { $0 == id })
    }

    static let rows = [
        ("UPDATE sources SET pending = 0 WHERE queue = $1", "counts 0 waiting alerts"),
        ("UPDATE sources SET pending = 99 WHERE queue = $1", "counts 99 waiting alerts"),
        ("UPDATE heads SET first_id = 900 WHERE queue = $1", "at least the number 900"),
        ("UPDATE heads SET last_id = 5 WHERE queue = $1", "its newest alert is 5"),
        ("UPDATE heads SET last_id = 90 WHERE queue = $1", "its newest alert is 90"),
        ("UPDATE heads SET at_ms = 5 WHERE queue = $1", "older than the last entry"),
        ("UPDATE heads SET seq = seq - 1 WHERE queue = $1", "is not the last entry"),
        ("UPDATE heads SET hash = sha256('x') WHERE queue = $1", "is not the last entry"),
        (
            "UPDATE heads SET at_ms = at_ms + 9000000 WHERE queue = $1",
            "later than the server's clock"
        ),
        (
            "UPDATE sources SET principal = '4294967296' WHERE queue = $1 AND name = ''",
            "which is neither account nor person"
        ),
        ("DELETE FROM sources WHERE queue = $1 AND name = ''", "counts 0 waiting alerts"),
        (
            """
            UPDATE alerts SET source_id = (SELECT min(id) FROM sources WHERE queue <> $1)
            WHERE queue = $1 AND id = 6
            """, "is gone or can't be understood"
        ),
        (
            """
            INSERT INTO sources (queue, id, principal, name, pending)
            VALUES ($1, ($1::int::bigint << 32) + 99, '7', 'x', 5)
            """, "counts 5 waiting alerts, but has 0"
        ),
        (
            """
            INSERT INTO alerts
            SELECT (jsonb_populate_record(alerts, '{"id": 99}')).* FROM alerts
            WHERE queue = $1 AND id = 6
            """, "no entry records it"
        ),
        ("INSERT INTO turns VALUES ($1, 1, 0, 0, -5)", "names entry -5, which is not that of"),
        ("INSERT INTO turns VALUES ($1, 1, 0, 0, 99)", "names entry 99, which is not that of"),
        ("INSERT INTO turns VALUES ($1, 1, 0, 0, 1)", "names entry 1, which is not that of"),
        (
            "INSERT INTO requests VALUES ($1, '0', decode(repeat('00', 16), 'hex'), 0, 2, 1, 1)",
            "names entry 1, which is not about its alert"
        ),
        (
            "INSERT INTO requests VALUES ($1, '0', decode(repeat('00', 16), 'hex'), 0, 1, 99, 1)",
            "names entry 99, which is not about its alert"
        ),
        ("DELETE FROM alerts WHERE queue = $1 AND id = 6", "is gone"),
        ("DELETE FROM audit WHERE queue = $1 AND seq = 4", "missing"),
        (
            "DELETE FROM audit WHERE queue = $1 AND seq = (SELECT max(seq) FROM audit "
                + "WHERE queue = $1)", "is not the last entry"
        ),
        ("UPDATE audit SET detail = 'x' WHERE queue = $1 AND seq = 4", "was changed"),
        ("UPDATE audit SET at_ms = at_ms - 1 WHERE queue = $1 AND seq = 4", "was changed"),
        ("UPDATE audit SET \"user\" = 'eve' WHERE queue = $1 AND seq = 4", "was changed"),
        ("UPDATE audit SET hash = sha256('x') WHERE queue = $1 AND seq = 4", "was changed"),
        ("UPDATE audit SET previous = sha256('x') WHERE queue = $1 AND seq = 4", "was changed"),
        ("UPDATE audit SET alert_id = 6 WHERE queue = $1 AND seq = 4", "was changed"),
    ]

    @Test("A changed or missing count, number or entry is reported", arguments: rows)
    func row(sql: String, reason: String) async throws {
        try forged.forge(sql)
        let problems = try await store.verify(expecting: nil).problems
        #expect(problems.contains { $0.reason.contains(reason) }, "\(problems)")
        await store.close()
    }

    static let entries = [
        "at_ms = at_ms + 1", "at_ms = 9223372036854775807", "event = 'presented'",
        "alert_id = 2", "alert_id = NULL", "source = 'other'", "source = NULL",
        "outcome = 'expired'", "outcome = NULL", "outcome = 'bogus'", "button_index = 0",
        "button_role = 'cancel'", "button_role = 'bogus'", "resolved_by = 'policy'",
        "resolved_by = 'bogus'", "principal = principal || '@desk'", "principal = '77'",
        "principal = '4294968296'", "means = 'link'", "\"user\" = 'eve'", "\"user\" = NULL",
        "login_uid = 77",
        "login_uid = 4294967296", "session = 77", "session = 4294967296", "via = 'policy'",
        "tty = '/dev/pts/9'", "ssh = ''", "host = 'other'", "boot = 'other'", "pid = 1",
        "pid = pid + 4294967296", "content = NULL", "content = sha256('x')", "detail = ''",
        "previous = sha256('x')", "hash = sha256('x')",
    ]

    @Test(
        "A changed column of an entry is reported for it, and its alert is not handed out",
        arguments: entries)
    func entry(assignment: String) async throws {
        let resolved = try await store.entries(LogQuery(.from(1), of: 3, limit: 9)).first {
            $0.event.kind == .resolved
        }
        let sequence = try #require(resolved).event.sequence
        try forged.forge(
            "UPDATE audit SET \(assignment) WHERE queue = $1 AND seq = \(sequence)")
        let problems = try await store.verify(expecting: nil).problems
        #expect(problems.first?.sequence == sequence, "\(problems)")
        #expect(await thrown { try await store.record(3) }?.kind == "inconsistent")
        let listed = try await store.history(HistoryFilter(), limit: 99)
        #expect(listed.first { $0.id == 3 }?.isContradicted == true)
        await store.close()
    }

    /// Changes of several rows, and the number of the first entry that is wrong then.
    static let scripts: [(String, sequence: Int64?)] = [
        (
            """
            UPDATE audit SET seq = 1000 WHERE queue = $1 AND seq = 3;
            UPDATE audit SET seq = 3 WHERE queue = $1 AND seq = 4;
            UPDATE audit SET seq = 4 WHERE queue = $1 AND seq = 1000
            """, 3
        ),
        ("UPDATE audit SET seq = seq + 1000 WHERE queue = $1", 1),
        ("DELETE FROM audit WHERE queue = $1 AND seq = 1", 1),
        (
            """
            UPDATE alerts SET button_index = 0 WHERE queue = $1 AND id = 3;
            UPDATE audit SET button_index = 0, button_role = NULL
            WHERE queue = $1 AND alert_id = 3 AND event = 'resolved'
            """, nil
        ),
        (
            """
            INSERT INTO audit SELECT (jsonb_populate_record(audit, jsonb_build_object(
                'seq', 1000, 'previous', sha256('x'), 'hash', sha256('y')))).*
            FROM audit WHERE queue = $1 AND seq = 1
            """, nil
        ),
        (
            "UPDATE audit SET event = 'seen' WHERE queue = $1 AND event = 'resolved'", nil
        ),
        (
            """
            UPDATE audit SET detail = '{"alerts":[10,11]}' WHERE queue = $1 AND event = 'erased'
            """, nil
        ),
        ("DELETE FROM alerts WHERE queue = $1 AND id = 11", nil),
    ]

    @Test(
        "Entries that were moved, added or changed along with rows are reported",
        arguments: scripts)
    func script(script: String, sequence: Int64?) async throws {
        try forged.forge(script)
        let problems = try await store.verify(expecting: nil).problems
        #expect(!problems.isEmpty)
        if let sequence { #expect(problems.first?.sequence == sequence, "\(problems)") }
        await store.close()
    }

    @Test(
        "A changed entry whose hash was computed anew is reported, and its alert not handed out"
    )
    func rehashed() async throws {
        // Another one comes after each of them.
        try await store.ask(.yesNo("Twelve"))
        let all = try await store.entries(LogQuery(.from(1), limit: 99))
        for (kind, id) in [(AlertEvent.Kind.erased, 11 as Alert.ID), (.resolved, 3)] {
            let entry = try #require(
                all.last { $0.event.kind == kind && [nil, id].contains($0.event.alertID) })
            let changed = AuditEntry(
                event: entry.event, buttonRole: entry.buttonRole, loginUID: entry.loginUID,
                session: entry.session, boot: "other", content: entry.content,
                detail: entry.detail, previous: entry.previous)
            try forged.forge(
                """
                UPDATE audit SET boot = 'other',
                    hash = decode('\(Hex.text(changed.computedHash))', 'hex')
                WHERE queue = $1 AND seq = \(entry.event.sequence)
                """)
            let problems = try await store.verify(expecting: nil).problems
            #expect(problems.first?.sequence == entry.event.sequence + 1, "\(problems)")
            #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        }
        await store.close()
    }

    @Test(
        "What is no part of the proof may change: order, names of changes, words, and the queue",
        arguments: [
            "UPDATE alerts SET queued_seq = 5 WHERE queue = $1",
            "UPDATE alerts SET words = NULL WHERE queue = $1 AND id = 3",
            """
            INSERT INTO turns SELECT $1, 1, 0, 0, seq FROM audit
            WHERE queue = $1 AND event = 'presented'
            """,
            "INSERT INTO requests VALUES ($1, '0', decode(repeat('00', 16), 'hex'), 0, 1, 1, 1)",
            "UPDATE heads SET changes = changes + 5 WHERE queue = $1",
            "UPDATE queues SET host = 'other' WHERE id = $1",
        ])
    func control(sql: String) async throws {
        try forged.forge(sql)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        await store.close()
    }

    @Test(
        "An alert whose cancel request was changed is not shown, and keeps none from being shown"
    )
    func changedRequest() async throws {
        let forged = try await ForgedQueue.empty()
        let store = forged.store
        let ids = [
            try await store.ask(.yesNo("First?")).id, try await store.ask(.yesNo("Second?")).id,
        ]
        try await store.requestCancel(ids[0], .own(.program), by: .ana)
        try forged.forge("UPDATE audit SET pid = 9 WHERE queue = $1 AND event = 'cancelling'")
        let upcoming = try await store.next(ScreenQuery(for: ["terminal"]))
        #expect(upcoming.record?.id == ids[1])
        #expect(Array(upcoming.refused.keys) == [ids[0]])
        await store.close()
    }

    @Test("An overdue alert that the log contradicts makes no look at the next one a write")
    func contradictedDeadline() async throws {
        let forged = try await ForgedQueue.empty()
        let store = forged.store
        try await store.ask(.yesNo("First?", deadline: .after(.seconds(60))))
        let second = try await store.ask(.yesNo("Second?")).id
        try forged.forge("UPDATE alerts SET title = 'Other?' WHERE queue = $1 AND id = 1")
        forged.clock.advance(by: .seconds(61))
        // Nothing can be written.
        let (db, queue) = try forged.connectAsForger()
        try db.execute("BEGIN")
        try db.run("SELECT 1 FROM heads WHERE queue = $1 FOR UPDATE", queue)
        #expect(try await store.next(ScreenQuery(for: ["terminal"])).record?.id == second)
        db.rollBack()
        await store.close()
    }

    @Test("Any number of alerts that the log contradicts lets the others expire")
    func manyContradicted() async throws {
        let forged = try await ForgedQueue.empty()
        let store = forged.store
        let question = Question(alert: .yesNo(deadline: .after(.seconds(60))), source: "test")
        for _ in 0..<6 {
            let asks = [Change](repeating: .ask(question), count: 350)
            for result in try await store.commit(asks, by: .ana) { _ = try result.get() }
        }
        try forged.forge("UPDATE alerts SET title = 'Keep?' WHERE queue = $1 AND id <= 2050")
        forged.clock.advance(by: .seconds(120))
        let (db, queue) = try forged.connectAsForger()
        #expect(
            try await eventually {
                try await store.sweep()
                return try db.first(
                    "SELECT count(*) FROM alerts WHERE queue = $1 AND outcome IS NOT NULL",
                    queue
                ) { $0.integer() } == 50
            })
        await store.close()
    }

    @Test(
        "Nothing is appended to a log whose end is not the head that is known",
        arguments: [
            "UPDATE heads SET hash = sha256('x') WHERE queue = $1",
            "DELETE FROM audit WHERE queue = $1 AND seq > 10",
            "DELETE FROM heads WHERE queue = $1",
            "UPDATE heads SET seq = seq + 5 WHERE queue = $1",
            "UPDATE heads SET seq = seq - 1 WHERE queue = $1",
            """
            UPDATE heads SET last_id = 5 WHERE queue = $1;
            DELETE FROM alerts WHERE queue = $1 AND id > 5
            """,
            """
            WITH gone AS (DELETE FROM audit WHERE queue = $1 AND seq > 4)
            UPDATE heads SET seq = 4, hash = (SELECT hash FROM audit
                WHERE queue = $1 AND seq = 4) WHERE queue = $1
            """,
        ])
    func cutLog(sql: String) async throws {
        try forged.forge(sql)
        for _ in 0..<2 {
            let error = await #expect(throws: AlertError.self) {
                try await store.ask(.yesNo("More?"))
            }
            #expect(error?.kind == "inconsistent")
        }
        await store.close()
    }
}
