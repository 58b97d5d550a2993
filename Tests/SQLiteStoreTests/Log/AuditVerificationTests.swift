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
        // The control: it must be able to find something.
        try log.forge("UPDATE audit SET detail = 'x' WHERE seq = 20")
        let bad = try await Child.run("python3", Self.verifier, log.queue.path)
        #expect(bad.code != 0)
        #expect(bad.errors.contains("entry 20: it was changed"))
        await log.store.close()
    }

    @Test(
        "It finds a moved deadline, and what is changed of an erased alert",
        arguments: [
            ("", nil), ("UPDATE alerts SET expires_boot_ms = 1 WHERE id = 4", "the deadline"),
            ("UPDATE alerts SET priority = 3 WHERE id = 1", "the deadline"),
            ("UPDATE responses SET button = 'x' WHERE alert_id = 1", "what is left"),
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
            store.post(.presented(alert, at: log.clock.now()), by: .ana)
            if index == 0 { _ = try await store.snooze(alert.id, for: .seconds(9), by: .ben) }
            try await store.answer(alert.id, index, by: index == 1 ? .ana : .ben)
            _ = try await store.collect(alert.id, by: .ana)
        }
        let notice = try await store.ask(Alert("Done"))
        store.post(.returned(notice, because: "the presenter was lost"), by: .ana)
        _ = try await store.resolve(notice.id, .dismiss, by: .ana)
    }

    @Test("Every kind of entry is in the log that the forgers of these tests work on")
    func kinds() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let entries = try await log.store.entries(after: 0, of: nil, limit: 1000)
        let missing = Set(AlertEvent.Kind.allCases).subtracting(entries.map(\.event.kind))
        // An erasure is in the logs of other tests; the others are no store's own.
        #expect(missing == [.erased, .restored, .ran, .access, .reminded, .seen])
        #expect(Set(entries.compactMap(\.event.by)) == [.person, .asker, .policy, .system])
        await log.store.close()
    }

    @Test("The entry of what a person saw, snoozed or decided has the hash of what was asked")
    func content() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let story = try await log.store.entries(after: 0, of: 1, limit: 1000)
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
        "UPDATE responses SET outcome = 'withdrawn', button_index = -1",
        "UPDATE responses SET uid = 0",
        "UPDATE responses SET collected_ms = 1 WHERE alert_id = 1",
        "DELETE FROM responses WHERE alert_id = 1",
    ]

    @Test("The triggers refuse to change the log and the responses", arguments: forbidden)
    func triggers(sql: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let db = try log.queue.connection()
        // One that may write, as far as its version goes.
        try db.defineVersionGuard(Migration.versionGuard, upTo: Migration.all.count)
        let error = try #require(throws: SQLiteError.self) { try db.execute(sql) }
        #expect(error.isConstraint)
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        await log.store.close()
    }

    @Test("REPLACE does not exchange a response behind the trigger's back")
    func replaceResponse() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let db = try log.queue.connection()
        #expect(throws: SQLiteError.self) {
            try db.execute(
                """
                REPLACE INTO responses (seq, alert_id, source, outcome, button_index, resolved_by,
                    resolved_ms) SELECT seq, alert_id, source, 'withdrawn', -1, 'asker', 1
                    FROM responses WHERE alert_id = 1
                """)
        }
        #expect(try await log.store.record(1).response?.outcome == .answered)
        await log.store.close()
    }
}
