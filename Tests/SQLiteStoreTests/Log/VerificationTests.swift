import AlertCore
import AlertTables
import SQLite
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

@Suite("Verification of the audit log", .inParallel)
struct VerificationTests {
    @Test("A log with every kind of entry verifies, alone and with its own head")
    func right() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let report = try await log.store.verify(expecting: nil)
        #expect(report.problems.isEmpty)
        let head = try await log.store.auditHead()
        #expect(report.head == head)
        #expect(report.entries == head?.sequence)
        #expect(try await log.store.verify(expecting: head).problems.isEmpty)
        await log.store.close()
    }

    @Test("An empty log verifies")
    func empty() async throws {
        let log = try await AuditLog()
        let report = try await log.store.verify(expecting: nil)
        #expect(report.problems.isEmpty)
        #expect(report.entries == 0)
        #expect(report.head == nil)
        await log.store.close()
    }

    @Test("A head that is not in the log is found")
    func head() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let other = AuditHead(sequence: 1, hash: [UInt8](repeating: 1, count: 32))
        for head in [other, AuditHead(sequence: 1000, hash: other.hash)] {
            let problems = try await log.store.verify(expecting: head).problems
            #expect(problems.map(\.sequence) == [head.sequence])
        }
        await log.store.close()
    }

    @Test(
        "No log verifies that was tampered with",
        arguments: [
            "UPDATE audit SET at_ms = at_ms + 1 WHERE seq = 3", "DELETE FROM audit WHERE seq = 1",
            "UPDATE audit SET previous = zeroblob(32) WHERE seq = 5",
            "UPDATE audit SET user = NULL WHERE seq = 2",
            "DELETE FROM audit WHERE seq = (SELECT max(seq) FROM audit)",
            "INSERT INTO audit SELECT 0, at_ms, event, alert_id, source, outcome, button_index, "
                + "button_role, resolved_by, principal, user, login_uid, session, via, tty, "
                + "ssh, means, host, boot, pid, content, detail, previous, hash FROM audit WHERE seq = 1",
            // It concerns no alert, so no index of alerts leads to it.
            "INSERT INTO audit SELECT -5, at_ms, 'access', NULL, source, outcome, button_index, "
                + "button_role, resolved_by, principal, user, login_uid, session, via, tty, "
                + "ssh, means, host, boot, pid, content, detail, previous, hash FROM audit WHERE seq = 1",
            "UPDATE alerts SET title = 'x' WHERE id = 1", "UPDATE alerts SET salt = NULL",
            "UPDATE alerts SET \(ForgedRow.waiting) WHERE id = 1",
            "UPDATE alerts SET \(ForgedRow.answered) WHERE id = 6",
            "DELETE FROM alerts WHERE id = 6",
            "CREATE TEMP TABLE copy AS SELECT * FROM alerts WHERE id = 1; "
                + "UPDATE copy SET id = 9, key = NULL; INSERT INTO alerts SELECT * FROM copy",
            "UPDATE alerts SET button_index = 1 WHERE id = 1",
            "UPDATE alerts SET collected_ms = NULL",
            "UPDATE alerts SET responder_name = 'x' WHERE id = 4",
            "UPDATE alerts SET via = 'x' WHERE id = 4",
        ])
    func touched(script: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let head = try await log.store.auditHead()
        try log.forge(script)
        #expect(try await !log.store.verify(expecting: head).problems.isEmpty)
        await log.store.close()
    }

    @Test("Every entry of a long log is checked, including the first and the last of each range")
    func ranges() async throws {
        let log = try await AuditLog()
        let record = try await log.store.ask(.yesNo())
        try await log.store.writes.perform(.upkeep, "fill") { context in
            for _ in 0..<4100 {
                try context.audit(
                    AuditDraft(kind: .returned, record: record),
                    by: .ana)
            }
        }
        #expect(try await log.store.verify(expecting: nil).entries == 4101)
        for sequence in [1, 2, 1999, 2000, 2001, 2002, 3999, 4000, 4001, 4002, 4100, 4101] {
            try log.forge("UPDATE audit SET pid = pid + 1 WHERE seq = \(sequence)")
            let problems = try await log.store.verify(expecting: nil).problems
            #expect(problems.map(\.sequence) == [Int64(sequence)])
            try log.forge("UPDATE audit SET pid = pid - 1 WHERE seq = \(sequence)")
        }
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        await log.store.close()
    }

    @Test("Entries that are written between two ranges of the log are read")
    func later() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let db = try log.queue.connection()
        var check = QueueVerification(expecting: nil)
        for range in try EntriesOfLog().next(2, from: .min, in: db) {
            check.add(try EntriesOfLog().read(db, range))
            check.nextEntry = EntriesOfLog.start(after: range)
        }
        try await log.store.ask(.yesNo("Later"))
        try check.finish(db, at: log.clock.now())
        let report = check.report(damage: [])
        #expect(report.problems.isEmpty)
        #expect(report.entries == (try await log.store.auditHead())?.sequence)
        await log.store.close()
    }

    @Test("A queue that is used in the meantime verifies")
    func inUse() async throws {
        let log = try await AuditLog()
        let store = log.store
        let users = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let alert = try await store.ask(.yesNo(key: "k\(number)"))
                store.post(.presented(alert), by: .ana)
                _ = try await store.snooze(alert.id, for: .seconds(1), by: .ana)
                try await store.answer(alert.id, 0)
                _ = try await store.collect(alert.id, by: .ana)
                log.clock.advance(by: .seconds(2))
                let now = Timestamp.date(milliseconds: log.clock.now().wallMilliseconds)
                guard number % 5 == 4 else { continue }
                _ = try await store.erase(before: now, by: .ben, rewritesFile: false) { _ in }
            }
        }
        // As often as it takes for entries to come in between.
        var (entries, rounds) = (Int64(0), 0)
        while rounds < 40 || (entries <= 40 && rounds < 10_000) {
            rounds += 1
            let report = try await store.verify(expecting: nil)
            #expect(report.problems.map(\.reason) == [])
            entries = report.entries
        }
        #expect(entries > 40)
        users.cancel()
        _ = await users.result
        await store.close()
    }
}
