import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Text search", .inParallel)
struct CommandTextSearchTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    private func answer(_ title: String) async throws {
        let asked = try await queue.run(
            "ask", title, "-b", "yes=Do it", "--cancel", "no", "--detach")
        let id = asked.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await queue.run("answer", id, "yes").code == 0)
    }

    /// Responses that were never indexed, of alerts that were never asked.
    private func fill(_ count: Int) async throws {
        _ = try await queue.rows(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO alerts (id, source_id, pid, host, style, priority, title, message, buttons,
                info, salt, boot, asked_ms, asked_boot_ms, state)
            SELECT i + 100, 1, 1, 'h', 'alert', 1, 'Question number ' || i, 'some more words ' || i,
                '[]', '{}', x'00', 'b', 1, 1, 'resolved' FROM n;
            INSERT INTO responses
                (alert_id, source, outcome, button_index, resolved_by, resolved_ms)
            SELECT id, 'alertq', 'withdrawn', -1, 'asker', id FROM alerts WHERE id > 100;
            """)
    }

    @Test("history --text finds words, and refuses a text without one")
    func words() async throws {
        try await answer("Prune old snapshots?")
        try await answer("Reboot tonight?")
        let found = try await queue.objects("history", "--text", "SNAP* old")
        #expect(found.map { $0["id"] as? Int } == [1])
        #expect(try await queue.objects("history", "--text", "\"do it\"").count == 2)
        let csv = try await queue.run("history", "--text", "tonight", "--csv")
        #expect(csv.output.contains("Reboot tonight?"))
        let refused = try await queue.run("history", "--text", "?!")
        #expect(refused.code == 64)
        #expect(refused.errors.contains("--text: the search text has no word"))
    }

    @Test("An interrupted search takes its bar away, and the next one goes on")
    func interrupted() async throws {
        try await answer("Prune old snapshots?")
        try await fill(60_000)
        let terminal = try PseudoTerminal()
        let search = try queue.start(["history", "--text", "snapshots"], on: terminal)
        #expect(await terminal.shows("indexing  ["))
        #expect(await terminal.shows("of 60,001"))
        search.kill(SIGINT)
        #expect(await search.exit() == 128 + SIGINT)
        #expect(await eventually { terminal.text.hasSuffix("\r\u{1B}[K") })
        let mark = "SELECT indexed_seq FROM upkeep"
        let indexed = try await queue.rows(mark).first.flatMap { Int($0) }
        #expect((1..<60_001).contains(indexed ?? 0))
        let found = try await queue.objects("history", "--text", "snapshots")
        #expect(found.map { $0["id"] as? Int } == [1])
        #expect(try await queue.rows(mark) == ["60001"])
    }

    @Test("doctor finds a damaged index, and builds it anew")
    func damaged() async throws {
        try await answer("Prune old snapshots?")
        _ = try await queue.run("history", "--text", "old")
        #expect(try await queue.run("doctor").output.contains("text index: can be searched"))
        _ = try await queue.rows("UPDATE text_index_data SET block = x'00' WHERE id > 100")
        let search = try await queue.run("history", "--text", "old")
        #expect(search.code == 74)
        #expect(search.errors.contains("alertq doctor --reindex"))
        let doctor = try await queue.run("doctor")
        #expect(doctor.code == 74)
        #expect(doctor.output.contains("alertq doctor --reindex"))
        #expect(try await queue.run("doctor", "--reindex").code == 0)
        #expect(try await queue.objects("history", "--text", "old").count == 1)
        #expect(try await queue.run("doctor").code == 0)
    }
}
