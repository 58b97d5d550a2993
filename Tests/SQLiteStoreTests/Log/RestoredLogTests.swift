import AlertCore
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

    @Test("Both checks accept it, and so does the verifier that was written from the article")
    func right() async throws {
        let store = try await store()
        #expect(try await store.quickAuditReport(expecting: nil) != nil)
        var careful = AuditCheck(expecting: nil)
        let db = try queue.connection()
        while try !careful.readPage(db) {}
        try careful.finish(db, at: store.clock.now())
        #expect(careful.report.problems == [])
        #expect(try await store.unindexedCount() == 3)
        await store.close()
        #expect(try await verifies())
    }

    /// Whether the verifier that was written from the documentation finds nothing.
    private func verifies() async throws -> Bool {
        try await Child.run("python3", AuditVerificationTests.verifier, queue.path).code == 0
    }

    /// Gives each entry the hash of what it says, and goes on from it with the next one.
    private func rehash() throws {
        let db = try queue.connection()
        var (previous, script) = (AuditHead.start.hash, "")
        for old in try db.rows(
            "SELECT \(AuditRow.columns) FROM audit ORDER BY seq", read: { try AuditRow.entry($0) })
        {
            let entry = AuditEntry(
                event: old.event, buttonRole: old.buttonRole, loginUID: old.loginUID,
                session: old.session, content: old.content, detail: old.detail, previous: previous)
            script += "UPDATE audit SET previous = x'\(Hex.text(previous))', "
            script += "hash = x'\(Hex.text(entry.computedHash))' WHERE seq = "
            script += "\(old.event.sequence);"
            previous = entry.computedHash
        }
        try queue.forge(script)
    }

    /// Changes the entry of the restore, and chains the log anew, as a forger does.
    private func forge(_ change: (String) -> String) async throws -> [String] {
        await (try await store()).close()
        let db = try queue.connection()
        let detail = try #require(
            try db.first("SELECT detail FROM audit WHERE event = 'restored'") { $0.text() })
        try queue.forge(
            "UPDATE audit SET detail = '\(change(detail))' WHERE event = 'restored'")
        try rehash()
        let store = try await queue.store()
        #expect(try await store.quickAuditReport(expecting: nil) == nil)
        let problems = try await problems(store)
        await store.close()
        #expect(try await !verifies())
        return problems
    }

    @Test("An entry that names another backup, or numbers that were given, is found")
    func forged() async throws {
        #expect(
            try await forge { $0.replacing("backup 3:", with: "backup 2:") }.first
                == "entry 4 restored a backup that ends at entry 2, which is not the one before it")
    }

    @Test("An entry that goes on from numbers that were given is found")
    func near() async throws {
        let told = try await forge { $0.replacing("alerts from 4294967299", with: "alerts from 3") }
        #expect(
            told.first == "entry 4 restored a backup, but does not go on from numbers that were "
                + "never given")
    }

    @Test("A response whose number is not the one that the restore told of is found")
    func number() async throws {
        let told = try await forge {
            $0.replacing("responses from 4294967298", with: "responses from 4294967299")
        }
        #expect(told.contains { $0.contains("which is not its position") }, "\(told)")
    }

    @Test("An entry without what it must tell is found")
    func empty() async throws {
        let told = try await forge { _ in "backup none" }
        #expect(told.first == "entry 4 does not say what was restored")
    }

    @Test("A number that jumps without a restore is found")
    func jumped() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo("One"))
        try queue.forge("UPDATE sqlite_sequence SET seq = seq + 4294967296")
        #expect(try await store.quickAuditReport(expecting: nil) == nil)
        #expect(try await problems(store).first?.contains("next number") == true)
        await store.close()
    }

    @Test("The next numbers may not be set back to before the restore")
    func setBack() async throws {
        let store = try await queue.store()
        try await store.ask(.yesNo("One"))
        _ = try await store.backUp(to: backup, replaces: false, keeping: nil) { _, _ in }
        await store.close()
        _ = try await QueueRestore(of: backup, to: queue.path).run(
            expecting: nil, force: false, by: .ana
        ) { _, _, _ in }
        let restored = try await queue.store()
        #expect(try await restored.quickAuditReport(expecting: nil) != nil)
        try queue.forge("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'alerts'")
        #expect(try await restored.quickAuditReport(expecting: nil) == nil)
        #expect(try await problems(restored).first?.contains("next number") == true)
        await restored.close()
    }

    @Test("A restore's detail is read as it was written, in one way only")
    func detail() {
        let head = AuditHead(sequence: 7, hash: [UInt8](repeating: 10, count: 32))
        let kinds: [RestoredQueue.Replaced] = [
            .nothing, .unreadable, .queue(head), .queue(.start),
        ]
        for replaced in kinds {
            for backup in [AuditHead.start, head] {
                let restored = RestoredQueue(
                    backup: backup, replaced: replaced, firstAlert: 5, firstResponse: 6)
                #expect(RestoredQueue(detail: restored.detail) == restored)
                #expect(RestoredQueue(detail: restored.detail + " ") == nil)
                #expect(RestoredQueue(detail: "x; " + restored.detail) == nil)
            }
        }
        #expect(RestoredQueue(detail: nil) == nil && RestoredQueue(detail: "") == nil)
    }

    @Test("Numbers of stretches that are checked by themselves go on from each other")
    func stretches() {
        let far = RestoredQueue.jump + 100
        // A stretch a row; a negative number is a restore.
        let stories: [([[Int64]], Bool)] = [
            ([[1, 2], [3, 4]], true), ([[1, 2], [4]], false),
            ([[1], [-far], [far, far + 1]], true),
            ([[1, -far], [far], [far + 1]], true), ([[1], [-far, far + 1]], false),
            ([[1], [-far], [2]], false), ([[1, -far], [far + 1]], false), ([[], [1], []], true),
            ([[-far], [far]], true), ([[2], [3]], false), ([[1, -50], [50]], false),
            ([[1], [-50, 50]], false), ([[-far, far], [-far - far - 1]], true),
            ([[-far, far], [-far - 1]], false),
        ]
        for (stretches, isRight) in stories {
            var all = ResponseNumbers()
            var isSo = true
            for stretch in stretches {
                var numbers = ResponseNumbers()
                for number in stretch {
                    let fits =
                        number > 0 ? numbers.add(number) : numbers.given.go(onFrom: -number)
                    isSo = isSo && fits
                }
                let fits = all.merge(numbers)
                isSo = isSo && fits
            }
            #expect((isSo && all.beginsAtOne) == isRight, "\(stretches)")
        }
    }
}
