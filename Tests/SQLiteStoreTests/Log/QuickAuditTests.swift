import AlertCore
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Quick check of the audit log", .inParallel)
struct QuickAuditTests {
    @Test("It speaks for a log with every kind of entry, and says the same as the careful one")
    func right() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let report = try #require(try await log.store.quickAuditReport(expecting: nil))
        #expect(report.problems.isEmpty)
        let head = try await log.store.auditHead()
        #expect(report.head == head)
        #expect(report.entries == head?.sequence)
        #expect(try await log.store.quickAuditReport(expecting: head)?.head == head)
        await log.store.close()
    }

    @Test("It speaks for an empty log")
    func empty() async throws {
        let log = try await AuditLog()
        let report = try #require(try await log.store.quickAuditReport(expecting: nil))
        #expect(report.entries == 0)
        #expect(report.head == nil)
        await log.store.close()
    }

    @Test("It leaves a head that is not in the log to the careful one")
    func head() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let other = AuditHead(sequence: 1, hash: [UInt8](repeating: 1, count: 32))
        #expect(try await log.store.quickAuditReport(expecting: other) == nil)
        let later = AuditHead(sequence: 1000, hash: other.hash)
        #expect(try await log.store.quickAuditReport(expecting: later) == nil)
        await log.store.close()
    }

    @Test(
        "It never speaks for a log that was touched",
        arguments: [
            "UPDATE audit SET at_ms = at_ms + 1 WHERE seq = 3", "DELETE FROM audit WHERE seq = 1",
            "UPDATE audit SET previous = zeroblob(32) WHERE seq = 5",
            "UPDATE audit SET user = NULL WHERE seq = 2",
            "DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)",
            "INSERT INTO audit SELECT 0, at_ms, event, alert_id, source, outcome, button_index, "
                + "button_role, resolved_by, uid, user, login_uid, session, via, tty, ssh, host, "
                + "pid, content, detail, previous, hash FROM audit WHERE seq = 1",
            // About no alert, so that no index of alerts leads to it.
            "INSERT INTO audit SELECT -5, at_ms, 'access', NULL, source, outcome, button_index, "
                + "button_role, resolved_by, uid, user, login_uid, session, via, tty, ssh, host, "
                + "pid, content, detail, previous, hash FROM audit WHERE seq = 1",
            "UPDATE alerts SET title = 'x' WHERE id = 1", "UPDATE alerts SET salt = NULL",
            "UPDATE alerts SET state = 'queued' WHERE id = 1",
            "UPDATE alerts SET state = 'resolved' WHERE id = 6", "DELETE FROM alerts WHERE id = 6",
            "INSERT INTO alerts SELECT 9, source_id, pid, host, NULL, style, priority, title, "
                + "message, buttons, info, default_button, handler, presenters, salt, "
                + "dismiss_after_ms, snooze_ms, boot, asked_ms, asked_boot_ms, expires_ms, "
                + "expires_boot_ms, state, presented_ms, snoozes, snoozed_ms, snoozed_boot_ms, "
                + "snoozed_boot, cancel_requested, NULL, account, turn FROM alerts WHERE id = 1",
            "UPDATE responses SET button = 'x' WHERE alert_id = 1",
            "UPDATE responses SET collected_ms = NULL", "DELETE FROM responses WHERE alert_id = 1",
            "UPDATE responses SET user = 'x' WHERE alert_id = 4",
            "UPDATE responses SET via = 'x' WHERE alert_id = 4",
        ])
    func touched(script: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        try log.forge(script)
        #expect(try await log.store.quickAuditReport(expecting: nil) == nil)
        await log.store.close()
    }

    @Test("In a log of several pages every entry counts, the first and last of a page among them")
    func pages() async throws {
        let log = try await AuditLog()
        let record = try await log.store.ask(.yesNo())
        try await log.store.commits.perform(.upkeep, "fill") { context in
            for _ in 0..<2100 {
                try context.audit(
                    AuditDraft(kind: .returned, record: record),
                    by: .ana)
            }
        }
        #expect(try await log.store.quickAuditReport(expecting: nil)?.entries == 2101)
        for sequence in [1, 2, 999, 1000, 1001, 1002, 1999, 2000, 2001, 2002, 2100, 2101] {
            try log.forge("UPDATE audit SET pid = pid + 1 WHERE seq = \(sequence)")
            #expect(try await log.store.quickAuditReport(expecting: nil) == nil, "\(sequence)")
            let problems = try await log.store.verify(expecting: nil).problems
            #expect(problems.map(\.sequence) == [Int64(sequence)])
            try log.forge("UPDATE audit SET pid = pid - 1 WHERE seq = \(sequence)")
        }
        #expect(try await log.store.quickAuditReport(expecting: nil) != nil)
        await log.store.close()
    }

    @Test("A set of ids has each once, none that is too large, and none in common with another")
    func ids() {
        var set = BitSet()
        let isNew = [1, 64, 1000, 64, -1].map { set.insert($0) }
        #expect(isNew == [true, true, true, false, false])
        #expect(set.contains(1000) && !set.contains(999) && !set.contains(1 << 40))
        var other = BitSet()
        let isOther = other.insert(5000)
        let isMerged = [set.merge(other), set.merge(other)]
        #expect(isOther && isMerged == [true, false])
        #expect(set.count == 4)
    }

    @Test("A set of ids keeps those that lie far away, in little memory")
    func farIDs() {
        let far: Int64 = 3 << 32
        var set = BitSet()
        let isNew = [1, far, far + 1, far, .max].map { set.insert($0) }
        #expect(isNew == [true, true, true, false, true])
        #expect(set.contains(far + 1) && !set.contains(far + 2) && !set.contains(far - 1))
        var other = BitSet()
        for id in [far, 1 << 50] { _ = other.insert(id) }
        #expect(set.intersection(other).count == 1 && !other.isSubset(of: set))
        var union = set
        #expect(!union.merge(other) && union.count == 5 && other.isSubset(of: union))
        union.subtract(set)
        #expect(union.count == 1 && union.contains(1 << 50) && !union.contains(far))
        union.remove(1 << 50)
        #expect(union.count == 0 && !union.contains(1 << 50))
        // Ids that somebody has made up fill no memory.
        let kept = (1...Int64(BitSet.mostPages + 10)).count { set.insert($0 << 40) }
        #expect(kept <= BitSet.mostPages)
    }
}
