import AlertQueue
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing
import TextFormats

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
                info, salt, boot, asked_ms, asked_boot_ms, queued_seq, outcome, button_index,
                resolved_by, handled, resolved_ms, resolved_seq)
            SELECT i + 100, 1, 1, 'h', 'alert', 1, 'Question number ' || i, 'some more words ' || i,
                '[]', '{}', x'00', 'b', 1, 1, 1, 'withdrawn', -1, 'asker', 0, i,
                i + (SELECT max(seq) FROM audit) FROM n
            """)
        try await queue.forge(
            """
            INSERT INTO audit (seq, at_ms, event, alert_id, source, outcome, button_index,
                resolved_by, principal, via, host, boot, pid, previous, hash)
            SELECT resolved_seq, resolved_ms, 'resolved', id, 'alertq', 'withdrawn', -1, 'asker', '0',
                'x', 'h', 'b', 1, zeroblob(32), zeroblob(32) FROM alerts WHERE id > 100
                ORDER BY resolved_seq
            """)
        // Only the last entry is looked at before others are written.
        let last = try #require(
            try await queue.rows("SELECT max(seq) FROM audit").first.flatMap { Int64($0) })
        let entry = AuditEntry(
            event: AlertEvent(
                sequence: last, kind: .resolved, at: Timestamp.date(milliseconds: Int64(count)),
                alertID: Int64(count) + 100, source: "alertq", outcome: .withdrawn,
                buttonIndex: -1, by: .asker,
                responder: Caller(
                    Account(uid: 0), via: "x", process: ProcessIdentity(host: "h", pid: 1))),
            buttonRole: nil, loginUID: nil, session: nil, boot: "b", content: nil, detail: nil,
            previous: AuditHead.start.hash)
        try await queue.forge(
            "UPDATE audit SET hash = x'\(Hex.text(entry.computedHash))' WHERE seq = \(last)")
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

    @Test("A search finds what is not in the index yet, and writes nothing")
    func readOnly() async throws {
        try await answer("夜间备份失败")
        try await fill(2000)
        let files = {
            [queue.path, queue.path + "-wal"].map { path in
                (try? Data(contentsOf: URL(filePath: path))) ?? Data()
            }
        }
        let before = files()
        let found = try await queue.objects("history", "--text", "备份")
        #expect(found.map { $0["id"] as? Int } == [1])
        #expect(try await queue.objects("history", "--text", "number words 17").count == 1)
        #expect(files() == before)
        let doctor = try await queue.run("doctor")
        #expect(doctor.output.contains("text index: can be searched; 2000 responses are not in it"))
    }

    @Test("An interrupted reindexing removes its bar, and searches find everything meanwhile")
    func interrupted() async throws {
        try await answer("Prune old snapshots?")
        try await fill(60_000)
        let terminal = try PseudoTerminal()
        let reindex = try queue.start(["doctor", "--reindex"], on: terminal)
        #expect(await terminal.shows("indexing  ["))
        #expect(await terminal.shows("of 60,001"))
        reindex.kill(SIGINT)
        #expect(await reindex.exit() == 128 + SIGINT)
        #expect(await eventually { terminal.text.hasSuffix("\r\u{1B}[K") })
        let mark = "SELECT indexed_seq FROM upkeep"
        let indexed = try await queue.rows(mark).first.flatMap { Int($0) }
        #expect((1..<60_002).contains(indexed ?? 0))
        let found = try await queue.objects("history", "--text", "snapshots")
        #expect(found.map { $0["id"] as? Int } == [1])
        #expect(try await queue.rows(mark) == ["\(indexed ?? 0)"])
        #expect(try await queue.run("doctor", "--reindex").code == 0)
        #expect(try await queue.rows(mark) == ["60002"])
        #expect(try await queue.objects("history", "--text", "snapshots").count == 1)
    }

    @Test("doctor finds a damaged index, and rebuilds it")
    func damaged() async throws {
        try await answer("Prune old snapshots?")
        #expect(try await queue.run("doctor", "--reindex").code == 0)
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
