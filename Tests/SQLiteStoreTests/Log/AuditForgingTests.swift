import AlertCore
import AlertTables
import SQLite
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Audit forging", .inParallel)
struct AuditForgingTests {
    @Test(
        "A changed column of an entry is found at that entry",
        arguments: [
            "at_ms = at_ms + 1", "at_ms = 9223372036854775807", "event = 'presented'",
            "alert_id = 2", "alert_id = NULL", "source = 'other'", "source = NULL",
            "outcome = 'expired'", "outcome = NULL", "outcome = 'bogus'", "button_index = 1",
            "button_role = 'cancel'", "button_role = 'bogus'", "resolved_by = 'policy'",
            "resolved_by = 'bogus'", "principal = principal || '@desk'", "principal = '77'",
            "principal = '4294968296'", "principal = '0' || principal",
            "principal = 'person:ana', user = 'person:ana'", "principal = ''", "user = 'ben'",
            "means = 'link'", "means = 'link', host = NULL, pid = NULL",
            "user = NULL", "login_uid = 77", "login_uid = coalesce(login_uid, 0) + 4294967296",
            "session = 77", "session = coalesce(session, 0) + 4294967296", "via = 'policy'",
            "tty = NULL", "ssh = ''", "host = 'other'", "boot = 'other'", "pid = 1",
            "pid = pid + 4294967296",
            "content = NULL", "content = zeroblob(32)", "detail = ''",
            "previous = zeroblob(32)", "hash = zeroblob(32)",
        ])
    func column(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let answered = try #require(
            try log.queue.integer(
                "SELECT seq FROM audit WHERE alert_id = 1 AND event = 'resolved'"))
        let problem = try await log.problem(
            after: "UPDATE audit SET \(assignment) WHERE seq = \(answered)")
        #expect(problem.sequence == answered)
        await log.store.close()
    }

    @Test(
        "Another person, or another means that spoke for a person, is found",
        arguments: [
            "audit SET means = 'token:phone' WHERE event = 'asked'",
            "audit SET means = 'link' WHERE event = 'resolved'",
            // No row has it, too.
            "audit SET means = 'token:phone' WHERE event = 'collected'",
            "audit SET principal = 'person:eve', user = 'person:eve' WHERE event = 'resolved'",
            "alerts SET means = 'token:phone'", "alerts SET responder_means = 'link'",
            "alerts SET responder = 'person:eve', responder_name = 'person:eve'",
            "sources SET principal = 'person:eve'",
        ])
    func person(change: String) async throws {
        let log = try await AuditLog()
        let phone = Caller(.person("boss"), via: "inbox", means: .device("phone"))
        let id = try await log.store.enqueue(
            Question(alert: .yesNo(), source: "test"), by: phone
        ).record.id
        try await log.store.answer(id, 0, by: phone)
        _ = try await log.store.collect(id, by: phone)
        let problem = try await log.problem(after: "UPDATE \(change)")
        #expect(problem.alertID == id || problem.sequence != nil)
        await log.store.close()
    }

    @Test(
        "A changed word that was absent is found",
        arguments: ["outcome", "button_role", "resolved_by"])
    func absentWord(column: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: "UPDATE audit SET \(column) = 'bogus' WHERE seq = 1")
        #expect(problem.sequence == 1)
        await log.store.close()
    }

    @Test("A deleted entry is named", arguments: [1, 2, 9])
    func deletion(sequence: Int64) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(after: "DELETE FROM audit WHERE seq = \(sequence)")
        #expect(problem.sequence == sequence)
        await log.store.close()
    }

    @Test("Two entries that were swapped are found at the first")
    func swap() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: """
                UPDATE audit SET seq = 1000 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = 4;
                UPDATE audit SET seq = 4 WHERE seq = 1000
                """)
        #expect(problem.sequence == 3)
        await log.store.close()
    }

    @Test("An inserted entry is found, even with a correct hash", arguments: [false, true])
    func insertion(isHashed: Bool) async throws {
        let log = try await AuditLog()
        try await log.fill()
        // Make room at 5: all later entries move up by one.
        try log.forge(
            """
            UPDATE audit SET seq = -seq - 1 WHERE seq >= 5;
            UPDATE audit SET seq = -seq WHERE seq < 0;
            INSERT INTO audit SELECT 5, at_ms, event, alert_id, source, outcome, button_index,
                button_role, resolved_by, principal, user, login_uid, session, via, tty, ssh, means,
                host, boot, pid, content, detail, hash, hash FROM audit WHERE seq = 4
            """)
        if isHashed {
            let entry = try #require(
                try await log.store.entries(from: 5, of: nil, limit: 1).first)
            let hash = Hex.text(entry.computedHash)
            try log.forge("UPDATE audit SET hash = x'\(hash)' WHERE seq = 5")
        }
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.first?.sequence == 5)
        // The alert of entry 4 is asked twice; and the next entry does not continue entry 5.
        #expect(!isHashed || problems.contains { $0.sequence == 6 })
        await log.store.close()
    }

    @Test("A changed entry with a recomputed hash is found at the entry after it")
    func rehash() async throws {
        let log = try await AuditLog()
        try await log.fill()
        try log.forge("UPDATE audit SET user = 'eve' WHERE seq = 7")
        let entry = try #require(try await log.store.entries(from: 7, of: nil, limit: 1).first)
        let hash = Hex.text(entry.computedHash)
        let problem = try await {
            try log.forge("UPDATE audit SET hash = x'\(hash)' WHERE seq = 7")
            return try await log.store.verify(expecting: nil).problems.first
        }()
        #expect(problem?.sequence == 8)
        await log.store.close()
    }

    @Test("A cut tail is found with a saved head, and only with it")
    func cutTail() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let head = try #require(try await log.store.auditHead())
        // The last entry records the cancel; without its response there is no contradiction.
        try log.forge(
            """
            DELETE FROM audit WHERE seq = \(head.sequence);
            UPDATE alerts SET \(ForgedRow.waiting) WHERE id = 5;
            UPDATE sources SET pending = pending + 1 WHERE name IN ('test', '')
            """)
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        let problems = try await log.store.verify(expecting: head).problems
        #expect(problems.map(\.sequence) == [head.sequence])
        #expect(problems.first?.reason.contains("its tail was cut") == true)
        await log.store.close()
    }

    @Test("A log that grew after its head was saved verifies")
    func grown() async throws {
        let log = try await AuditLog()
        try await log.fill()
        let head = try #require(try await log.store.auditHead())
        try await log.store.ask(.yesNo("More"))
        #expect(try await log.store.verify(expecting: head).problems.isEmpty)
        await log.store.close()
    }

    @Test(
        "An entry before the first one is found, hashed or not, and makes no response valid",
        arguments: [false, true])
    func beforeTheFirst(isHashed: Bool) async throws {
        let log = try await AuditLog()
        try await log.fill()
        try log.forge(
            """
            INSERT INTO audit SELECT -1, at_ms, event, 6, source, outcome, button_index,
                button_role, resolved_by, principal, user, login_uid, session, via, tty, ssh, means,
                host, boot, pid, content, detail, previous, hash FROM audit
                WHERE alert_id = 1 AND event = 'resolved';
            UPDATE alerts SET \(ForgedRow.answered) WHERE id = 6
            """)
        if isHashed {
            let hash = try Self.hash(ofEntry: -1, in: log.queue)
            try log.forge("UPDATE audit SET hash = x'\(hash)' WHERE seq = -1")
        }
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.first?.sequence == -1)
        #expect(problems.contains { $0.alertID == 6 })
        await log.store.close()
    }

    @Test("A shown text that was never asked is found at the entry of its presentation")
    func shownOther() async throws {
        let log = try await AuditLog()
        let asked = try await log.store.ask(.yesNo("Keep?"))
        // As in a process that reads the row while a forger has changed it for a moment.
        var shown = AlertRecord(
            id: asked.id, alert: .yesNo("Delete?"), source: asked.source, state: .queued,
            askedAt: asked.askedAt, presentedAt: nil, expiresAt: nil, snoozedUntil: nil, snoozes: 0,
            response: nil)
        shown.salt = asked.salt
        log.store.post(.presented(shown), by: .ana)
        try await log.store.answer(asked.id, 0)
        let problems = try await log.store.verify(expecting: nil).problems
        #expect(problems.map(\.sequence) == [2])
        #expect(problems.first?.reason.contains("is not what entry 2 says was presented") == true)
        await log.store.close()
    }

    @Test("A last entry with an unknown word is found, even with the hash of that word")
    func rehashedWord() async throws {
        let log = try await AuditLog()
        try await log.store.ask(.yesNo())
        await log.store.close()
        try log.forge("UPDATE audit SET button_role = 'bogus' WHERE seq = 1")
        let hash = try Self.hash(ofEntry: 1, in: log.queue)
        try log.forge("UPDATE audit SET hash = x'\(hash)' WHERE seq = 1")
        // The store that has seen the entry would no longer accept the file.
        let other = try await log.queue.store()
        let problems = try await other.verify(expecting: nil).problems
        #expect(problems.first?.reason.contains("can't be understood") == true)
        await other.close()
    }

    /// The hash of an entry's row, whatever its columns contain, as hexadecimal digits.
    private static func hash(
        ofEntry sequence: Int64, in queue: TemporaryQueue
    ) throws -> String {
        let hash = try queue.connection().first(
            "SELECT \(AuditRow.columns) FROM audit WHERE seq = ?", .integer(sequence), read: hash)
        return Hex.text(try #require(hash))
    }

    private static func hash(of row: borrowing Row) -> [UInt8] {
        let input = HashInput()
        input.begin(Array("alertq-entry-1".utf8))
        for column in AuditRow.Column.allCases.dropLast(2) {
            // The bytes of a text, which need not be UTF-8.
            let bytes = row.blob(at: column.index) ?? []
            switch row.value(at: column.index) {
            case .null: input.absent()
            case .integer(let number): input.number(number)
            case .text: bytes.withUnsafeBytes { input.text($0) }
            case .blob: bytes.withUnsafeBytes { input.hex($0) }
            }
        }
        let previous = row.blob(at: AuditRow.Column.previous.index) ?? []
        let column = AuditRow.Column.alertId.index
        let alert = row.isNull(at: column) ? nil : row.integer(at: column)
        return AuditEntry.hash(after: previous, about: alert, of: input.hash, input)
    }
}
