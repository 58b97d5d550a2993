import AlertCore
import Foundation
import Migrations
import SQLite
import StoreTesting
import TestSupport
import Testing

@Suite("Audit log", .inParallel)
struct AuditVerificationTests {
    static let verifier = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "verify.py").path

    @Test("A verifier written from the documentation alone finds the same chain")
    func independent() async throws {
        let log = try await AuditLog()
        for _ in 0..<4 { try await mix(log) }
        let head = try #require(try await log.store.auditHead())
        #expect(head.sequence > 50)
        #expect(try await log.store.verify(expecting: head).problems.isEmpty)
        let good = try await Child.run("python3", Self.verifier, log.queue.path)
        #expect(good.code == 0, "\(good.errors)")
        #expect(good.output == "\(head.sequence) \(Hex.text(head.hash))\n")
        // The negative control: it must be able to find a fault.
        try log.forge("UPDATE audit SET detail = 'x' WHERE seq = 20")
        let bad = try await Child.run("python3", Self.verifier, log.queue.path)
        #expect(bad.code != 0)
        #expect(bad.errors.contains("entry 20: it was changed"))
        await log.store.close()
    }

    @Test(
        "The independent verifier finds a moved deadline and changes to an erased alert",
        arguments: [
            ("", nil), ("UPDATE alerts SET expires_boot_ms = 1 WHERE id = 4", "the deadline"),
            ("UPDATE alerts SET priority = 3 WHERE id = 1", "the deadline"),
            ("UPDATE alerts SET title = 'x' WHERE id = 1", "what is left"),
        ])
    func independentRows(script: String, complaint: String?) async throws {
        let log = try await AuditLog()
        try await log.fillRichly()
        try log.forge(script)
        let run = try await Child.run("python3", Self.verifier, log.queue.path)
        #expect((run.code == 0) == (complaint == nil), "\(run.errors)")
        #expect(complaint.map { run.errors.contains($0) } ?? true, "\(run.errors)")
        await log.store.close()
    }

    @Test(
        "The independent verifier finds a forged successor, validity or time of an answer",
        arguments: [
            ("", nil), ("UPDATE alerts SET superseded_by = 9 WHERE id = 1", "took its place"),
            ("UPDATE alerts SET superseded_by = 9 WHERE id = 3", "took its place"),
            ("UPDATE alerts SET valid_ms = 1 WHERE id = 2", "the timers"),
            ("UPDATE alerts SET resolved_boot_ms = 1 WHERE id = 2", "at another time"),
            ("UPDATE alerts SET resolved_boot = 'x' WHERE id = 4", "at another time"),
            ("UPDATE alerts SET resolved_boot_ms = 1, resolved_boot = 'x' WHERE id = 3", "another"),
            ("UPDATE alerts SET note = 'other' WHERE id = 2", "the note"),
            ("UPDATE alerts SET resolved_ms = resolved_ms + 1 WHERE id = 2", "how it ended"),
            ("UPDATE alerts SET responder_name = 'eve' WHERE id = 3", "how it ended"),
            ("UPDATE alerts SET responder_name = 'eve' WHERE id = 4", "how it ended"),
            ("UPDATE alerts SET outcome = 'dismissed' WHERE id = 1", "how it ended"),
            ("UPDATE alerts SET outcome = NULL WHERE id = 3", "how it ended"),
            ("UPDATE alerts SET handled = 1 WHERE id = 3", "how it ended"),
            ("UPDATE alerts SET collected_ms = NULL WHERE id = 3", "collected"),
            ("UPDATE alerts SET collected_ms = 1 WHERE id = 2", "collected"),
            ("UPDATE alerts SET presented_ms = 1 WHERE id = 2", "shown"),
            ("UPDATE alerts SET note = 'x' WHERE id = 5", "that waits"),
            ("UPDATE alerts SET resolved_boot = 'x' WHERE id = 5", "that waits"),
            ("UPDATE alerts SET superseded_by = 9 WHERE id = 5", "took its place"),
            ("UPDATE alerts SET snoozes = 1 WHERE id = 5", "snoozed"),
        ])
    func independentAnswers(script: String, complaint: String?) async throws {
        let log = try await AuditLog()
        var alert = Alert.yesNo("Old?", key: "k")
        alert.validFor = .seconds(60)
        try await log.store.ask(alert)
        alert.title = "New?"
        _ = try await log.store.enqueue(
            Question(alert: alert, source: "test", join: .replacing), by: .ana)
        (alert.key, alert.deadline, alert.defaultButton) = (nil, .after(.seconds(5)), "Yes")
        for _ in 3...4 { try await log.store.ask(alert) }
        let yes = Resolution.choose(button: 0, .person, Alert.Input(note: "soon"))
        _ = try await log.store.resolve(2, yes, by: .ana)
        try await log.store.answer(3, 1)
        _ = try await log.store.collect(3, by: .ana)
        alert.deadline = nil
        try await log.store.ask(alert)
        log.clock.advance(by: .seconds(6))
        _ = try await log.store.applyDeadlines()
        try log.forge(script)
        let run = try await Child.run("python3", Self.verifier, log.queue.path)
        #expect((run.code == 0) == (complaint == nil), "\(run.errors)")
        #expect(complaint.map { run.errors.contains($0) } ?? true, "\(run.errors)")
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.isEmpty == (complaint == nil), "\(problems)")
        await log.store.close()
    }

    /// About 16 entries of all kinds.
    private func mix(_ log: AuditLog) async throws {
        let store = log.store
        for index in 0..<3 {
            let alert = try await store.ask(
                Alert(
                    "Frage \(index) 🎉", message: index == 1 ? "a\nb" : nil,
                    style: index == 2 ? .actionSheet : .alert,
                    buttons: ["Ja", .destructive("Löschen", id: "rm"), .cancel("Nein")],
                    userInfo: ["é": "1", "z": "/a/b", "a": "\"\\\u{7f}"]))
            store.post(.presented(alert), by: .ana)
            if index == 0 { _ = try await store.snooze(alert.id, for: .seconds(9), by: .ben) }
            try await store.answer(alert.id, index, by: index == 1 ? .ana : .ben)
            _ = try await store.collect(alert.id, by: .ana)
        }
        let notice = try await store.ask(Alert("Done"))
        store.post(.returned(notice, because: .reason(.detached)), by: .ana)
        _ = try await store.resolve(notice.id, .dismiss, by: .ana)
    }

    @Test("The log that these tests forge contains every kind of entry")
    func kinds() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let entries = try await log.store.entries(limit: 1000)
        let missing = Set(AlertEvent.Kind.known).subtracting(entries.map(\.event.kind))
        // Erasures are in the logs of other tests; no store writes the others itself.
        #expect(
            missing == [.erased, .restored, .ran, .moved, .superseded, .clock])
        #expect(Set(entries.compactMap(\.event.by)) == [.person, .asker, .policy, .system])
        await log.store.close()
    }

    @Test("The entries of showing, snoozing and deciding have the hash of what was asked")
    func content() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let story = try await log.store.entries(of: 1, limit: 1000)
        let asked = try #require(story.first?.content)
        for kind in [AlertEvent.Kind.asked, .presented, .snoozed, .resolved] {
            let contents = story.filter { $0.event.kind == kind }.map(\.content)
            #expect(contents == [asked], "\(kind)")
        }
        await log.store.close()
    }

    static let forbidden = [
        "UPDATE audit SET detail = 'x' WHERE seq = 1",
        "DELETE FROM audit WHERE seq = 1",
        "DELETE FROM audit",
        "REPLACE INTO audit SELECT * FROM audit WHERE seq = 2",
        """
        CREATE TEMP TABLE copy AS SELECT * FROM audit ORDER BY seq DESC LIMIT 1;
        UPDATE copy SET seq = seq + 2; INSERT INTO audit SELECT * FROM copy
        """,
        "UPDATE alerts SET outcome = 'withdrawn', button_index = -1",
        "UPDATE alerts SET responder = '0'", "UPDATE alerts SET resolved_seq = 1 WHERE id = 1",
        "UPDATE alerts SET collected_ms = 1 WHERE id = 1",
        "UPDATE alerts SET collected_ms = 1 WHERE id = 6",
        "UPDATE alerts SET outcome = NULL WHERE id = 1", "DELETE FROM alerts WHERE id = 1",
        "UPDATE alerts SET title = 'x' WHERE id = 1",
        "UPDATE alerts SET message = 'x' WHERE id = 6",
        "UPDATE alerts SET key = 'x' WHERE id = 2", "UPDATE alerts SET expires_ms = 1 WHERE id = 6",
        "UPDATE alerts SET title = NULL, salt = NULL WHERE id = 6",
        "UPDATE OR REPLACE alerts SET id = 1 WHERE id = 6",
        "UPDATE OR REPLACE alerts SET rowid = 1 WHERE id = 6",
        "UPDATE alerts SET _rowid_ = 99 WHERE id = 6",
        "UPDATE OR REPLACE alerts SET key = 'k-1' WHERE id = 6",
        """
        UPDATE OR REPLACE alerts SET key = 'k-1', source_id = (SELECT source_id FROM alerts
            WHERE id = 2) WHERE id = 6
        """,
        "REPLACE INTO alerts SELECT * FROM alerts WHERE id = 1",
        "DELETE FROM sources", "DELETE FROM upkeep", "UPDATE sources SET name = 'x' WHERE id = 1",
        "UPDATE sources SET principal = '7'",
        "UPDATE OR REPLACE sources SET rowid = 2 WHERE id = 1",
        "REPLACE INTO sources SELECT * FROM sources",
        "REPLACE INTO sources (principal, name) SELECT principal, name FROM sources",
        "UPDATE alerts SET responder_name = 'x' WHERE id = 6",
        "UPDATE alerts SET snoozed_ms = 5 WHERE id = 6",
        """
        CREATE TEMP TABLE copy AS SELECT * FROM alerts WHERE key IS NOT NULL LIMIT 1;
        UPDATE copy SET id = 99; REPLACE INTO alerts SELECT * FROM copy
        """,
    ]

    @Test(
        "The triggers refuse to change which alert has taken another's place",
        arguments: [
            "UPDATE alerts SET superseded_by = 9 WHERE id = 1",
            "UPDATE OR REPLACE alerts SET superseded_by = 0 WHERE id = 1",
            "UPDATE OR REPLACE alerts SET superseded_by = 9 WHERE id = 2",
            """
            CREATE TEMP TABLE copy AS SELECT * FROM alerts WHERE id = 1;
            UPDATE copy SET id = 99; REPLACE INTO alerts SELECT * FROM copy
            """,
            "REPLACE INTO alerts SELECT * FROM alerts WHERE id = 2",
        ])
    func successors(sql: String) async throws {
        let log = try await AuditLog()
        try await log.store.ask(.yesNo("First?", key: "k"))
        let second = Question(alert: .yesNo("Second?", key: "k"), source: "test", join: .replacing)
        _ = try await log.store.enqueue(second, by: .ana)
        try await expectRefused(sql, log)
    }

    @Test("The triggers refuse to change the log, questions and responses", arguments: forbidden)
    func triggers(sql: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        try await expectRefused(sql, log)
    }

    /// Runs a statement as another program would that may write, and closes the log.
    private func expectRefused(_ sql: String, _ log: AuditLog) async throws {
        let db = try log.queue.connection()
        try db.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
        let error = try #require(throws: SQLiteError.self) { try db.execute(sql) }
        #expect(error.isConstraint, "\(sql)")
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        await log.store.close()
    }

    @Test(
        "The triggers refuse to write texts where they were erased",
        arguments: [
            "title = 'x'", "message = 'x'", "buttons = '[]'", "info = '{}'",
            "default_button = 'no'", "salt = zeroblob(16)", "title = 'x', salt = zeroblob(16)",
        ])
    func erased(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fillRichly()
        let db = try log.queue.connection()
        let error = try #require(throws: SQLiteError.self) {
            try db.execute("UPDATE alerts SET \(assignment) WHERE id = 1")
        }
        #expect(error.isConstraint)
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        await log.store.close()
    }
}
