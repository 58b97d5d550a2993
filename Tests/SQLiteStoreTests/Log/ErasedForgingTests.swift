import AlertCore
import AlertTables
import Foundation
import StoreTesting
import TestSupport
import Testing
import TextFormats

@testable import SQLiteStore

@Suite("Forged erased alerts", .inParallel)
struct ErasedForgingTests {
    @Test(
        "A change to an erased alert is found",
        arguments: [
            "UPDATE alerts SET title = 'x' WHERE id = 2",
            "UPDATE alerts SET message = 'x' WHERE id = 2",
            "UPDATE alerts SET info = '{\"a\":\"b\"}' WHERE id = 2",
            "UPDATE alerts SET buttons = '[{\"id\":\"rm\",\"title\":\"x\"}]' WHERE id = 2",
            "UPDATE alerts SET buttons = json_set(buttons, '$[1].role', 'cancel') WHERE id = 2",
            "UPDATE alerts SET salt = x'00' WHERE id = 2",
            "UPDATE alerts SET title = 'x', salt = x'00' WHERE id = 2",
            "UPDATE alerts SET host = 'x' WHERE id = 2",
            "UPDATE alerts SET \(ForgedRow.waiting) WHERE id = 2",
            "UPDATE alerts SET resolved_seq = 1 WHERE id = 2",
            "UPDATE alerts SET button_index = 0 WHERE id = 2",
            "UPDATE alerts SET responder_name = 'x' WHERE id = 2",
            "UPDATE alerts SET title = NULL, message = NULL, buttons = '[{},{}]', info = '{}', "
                + "salt = NULL WHERE id = 6",
            "UPDATE alerts SET title = NULL, message = NULL, buttons = '[{},{}]', info = '{}', "
                + "salt = NULL WHERE id = 5",
            "UPDATE audit SET detail = '{\"alerts\":[1,5]}' WHERE event = 'erased'",
        ])
    func forged(script: String) async throws {
        let log = try await AuditLog()
        try await log.fill()
        _ = try await log.store.collect(2, by: .ana)
        log.clock.advance(by: .seconds(1))
        let now = Timestamp.date(milliseconds: log.clock.now().wallMilliseconds)
        let report = try await log.store.erase(before: now, by: .ben, rewritesFile: true) { _ in }
        #expect(report.erased == 3)
        let problem = try await log.problem(after: script)
        #expect(problem.alertID != 1)
        await log.store.close()
    }

    @Test(
        "Texts erased correctly but without an entry are found",
        arguments: [1, 2, 5, 6])
    func untold(id: Alert.ID) async throws {
        let log = try await AuditLog()
        try await log.fill()
        let stored = try #require(
            try log.queue.connection().first(
                "SELECT buttons FROM alerts WHERE id = ?", .integer(id)
            ) { $0.text() })
        let buttons = StoredJSON.encode(
            ErasedButtons.left(of: try StoredJSON.buttons(stored)))
        let problem = try await log.problem(
            after: """
                UPDATE alerts SET title = NULL, message = NULL, info = '{}', salt = NULL,
                    default_button = NULL, buttons = '\(buttons)' WHERE id = \(id)
                """)
        #expect(problem.reason.contains("lost its texts"))
        #expect(problem.alertID == id)
        await log.store.close()
    }
}
