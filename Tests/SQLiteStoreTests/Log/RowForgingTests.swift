import AlertCore
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Row forging", .inParallel)
struct RowForgingTests {
    @Test(
        "A changed part of a question is found at the entry that tells of its asking",
        arguments: [
            "style = 'alert'", "title = 'Keep?'", "title = title || ' '", "title = NULL",
            "message = NULL", "message = 'other'",
            "buttons = json_set(buttons, '$[1].title', 'Keep')",
            "buttons = json_set(buttons, '$[1].id', 'keep')",
            "buttons = json_remove(buttons, '$[1].role')", "buttons = json_remove(buttons, '$[0]')",
            "buttons = 'no json'", "info = json_set(info, '$.path', '/')", "info = '{}'",
            "info = 'no json'", "default_button = 'rm'", "salt = zeroblob(16)", "priority = 3",
            "key = 'other'", "handler = 'other'", "presenters = '[\"other\"]'", "pid = 1",
            "host = 'other'", "asked_ms = asked_ms - 1", "expires_ms = 1, expires_boot_ms = 1",
        ])
    func question(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: "UPDATE alerts SET \(assignment) WHERE id = 2")
        #expect(problem.sequence == 2)
        #expect(problem.alertID == 2)
        await log.store.close()
    }

    @Test(
        "A question whose salt is gone is found, with or without other texts",
        arguments: ["", ", title = 'Keep?'", ", title = NULL, message = NULL, info = '{}'"])
    func salt(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: "UPDATE alerts SET salt = NULL\(assignment) WHERE id = 2")
        #expect(problem.alertID == 2)
        await log.store.close()
    }

    @Test(
        "A changed response is found",
        arguments: [
            "outcome = 'cancelled'", "button_index = 0", "button = 'Keep'", "button = NULL",
            "resolved_by = 'policy'", "uid = uid + 1", "uid = NULL",
            "uid = uid + 4294967296", "pid = pid + 4294967296", "pid = NULL", "host = NULL",
            "user = 'ana'", "user = NULL",
            "via = 'terminal'", "via = NULL", "tty = '/dev/tty1'", "ssh = '192.0.2.8'",
            "host = 'other'", "pid = 1", "resolved_ms = resolved_ms - 1",
            "resolved_ms = 9223372036854775807", "source = 'test'", "key = 'k-2'", "key = NULL",
            "handler = NULL", "handler = 'other'", "collected_ms = 1",
        ])
    func response(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: "UPDATE responses SET \(assignment) WHERE alert_id = 2")
        #expect(problem.alertID == 2)
        await log.store.close()
    }

    @Test(
        "A person who is written into an expiry is found, with or without a presenter",
        arguments: [
            "uid = 1001, user = 'ana', via = 'terminal', host = 'desk', pid = 1", "user = 'ana'",
            "uid = 0",
        ])
    func expiry(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: "UPDATE responses SET \(assignment) WHERE alert_id = 4")
        #expect(problem.alertID == 4)
        await log.store.close()
    }

    static let scripts: [(String, Alert.ID)] = [
        ("DELETE FROM responses WHERE alert_id = 2", 2),
        ("DELETE FROM responses WHERE alert_id = 4", 4),
        (
            """
            INSERT INTO responses (alert_id, source, outcome, button, button_index, resolved_by,
                resolved_ms) VALUES (6, 'test', 'answered', 'Yes', 0, 'person', 1);
            UPDATE alerts SET state = 'resolved' WHERE id = 6
            """, 6
        ),
        ("DELETE FROM alerts WHERE id = 3", 3),
        ("DELETE FROM alerts WHERE id = 6", 6),
        ("DELETE FROM responses WHERE alert_id = 3; DELETE FROM alerts WHERE id = 3", 3),
        ("UPDATE alerts SET state = 'queued' WHERE id = 1", 1),
        ("UPDATE alerts SET state = 'resolved' WHERE id = 6", 6),
        ("UPDATE responses SET collected_ms = NULL WHERE alert_id = 1", 1),
        (
            """
            CREATE TEMP TABLE copy AS SELECT * FROM alerts WHERE id = 6;
            UPDATE copy SET id = 7; INSERT INTO alerts SELECT * FROM copy
            """, 7
        ),
    ]

    @Test("Rows that are gone, added or put back are found", arguments: scripts)
    func rows(script: String, id: Alert.ID) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(after: script)
        #expect(problem.alertID == id)
        await log.store.close()
    }

    @Test("What is not part of the proof may change: the index of words, and how far it goes")
    func control() async throws {
        let log = try await AuditLog()
        try await log.fill()
        try log.forge(
            """
            UPDATE upkeep SET indexed_seq = 3, clearings = 7;
            INSERT INTO text_index (rowid, title) VALUES (1, 'other')
            """)
        #expect(try await log.store.quickAuditReport(expecting: nil)?.problems.isEmpty == true)
        await log.store.close()
    }
}
