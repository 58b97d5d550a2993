import SQLite
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import AlertCore
@testable import SQLiteStore

@Suite("Forged facts other than texts and responses", .inParallel)
struct FactForgingTests {
    static let columns: [(String, Alert.ID)] = [
        // The clocks and timers of an ask.
        ("UPDATE alerts SET expires_ms = expires_ms - 1 WHERE id = 3", 3),
        ("UPDATE alerts SET expires_boot_ms = expires_boot_ms - 777600000 WHERE id = 4", 4),
        ("UPDATE alerts SET expires_boot_ms = NULL WHERE id = 4", 4),
        ("UPDATE alerts SET expires_ms = expires_ms - 62135596800000 WHERE id = 4", 4),
        ("UPDATE alerts SET expires_ms = NULL, expires_boot_ms = NULL WHERE id = 4", 4),
        ("UPDATE alerts SET expires_boot_ms = 5 WHERE id = 7", 7),
        ("UPDATE alerts SET boot = 'other' WHERE id = 8", 8),
        ("UPDATE alerts SET asked_boot_ms = 1 WHERE id = 8", 8),
        ("UPDATE alerts SET dismiss_after_ms = 1 WHERE id = 9", 9),
        ("UPDATE alerts SET snooze_ms = 1 WHERE id = 8", 8),
        ("UPDATE alerts SET awaited = 1 WHERE id = 8", 8),
        ("UPDATE alerts SET awaited = 1 WHERE id = 1", 1),
        ("UPDATE alerts SET pid = pid + 4294967296 WHERE id = 8", 8),
        // When it was shown, snoozed and collected.
        ("UPDATE alerts SET presented_ms = NULL WHERE id = 7", 7),
        ("UPDATE alerts SET presented_ms = presented_ms - 1000 WHERE id = 7", 7),
        ("UPDATE alerts SET presented_ms = 5 WHERE id = 8", 8),
        ("UPDATE alerts SET snoozes = 0 WHERE id = 10", 10),
        ("UPDATE alerts SET snoozes = 5 WHERE id = 8", 8),
        ("UPDATE alerts SET snoozes = snoozes - 9223372036854775807 - 1 WHERE id = 10", 10),
        ("UPDATE alerts SET snoozed_ms = snoozed_ms + 1 WHERE id = 7", 7),
        ("UPDATE alerts SET snoozed_boot_ms = snoozed_boot_ms + 1 WHERE id = 7", 7),
        ("UPDATE alerts SET snoozed_boot = 'other' WHERE id = 7", 7),
        ("UPDATE alerts SET snoozed_boot_ms = NULL, snoozed_boot = NULL WHERE id = 7", 7),
        (
            "UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL "
                + "WHERE id = 7", 7
        ),
        (
            "UPDATE alerts SET snoozed_ms = 5, snoozed_boot_ms = 5, snoozed_boot = 'manual' "
                + "WHERE id = 8", 8
        ),
        ("UPDATE alerts SET snoozed_ms = 5 WHERE id = 10", 10),
        ("UPDATE alerts SET collected_ms = collected_ms + 1 WHERE id = 10", 10),
        ("UPDATE alerts SET collected_ms = resolved_ms WHERE id = 11", 11),
        ("UPDATE alerts SET collected_ms = 5 WHERE id = 8", 8),
        // Which entry says how it ended, and whether a cancel was handled.
        ("UPDATE alerts SET resolved_seq = resolved_seq + 1 WHERE id = 10", 10),
        ("UPDATE alerts SET resolved_seq = NULL WHERE id = 5", 5),
        ("UPDATE alerts SET resolved_seq = 1 WHERE id = 8", 8),
        ("UPDATE alerts SET responder_name = 'eve' WHERE id = 8", 8),
        ("UPDATE alerts SET handled = 0 WHERE id = 8", 8),
        ("UPDATE alerts SET handled = 0 WHERE id = 5", 5),
        ("UPDATE alerts SET handled = 1 WHERE id = 6", 6),
        ("UPDATE alerts SET handled = 1 WHERE id = 10", 10),
        // Which alert was asked in its place.
        ("UPDATE alerts SET superseded_by = 99 WHERE id = 8", 8),
        ("UPDATE alerts SET superseded_by = 99 WHERE id = 10", 10),
        // What an erasure has left, and which entry records it.
        ("UPDATE alerts SET erased_seq = NULL WHERE id = 1", 1),
        ("UPDATE alerts SET erased_seq = 1 WHERE id = 2", 2),
        ("UPDATE alerts SET erased_seq = 7 WHERE id = 8", 8),
        ("UPDATE alerts SET style = 'actionSheet' WHERE id = 1", 1),
        ("UPDATE alerts SET priority = 3 WHERE id = 2", 2),
        ("UPDATE alerts SET key = 'l' WHERE id = 1", 1),
        ("UPDATE alerts SET key = 'k2' WHERE id = 2", 2),
        ("UPDATE alerts SET handler = NULL WHERE id = 2", 2),
        ("UPDATE alerts SET presenters = '[\"x\"]' WHERE id = 2", 2),
        ("UPDATE alerts SET default_button = 'no' WHERE id = 2", 2),
        ("UPDATE alerts SET buttons = replace(buttons, 'no', 'on') WHERE id = 1", 1),
        // Two readers of one text.
        (
            "UPDATE alerts SET buttons = replace(buttons, '{\"id\":\"Yes\"', "
                + "'{\"id\":\"No\",\"id\":\"Yes\"') WHERE id = 10", 10
        ),
        ("UPDATE alerts SET buttons = '[ ]' WHERE id = 9", 9),
        ("UPDATE alerts SET presenters = '[]' WHERE id = 8", 8),
    ]

    @Test("A changed fact is reported for its alert", arguments: columns)
    func column(script: String, id: Alert.ID) async throws {
        let log = try await AuditLog()
        try await log.fillRichly()
        let problem = try await log.problem(after: script)
        #expect(problem.alertID == id, "\(problem.reason)")
        await log.store.close()
    }

    static let rows: [(String, String)] = [
        ("UPDATE sources SET pending = 0", "counts 0 waiting alerts, but has 3"),
        ("INSERT INTO turns VALUES (3, 0, 0, -5)", "names entry -5, which is not that of"),
        ("INSERT INTO turns VALUES (3, 0, 0, 999)", "names entry 999, which is not that of"),
        ("INSERT INTO turns VALUES (3, 0, 0, 1)", "names entry 1, which is not that of"),
        (
            "INSERT INTO requests VALUES (9, '0', zeroblob(16), 0, 2, 1, 1)",
            "names entry 1, which is not about its alert"
        ),
        ("UPDATE sources SET pending = 10000", "counts 10000 waiting alerts"),
        ("INSERT INTO sources (principal, name, pending) VALUES ('7', 'x', 5)", "but has 0"),
        ("UPDATE upkeep SET first_id = 900", "at least the number 900, but the log says 1"),
        ("UPDATE upkeep SET first_id = 0", "at least the number 0, but the log says 1"),
        ("DELETE FROM upkeep", "the row of upkeep is missing"),
        (
            "UPDATE alerts SET resolved_seq = resolved_seq + 1 WHERE id = 10",
            "which says how it ended"
        ),
        ("UPDATE alerts SET via = 'x' WHERE id = 8", "waits, and has a part of a response"),
    ]

    @Test("A changed count, number or order is found", arguments: rows)
    func row(script: String, reason: String) async throws {
        let log = try await AuditLog()
        try await log.fillRichly()
        _ = try await log.problem(after: script)
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.contains { $0.reason.contains(reason) }, "\(problems)")
        await log.store.close()
    }

    @Test(
        "An index that lacks rows, as in an older file with a newer log, is found",
        arguments: ["alerts_next", "alerts_key", "audit_alert", "alerts_uncollected"])
    func emptied(index: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        let db = try log.queue.connection()
        db.setDefensive(false)
        let sql = try #require(
            try db.first("SELECT sql FROM sqlite_schema WHERE name = ?", .text(index)) {
                $0.text()
            })
        // For a moment the index contains no rows.
        let set = "UPDATE sqlite_schema SET sql = ? WHERE name = '\(index)'"
        for text in [sql.replacing("WHERE", with: "WHERE 0 AND"), sql] {
            try db.execute("PRAGMA writable_schema = ON")
            try db.run(set, .text(text))
            try db.execute("PRAGMA writable_schema = RESET")
            if text != sql { try db.execute("REINDEX \(index)") }
        }
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.contains { $0.reason.contains("the file is damaged") }, "\(problems)")
        await log.store.close()
    }

    static let successors: [(String, Alert.ID)] = [
        ("UPDATE alerts SET superseded_by = 3 WHERE id = 1", 1),
        ("UPDATE alerts SET superseded_by = -1 WHERE id = 1", 1),
        ("UPDATE OR REPLACE alerts SET superseded_by = 0 WHERE id = 1", 1),
        ("UPDATE alerts SET superseded_by = 3 WHERE id = 2", 2),
        (#"UPDATE audit SET detail = '{"by":3}' WHERE event = 'superseded'"#, 1),
        ("UPDATE audit SET event = 'returned' WHERE event = 'superseded'", 1),
    ]

    @Test("A forged successor is found, and neither is returned", arguments: successors)
    func successor(script: String, id: Alert.ID) async throws {
        let log = try await AuditLog()
        try await log.store.ask(.yesNo("First?", key: "k"))
        let second = Question(alert: .yesNo("Second?", key: "k"), source: "test", join: .replacing)
        _ = try await log.store.enqueue(second, by: .ana)
        #expect(try await log.store.record(1).response?.supersededBy == 2)
        _ = try await log.problem(after: script)
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.contains { $0.alertID == id }, "\(problems)")
        let error = await #expect(throws: AlertError.self) { try await log.store.record(id) }
        #expect(error?.kind == "inconsistent")
        await log.store.close()
    }

    @Test("A key whose newest alert is gone or renamed is refused, and not free")
    func goneSuccessor() async throws {
        for script in [
            "UPDATE alerts SET superseded_by = 9 WHERE id = 2",
            "UPDATE alerts SET key = 'l' WHERE id = 2",
            "DELETE FROM alerts WHERE id = 2",
        ] {
            let log = try await AuditLog()
            try await log.store.ask(.yesNo("First?", key: "k"))
            let second = Question(
                alert: .yesNo("Second?", key: "k"), source: "test", join: .replacing)
            _ = try await log.store.enqueue(second, by: .ana)
            try await log.store.answer(2, 0)
            _ = try await log.problem(after: script)
            let error = await #expect(throws: AlertError.self) {
                try await log.store.ask(.yesNo("Third?", key: "k"))
            }
            #expect(error?.kind == "inconsistent", "\(script)")
            await log.store.close()
        }
    }

    @Test(
        "A forged validity, or another time of the answer, is found",
        arguments: [
            "valid_ms = valid_ms + 1", "valid_ms = NULL", "resolved_boot_ms = resolved_boot_ms + 1",
            "resolved_boot = 'other'", "resolved_boot_ms = NULL, resolved_boot = NULL",
            "resolved_boot_ms = NULL",
        ])
    func validity(assignment: String) async throws {
        for button in [0, nil] {
            let log = try await AuditLog()
            var alert = Alert.yesNo(deadline: .after(.seconds(5)))
            (alert.validFor, alert.defaultButton) = (.seconds(60), "Yes")
            try await log.store.ask(alert)
            if let button { try await log.store.answer(1, button) }
            log.clock.advance(by: .seconds(6))
            try await log.store.sweep(atMost: .max)
            let problem = try await log.problem(
                after: "UPDATE alerts SET \(assignment) WHERE id = 1")
            #expect(problem.alertID == 1, "\(problem.reason)")
            let error = await #expect(throws: AlertError.self) { try await log.store.record(1) }
            #expect(error?.kind == "inconsistent")
            await log.store.close()
        }
    }

    @Test("A snooze that may be over, or is from another boot, may have been ended")
    func endOfSnooze() async throws {
        let log = try await AuditLog()
        try await log.fillRichly()
        log.clock.advance(by: .seconds(300))
        try log.forge(
            """
            UPDATE alerts SET snoozed_ms = NULL, snoozed_boot_ms = NULL, snoozed_boot = NULL
            WHERE id = 7
            """)
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        await log.store.close()
    }

    static let strays: [(kind: AlertEvent.Kind, id: Alert.ID, reason: String)] = [
        (.returned, 99, "was never asked"), (.cancelling, 99, "was never asked"),
        (.presented, 99, "is gone"), (.presented, -1, "is gone"), (.returned, -1, "never asked"),
        (.ran, -1, "never asked"), (.ran, 99, "never asked"),
        (.collected, 8, "was collected before it had a response"),
    ]

    @Test("An entry of an impossible event is found, even if no row must agree with it")
    func stray() async throws {
        for (kind, id, reason) in Self.strays {
            let log = try await AuditLog()
            try await log.fillRichly()
            try await log.store.writes.perform(.upkeep, "forge") { context in
                try context.audit(AuditDraft(kind: kind, alert: id, source: "test"), by: .ben)
            }
            let problems = try await log.store.verify(expecting: nil).problems
            #expect(
                problems.contains { $0.alertID == id && $0.reason.contains(reason) },
                "\(kind) \(id): \(problems)")
            await log.store.close()
        }
    }

    @Test("An entry of a kind that a later version writes is shown, and verified by its hash")
    func laterKind() async throws {
        let log = try await AuditLog()
        try await log.fill()
        try await log.store.writes.perform(.upkeep, "log") { context in
            try context.audit(
                AuditDraft(kind: .other("voted"), alert: 1, source: "test"), by: .ben)
        }
        let entry = try #require(try await log.store.entries(of: 1, limit: 1000).last)
        #expect(entry.event.kind == .other("voted") && entry.event.kind.rawValue == "voted")
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        let verifier = AuditVerificationTests.verifier
        let independent = try await Child.run("python3", verifier, log.queue.path)
        #expect(independent.errors == "", "\(independent)")
        try log.forge("UPDATE audit SET event = 'vetoed' WHERE event = 'voted'")
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.map(\.sequence) == [entry.event.sequence])
        await log.store.close()
    }

    @Test("The reason of a withdrawal can't be changed, given or taken away")
    func withdrawalReason() async throws {
        for (reason, forged) in [("moot", "'done'"), ("moot", "NULL"), (nil, "'moot'")] {
            let log = try await AuditLog()
            let id = try await log.store.ask(.yesNo("Go?")).id
            _ = try await log.store.resolve(id, .withdraw(because: reason), by: .ana)
            #expect(try await log.store.record(id).response?.note == reason)
            try log.forge("UPDATE alerts SET note = \(forged) WHERE id = \(id)")
            let problems = try await log.store.verify(expecting: nil).problems
            #expect(problems.contains { $0.reason.contains("values or a note") }, "\(problems)")
            let verifier = AuditVerificationTests.verifier
            let independent = try await Child.run("python3", verifier, log.queue.path)
            #expect(independent.errors.contains("the values or the note"), "\(independent)")
            await log.store.close()
        }
    }

    @Test("An ask or an erasure whose detail has another form is found")
    func otherForm() async throws {
        for (kind, detail, reason) in [
            (AlertEvent.Kind.asked, nil, "alert 12 was already asked by entry"),
            (.erased, nil, "does not say whose texts were erased"),
            (.erased, .clock(step: 0, offset: 0), "has a detail that no entry of its kind has"),
            (.erased, .erased(ErasedAlerts([12])), "alert 12 does not name entry"),
            (.erased, .erased(ErasedAlerts([12, 99])), "of these exist"),
        ] as [(AlertEvent.Kind, EntryDetail?, String)] {
            let log = try await AuditLog()
            try await log.fillRichly()
            try await log.store.writes.perform(.upkeep, "forge") { context in
                let row = try #require(try context.db.alert(12))
                var draft = AuditDraft(kind: kind, record: row.record, content: row.content)
                if kind == .erased { draft = AuditDraft(kind: .erased) }
                draft.detail = detail
                try context.audit(draft, by: .ben)
            }
            let problems = try await log.store.verify(expecting: nil).problems
            #expect(problems.contains { $0.reason.contains(reason) }, "\(problems)")
            await log.store.close()
        }
    }

    /// A log whose last entry, that of an ask, has another detail, and the hash of that.
    private func logWithLastDetail(
        _ expression: String
    ) async throws -> (log: AuditLog, last: Int64) {
        let log = try await AuditLog()
        try await log.fillRichly()
        _ = try await log.store.ask(.yesNo("Last?"))
        let last = try #require(try await log.store.auditHead()).sequence
        try log.forge("UPDATE audit SET detail = \(expression) WHERE seq = \(last)")
        let entry = try await log.store.entries(from: last, limit: 1)[0]
        try log.forge(
            "UPDATE audit SET hash = x'\(Hex.text(entry.computedHash))' WHERE seq = \(last)")
        return (log, last)
    }

    @Test(
        "A detail that says the same in another form, with a recomputed hash, is found",
        arguments: [
            "replace(detail, '{', '{ ')", "replace(detail, '\"leaves\"', '\"\\u006ceaves\"')",
            "json_insert(detail, '$.zeal', 1)", "json_insert(detail, '$.waits', json('false'))",
        ])
    func otherJSON(expression: String) async throws {
        let (log, last) = try await logWithLastDetail(expression)
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(
            problems.contains {
                $0.sequence == last && $0.reason.contains("a detail that no entry of its kind has")
            }, "\(problems)")
        let independent = try await Child.run(
            "python3", AuditVerificationTests.verifier, log.queue.path)
        #expect(independent.errors.hasPrefix("entry \(last): "), "\(independent)")
        await log.store.close()
    }

    @Test("An ask without a detail and with a recomputed hash is found")
    func askWithoutDetail() async throws {
        let (log, last) = try await logWithLastDetail("NULL")
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.map(\.sequence) == [last])
        #expect(problems.first?.reason.contains("its source, time, deadline") == true)
        await log.store.close()
    }

    static let rewritten = [
        #"UPDATE alerts SET buttons = replace(buttons, '{"id"', '{ "id"') WHERE id = 8"#,
        #"UPDATE alerts SET buttons = replace(buttons, '"id":"No",', '') WHERE id = 8"#,
        #"UPDATE alerts SET info = '{ }' WHERE id = 8"#,
    ]

    @Test("JSON that another reader could interpret differently is found", arguments: rewritten)
    func differentJSON(script: String) async throws {
        let log = try await AuditLog()
        try await log.fillRichly()
        let problem = try await log.problem(after: script)
        #expect(problem.reason.contains("as this program writes them"), "\(problem.reason)")
        await log.store.close()
    }

    /// Entries of a response that no program would write.
    static let ends: [(EntryEdit, String?)] = [
        (EntryEdit(), nil), (EntryEdit(isEarly: true, hasReason: true), nil),
        (EntryEdit(isEarly: true), "before its deadline had passed"),
        (EntryEdit(isEarly: true, hasReason: true, hasDefault: false), "before its deadline"),
        (EntryEdit(content: [UInt8](repeating: 7, count: 32)), "not what entry"),
        (EntryEdit(hasDetail: false), "before its deadline had passed"),
        (EntryEdit(isTwice: true), "was already resolved by entry"),
    ]

    struct EntryEdit: Sendable {
        var isEarly = false
        var hasReason = false
        var hasDefault = true
        var content: [UInt8]?
        var hasDetail = true
        var isTwice = false
    }

    @Test("An impossible end is found at its entry", arguments: ends)
    func end(edit: EntryEdit, reason: String?) async throws {
        let log = try await AuditLog()
        let asked = try await log.store.ask(
            Alert(
                "Delete?", buttons: ["Yes", "No"], deadline: .after(.seconds(777_600)),
                defaultButton: edit.hasDefault ? "No" : nil))
        log.clock.advance(by: edit.isEarly ? .seconds(60) : .seconds(777_600))
        try await log.store.writes.perform(.answer, "forge") { context in
            let row = try #require(try context.db.alert(asked.id))
            let response = Expiry.response(
                to: row.record, at: Timestamp.date(milliseconds: context.now.wallMilliseconds))
            try context.db.change(
                """
                UPDATE alerts SET outcome = 'expired', button_index = ?, resolved_by = ?,
                    handled = 0, resolved_ms = ?, resolved_seq = ? WHERE id = 1
                """, .integer(response.buttonIndex), .text(response.by.rawValue),
                .integer(context.now.wallMilliseconds), .integer(context.head.sequence + 1))
            let source = row.record.source
            for name in [source.name, ""] {
                try context.write(context.query.counted(source.principal, name, by: -1))
            }
            let detail = EntryDetail.expired(
                .init(at: context.now, isEarly: edit.hasReason, isUnseen: true))
            for _ in 0..<(edit.isTwice ? 2 : 1) {
                try context.audit(
                    AuditDraft(
                        kind: .resolved, record: row.record, response: response,
                        content: edit.content ?? row.content,
                        detail: edit.hasDetail ? detail : nil), by: .ana)
            }
        }
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.isEmpty == (reason == nil))
        #expect(problems.first?.reason.contains(reason ?? "") ?? (reason == nil), "\(problems)")
        #expect(problems.allSatisfy { $0.alertID == 1 })
        await log.store.close()
    }

    @Test("A deadline that was moved until it was applied and then moved back is found at its end")
    func movedDeadline() async throws {
        let log = try await AuditLog()
        try await log.fillRichly()
        // As a program that trusts the row would have applied it.
        let problem = try await log.problem(
            after: """
                UPDATE alerts SET resolved_ms = resolved_ms - 1 WHERE id = 3;
                UPDATE audit SET at_ms = at_ms - 1 WHERE alert_id = 3 AND event = 'resolved'
                """)
        #expect(problem.sequence != nil)
        await log.store.close()
    }
}
