#if PostgreSQL
    import AlertQueueTesting
    import PostgreSQL
    import PostgreSQLTesting
    import StoreTesting
    import TestSupport
    import Testing

    @testable import AlertCore
    @testable import PostgreSQLStore

    /// The owner of a database can switch off its triggers, but not what the log says.
    @Suite("Forged rows in PostgreSQL", .inParallel, .needsServer)
    struct ForgedRowTests {
        private let queue: PostgreSQLQueue
        private let clock = ManualClock()
        private let store: PostgreSQLAlertStore

        init() async throws {
            queue = try await PostgreSQLQueue()
            store = try await queue.open(clock)
        }

        /// The alerts 1 to 8: expired, waiting with a key, answered and collected, snoozed, withdrawn,
        /// waiting, dismissed, and answered with another alert in its place, which is 9.
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
            let second = Question(alert: .yesNo("Nine", key: "l"), source: "test", replaces: true)
            _ = try await store.enqueue(second, by: .ana)
            try #require(try await store.verify(expecting: nil).problems.isEmpty)
        }

        /// Runs a statement on the rows of the queue, `$1`, without any trigger.
        private func forge(_ sql: String) throws {
            let db = try queue.connect()
            try db.execute("SET session_replication_role = replica")
            let id = try db.first("SELECT id FROM queues WHERE name = $1", .text(queue.name)) {
                $0.integer()
            }
            try #require(try db.run(sql, .integer(try #require(id))).changes > 0)
        }

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
            ("pid = pid + 4294967296", 6, false),
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
            ("responder = 'eve'", 3, true),
            ("responder_uid = 7", 3, true),
            ("account_host = 'other'", 3, true),
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
        ]

        @Test(
            "A changed column is reported for its alert, which is not handed out",
            arguments: columns)
        func column(assignments: String, id: Alert.ID, isRefused: Bool) async throws {
            try await fill()
            // A key that two alerts have is refused by an index.
            if assignments == "superseded_by = 0" {
                try forge("UPDATE alerts SET key = 'm' WHERE queue = $1 AND id = 9")
            }
            try forge("UPDATE alerts SET \(assignments) WHERE queue = $1 AND id = \(id)")
            let problems = try await store.verify(expecting: nil).problems
            #expect(problems.contains { $0.alertID == id }, "\(problems)")
            let found = await thrown { try await store.record(id) }
            #expect(found?.kind == (isRefused ? "inconsistent" : nil), "\(found as Any)")
            if isRefused {
                let answered = await thrown { try await store.answer(id, 0) }
                #expect(answered?.kind == "inconsistent", "\(answered as Any)")
            }
            await store.close()
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
            try await fill()
            try forge(sql)
            let problems = try await store.verify(expecting: nil).problems
            #expect(problems.contains { $0.reason.contains(reason) }, "\(problems)")
            await store.close()
        }

        @Test(
            "An alert whose cancel request was changed is not shown, and keeps none from being shown"
        )
        func changedRequest() async throws {
            let ids = [
                try await store.ask(.yesNo("First?")).id, try await store.ask(.yesNo("Second?")).id,
            ]
            try await store.requestCancel(ids[0], .own(.program), by: .ana)
            try forge("UPDATE audit SET pid = 9 WHERE queue = $1 AND event = 'cancelling'")
            let upcoming = try await store.next(ScreenQuery(for: ["terminal"]))
            #expect(upcoming.record?.id == ids[1])
            #expect(Array(upcoming.refused.keys) == [ids[0]])
            await store.close()
        }

        @Test(
            "Nothing is appended to a log whose end is not the head that is known",
            arguments: [
                "UPDATE heads SET hash = sha256('x') WHERE queue = $1",
                "DELETE FROM audit WHERE queue = $1 AND seq > 10",
                "DELETE FROM heads WHERE queue = $1",
                """
                WITH gone AS (DELETE FROM audit WHERE queue = $1 AND seq > 4)
                UPDATE heads SET seq = 4, hash = (SELECT hash FROM audit
                    WHERE queue = $1 AND seq = 4) WHERE queue = $1
                """,
            ])
        func cutLog(sql: String) async throws {
            try await fill()
            try forge(sql)
            for _ in 0..<2 {
                let error = await #expect(throws: AlertError.self) {
                    try await store.ask(.yesNo("More?"))
                }
                #expect(error?.kind == "inconsistent")
            }
            await store.close()
        }
    }
#endif
