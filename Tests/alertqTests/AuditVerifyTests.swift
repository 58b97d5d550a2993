import AlertQueue
import Foundation
import SQLite
import TestSupport
import Testing

@testable import alertq

@Suite("Verifying the audit log", .inParallel)
struct AuditVerifyTests {
    @Test("A log that verifies exits with 0, one that does not with 65, and none with 66")
    func codes() async throws {
        let queue = try await TestQueue()
        let id = try await queue.manager.show(Sample.alert)
        try await queue.manager.answer(id, button: "yes")
        await queue.manager.close()
        let sound = TestContext()
        #expect(try await verify(sound, queue.path) == .done)
        #expect(sound.output.text == "2 entries verify\n")
        let missing = TestContext()
        #expect(try await verify(missing, queue.directory + "/none.db") == .notFound)
        #expect(missing.output.text.isEmpty && missing.errors.text.contains("there is no queue"))
        // The texts go as the eraser takes them, but no entry tells of it.
        try Database(path: queue.path).execute(
            """
            UPDATE alerts SET title = NULL, message = NULL, info = '{}', salt = NULL,
                buttons = '[{"id":"yes"},{"id":"no","role":"cancel"}]'
            """)
        let forged = TestContext()
        #expect(try await verify(forged, queue.path) == .badData)
        #expect(forged.output.text.isEmpty)
        #expect(forged.errors.text.contains("alert 1 has lost its texts"))
        #expect(forged.errors.text.contains("the log does not verify"))
        let json = TestContext()
        #expect(try await verify(json, queue.path, "--json") == .badData)
        #expect(json.output.text.contains("\"verifies\":false"))
    }

    private func verify(
        _ test: TestContext, _ path: String, _ option: String? = nil
    ) async throws -> ExitCode {
        let words = ["audit", "verify", "--database", path] + (option.map { [$0] } ?? [])
        return try await Program.run(words, in: test.context())
    }
}
