import AlertCore
import AlertTables
import Foundation
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

/// A log in which a backup was restored is verified like any other.
@Suite("Log of a restored queue", .inParallel)
struct RestoredLogTests {
    let queue: TemporaryQueue
    private var backup: String { queue.directory + "/backup.db" }

    init() throws { queue = try TemporaryQueue() }

    /// Two alerts, one of them answered, a restore, and two more.
    private func store() async throws -> SQLiteAlertStore {
        let first = try await queue.store()
        try await first.ask(.yesNo("One"))
        try await first.answer(1, 0)
        try await first.ask(.yesNo("Two"))
        _ = try await first.backUp(to: backup, replaces: false, keeping: nil) { _, _ in }
        await first.close()
        _ = try await QueueRestore(of: backup, to: queue.path).run(
            expecting: nil, force: false, by: .ana
        ) { _, _, _ in }
        let store = try await queue.store()
        let third = try await store.ask(.yesNo("Three"))
        #expect(third.id == 2 + RestoredQueue.jump + 1)
        try await store.answer(third.id, 1)
        try await store.answer(2, 0)
        return store
    }

    private func problems(_ store: SQLiteAlertStore) async throws -> [String] {
        try await store.verify(expecting: nil).problems.map(\.reason)
    }

    @Test("The verifier and the independent one accept the log of a restored queue")
    func right() async throws {
        let store = try await store()
        #expect(try await problems(store) == [])
        // The numbers that were left out are not counted.
        try await store.writes.perform(.upkeep, "empty") { try $0.emptyIndex() }
        #expect(try await store.unindexedCount() == 3)
        await store.close()
        #expect(try await verifies())
    }

    /// Whether the independent verifier, written from the documentation alone, finds nothing.
    private func verifies() async throws -> Bool {
        try await Child.run("python3", AuditVerificationTests.verifier, queue.path).code == 0
    }

    /// Gives each entry the hash of its contents, and makes the next one continue it.
    private func rehash() throws {
        let db = try queue.connection()
        var (previous, script) = (AuditHead.start.hash, "")
        for old in try db.rows(
            "SELECT \(AuditRow.columns) FROM audit ORDER BY seq", read: { try AuditRow.entry($0) })
        {
            let entry = AuditEntry(
                event: old.event, buttonRole: old.buttonRole, loginUID: old.loginUID,
                session: old.session, boot: old.boot, content: old.content, detail: old.detail,
                previous: previous)
            script += "UPDATE audit SET previous = x'\(Hex.text(previous))', "
            script += "hash = x'\(Hex.text(entry.computedHash))' WHERE seq = "
            script += "\(old.event.sequence);"
            previous = entry.computedHash
        }
        try queue.forge(script)
    }

    /// Changes the entry of the restore and rechains the log, as a forger would.
    private func forge(_ change: (String) -> String) async throws -> [String] {
        await (try await store()).close()
        let db = try queue.connection()
        let detail = try #require(
            try db.first("SELECT detail FROM audit WHERE event = 'restored'") { $0.text() })
        try queue.forge(
            "UPDATE audit SET detail = '\(change(detail))' WHERE event = 'restored'")
        try rehash()
        let store = try await queue.store()
        let problems = try await problems(store)
        await store.close()
        #expect(try await !verifies())
        return problems
    }

    @Test("A restore's entry that names another backup is found")
    func forged() async throws {
        #expect(
            try await forge { $0.replacing("\"backup\":\"3:", with: "\"backup\":\"2:") }.first
                == "entry 4 restored a backup that ends at entry 2, which is not the one before it")
    }

    @Test("A restore's entry that continues from an id that was already given is found")
    func near() async throws {
        let told = try await forge { $0.replacing("4294967299", with: "3") }
        #expect(
            told.first
                == "entry 4 restored a backup, but its next ids may have been given before")
    }

    @Test("A next id that differs from the one in the restore's entry is found")
    func number() async throws {
        let told = try await forge {
            $0.replacing("4294967299", with: "4294967298")
        }
        #expect(told.contains { $0.contains("but the log says 4294967298") }, "\(told)")
    }

    @Test("A restore's entry with an incomplete detail is found")
    func empty() async throws {
        let told = try await forge { _ in #"{"backup":"none"}"# }
        #expect(told.contains("entry 4 has a detail that no entry of its kind has"), "\(told)")
    }

    /// Restores a backup that was changed; returns the log's verification, and the numbers of those
    /// of its problems that are known.
    private func restored(_ script: String) async throws -> (AuditReport, [Int64?]) {
        let first = try await queue.store()
        try await first.ask(.yesNo("One"))
        try await first.answer(1, 0)
        try await first.ask(.yesNo("Two"))
        try await first.writes.perform(.upkeep, "note") { context in
            try context.audit(AuditDraft(kind: .other("noted")), by: .ana)
        }
        try await first.ask(.yesNo("Three"))
        await first.close()
        try queue.forge(script + "; PRAGMA wal_checkpoint(TRUNCATE)")
        let copy = queue.directory + "/copy.db"
        try FileManager.default.copyItem(atPath: queue.path, toPath: copy)
        _ = try await QueueRestore(of: copy, to: queue.path).run(
            expecting: nil, force: true, by: .ana
        ) { _, _, _ in }
        let store = try await queue.store()
        try await store.ask(.yesNo("Four"))
        let report = try await store.verify(expecting: nil)
        await store.close()
        return (report, report.known.map(\.sequence))
    }

    @Test(
        "Contradictions that were known at a restore pass later, in both verifiers",
        arguments: [
            ("UPDATE alerts SET title = 'x' WHERE id = 2", [3]),
            ("UPDATE audit SET user = 'eve' WHERE seq = 2", [2]),
            // The last entry before the restore.
            ("UPDATE audit SET user = 'eve' WHERE seq = 5", [5]),
            // An entry about no alert, and one that is gone.
            ("UPDATE audit SET user = 'eve' WHERE seq = 4", [4]),
            ("DELETE FROM audit WHERE seq = 4", [4]),
            ("UPDATE alerts SET button_index = 1 WHERE id = 1", [2]),
            ("DELETE FROM alerts WHERE id = 2; UPDATE sources SET pending = 9", [3]),
        ] as [(String, [Int64?])])
    func known(script: String, entries: [Int64?]) async throws {
        let (report, known) = try await restored(script)
        #expect(report.problems.map(\.reason) == [])
        #expect(Set(known) == Set(entries), "\(report.known.map(\.reason))")
        #expect(report.knownSince == 6)
        let independent = try await Child.run(
            "python3", AuditVerificationTests.verifier, queue.path)
        #expect(independent.code == 0, "\(independent)")
        if script.contains("title") { #expect(independent.output.contains("known since entry 6")) }
        // Another change is found by both.
        try queue.forge("UPDATE alerts SET title = 'y' WHERE title = 'Four'")
        #expect(try await !verifies())
        let store = try await queue.store()
        let later = try await store.verify(expecting: nil)
        #expect(later.problems.map(\.alertID) == [RestoredQueue.jump + 4])
        #expect(later.known.map(\.sequence) == known)
        await store.close()
    }

    @Test("A saved head that was rewritten is found, even at an entry with a known problem")
    func knownAtHead() async throws {
        let (report, known) = try await restored("UPDATE audit SET user = 'eve' WHERE seq = 4")
        #expect(report.problems.isEmpty && known == [4])
        let store = try await queue.store()
        let head = AuditHead(sequence: 4, hash: [UInt8](repeating: 1, count: 32))
        #expect(try await store.verify(expecting: head).problems.map(\.sequence) == [4])
        await store.close()
    }

    @Test(
        "An entry that was made one of a restore hides neither itself nor what follows it",
        arguments: [false, true])
    func madeRestore(isHashed: Bool) async throws {
        let store = try await queue.store()
        let id = try await store.ask(.yesNo("One")).id
        try await store.answer(id, 0)
        _ = try await store.collect(id, by: .ana)
        try await store.ask(.yesNo("Two"))
        let head = try await store.auditHead()
        try queue.forge(
            """
            UPDATE audit SET event = 'restored', outcome = NULL, button_index = NULL,
                button_role = NULL, resolved_by = NULL, content = NULL, detail = 'x' WHERE seq = 2
            """)
        if isHashed {
            let entry = try #require(try await store.entries(from: 2, of: nil, limit: 1).first)
            try queue.forge(
                "UPDATE audit SET hash = x'\(Hex.text(entry.computedHash))' WHERE seq = 2")
        }
        let problems = try await store.verify(expecting: head).problems
        #expect(problems.first?.sequence == 2, "\(problems)")
        #expect(problems.contains { $0.sequence == 3 }, "\(problems)")
        #expect(try await !verifies())
        await store.close()
    }

    @Test("A restore's entry can't name problems of entries that come after it")
    func namedAhead() async throws {
        await (try await store()).close()
        try queue.forge(
            """
            UPDATE audit SET detail = json_set(detail, '$.problems', json('[1,9]'))
                WHERE event = 'restored'
            """)
        try rehash()
        try queue.forge("DELETE FROM audit WHERE seq = 5")
        let reopened = try await queue.store()
        #expect(try await problems(reopened).contains("entry 5 is missing"))
        #expect(try await !verifies())
        await reopened.close()
    }

    @Test("An id that jumps without a restore is found")
    func jumped() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo("One"))
        try queue.forge("UPDATE upkeep SET first_id = 4294967296")
        #expect(try await problems(store).first?.contains("the next alert") == true)
        await store.close()
    }

    @Test("The next id may not be set back to before the restore")
    func setBack() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo("One"))
        _ = try await store.backUp(to: backup, replaces: false, keeping: nil) { _, _ in }
        await store.close()
        _ = try await QueueRestore(of: backup, to: queue.path).run(
            expecting: nil, force: false, by: .ana
        ) { _, _, _ in }
        let restored = try await queue.store()
        #expect(try await problems(restored) == [])
        try queue.forge("UPDATE upkeep SET first_id = 1")
        #expect(try await problems(restored).first?.contains("the next alert") == true)
        await restored.close()
    }

    @Test("A next id without room for others, in the queue that is replaced, prevents no restore")
    func noRoom() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo("One"))
        _ = try await store.backUp(to: backup, replaces: false, keeping: nil) { _, _ in }
        await store.close()
        try queue.forge("UPDATE upkeep SET first_id = 9223372036854775800")
        _ = try await QueueRestore(of: backup, to: queue.path).run(
            expecting: nil, force: false, by: .ana
        ) { _, _, _ in }
        let restored = try await queue.store()
        #expect(try await restored.ask(.yesNo("Two")).id > RestoredQueue.jump)
        #expect(try await problems(restored) == [])
        await restored.close()
    }

    @Test("A restore's detail is read back as written, and in no other form")
    func detail() {
        let head = AuditHead(sequence: 7, hash: [UInt8](repeating: 10, count: 32))
        let kinds: [RestoredQueue.Replaced] = [
            .nothing, .unreadable, .queue(head), .queue(.start),
        ]
        for replaced in kinds {
            for backup in [AuditHead.start, head] {
                let restored = RestoredQueue(
                    backup: backup, replaced: replaced, firstAlert: 5)
                let listed = RestoredQueue(
                    backup: backup, replaced: replaced, firstAlert: 5, problems: [2, 3, 4, 9])
                #expect(EntryDetail.restored(listed).text.contains(#""problems":[2,4,9,9]"#))
                for written in [restored, listed] {
                    let text = EntryDetail.restored(written).text
                    #expect(EntryDetail(text, of: .restored, nil) == .restored(written))
                }
            }
        }
        for other in [
            "", "{}", #"{"backup":"none"}"#, #"{"backup":"3","first_alert":5}"#,
            #"{"backup":"none","first_alert":5,"other":1}"#,
            #"{"backup":"none","first_alert":5,"replaced":"x"}"#,
        ] {
            #expect(EntryDetail(other, of: .restored, nil) == nil, "\(other)")
        }
    }
}
