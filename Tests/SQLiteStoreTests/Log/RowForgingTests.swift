import AlertCore
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Row forging", .inParallel)
struct RowForgingTests {
    @Test(
        "A changed part of a question is found at the entry of its ask",
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

    @Test("An invalid byte in place of a U+FFFD is found", arguments: ["key", "title", "note"])
    func invalid(column: String) async throws {
        let queue = try TemporaryQueue()
        let store = try await queue.store()
        let id = try await store.ask(Alert("k\u{FFFD}1", buttons: ["Yes"], key: "k\u{FFFD}1")).id
        let input = Alert.Input(note: "k\u{FFFD}1")
        _ = try await store.resolve(id, .choose(button: 0, .person, input), by: .ana)
        #expect(try await store.verify(expecting: nil).problems.isEmpty)
        try queue.forge("UPDATE alerts SET \(column) = CAST(x'6bff31' AS TEXT)")
        #expect(try await store.verify(expecting: nil).problems.first?.alertID == id)
        #expect(await thrown { try await store.record(id) }?.kind == "inconsistent")
        await store.close()
    }

    @Test(
        "A question whose salt was removed is found, with or without other texts",
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
            "outcome = 'cancelled'", "button_index = 0", "resolved_by = 'policy'",
            "responder = '7'", "responder = NULL", "responder = '4294968296'",
            "responder = 'person:ana'", "responder = '01001'", "responder = responder || '@desk'",
            "responder_means = 'device:phone'", "responder_means = 'link'",
            "responder_pid = responder_pid + 4294967296", "responder_pid = NULL",
            "responder_host = NULL", "responder_name = 'ana'", "responder_name = NULL",
            "via = 'terminal'",
            "via = NULL", "tty = '/dev/tty1'", "ssh = '192.0.2.8'", "responder_host = 'other'",
            "responder_pid = 1", "resolved_ms = resolved_ms - 1",
            "resolved_ms = 9223372036854775807", "resolved_seq = resolved_seq - 1",
            "resolved_seq = 9223372036854775807", "handled = 1", "collected_ms = 1",
        ])
    func response(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: "UPDATE alerts SET \(assignment) WHERE id = 2")
        #expect(problem.alertID == 2)
        await log.store.close()
    }

    @Test(
        "A person added to an expiry is found, with or without a presenter",
        arguments: [
            "responder = '1001', responder_name = 'ana', via = 'terminal', "
                + "responder_host = 'desk', responder_pid = 1", "responder_name = 'ana'",
            "responder = '0'", "responder_means = 'link'",
        ])
    func expiry(assignment: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(
            after: "UPDATE alerts SET \(assignment) WHERE id = 4")
        #expect(problem.alertID == 4)
        await log.store.close()
    }

    static let scripts: [(String, Alert.ID)] = [
        ("UPDATE alerts SET outcome = NULL WHERE id = 2", 2),
        ("UPDATE alerts SET \(ForgedRow.waiting) WHERE id = 4", 4),
        ("DELETE FROM alerts WHERE id = 3", 3),
        ("DELETE FROM alerts WHERE id = 6", 6),
        ("UPDATE alerts SET \(ForgedRow.waiting) WHERE id = 1", 1),
        ("UPDATE alerts SET \(ForgedRow.answered) WHERE id = 6", 6),
        ("UPDATE alerts SET collected_ms = NULL WHERE id = 1", 1),
        (
            """
            CREATE TEMP TABLE copy AS SELECT * FROM alerts WHERE id = 6;
            UPDATE copy SET id = 7; INSERT INTO alerts SELECT * FROM copy
            """, 7
        ),
    ]

    @Test("Rows that were deleted, added or set back are found", arguments: scripts)
    func rows(script: String, id: Alert.ID) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let problem = try await log.problem(after: script)
        #expect(problem.alertID == id)
        await log.store.close()
    }

    @Test("The search index and its extent may change, because they are not part of the proof")
    func control() async throws {
        let log = try await AuditLog()
        try await log.fill()
        try log.forge(
            """
            UPDATE upkeep SET indexed_seq = 3, erasures = 7;
            INSERT INTO text_index (rowid, title) VALUES (1, 'other')
            """)
        #expect(try await log.store.verify(expecting: nil).problems.isEmpty)
        await log.store.close()
    }
}
