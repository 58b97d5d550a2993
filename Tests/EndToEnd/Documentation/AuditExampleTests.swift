import Foundation
import ProcessTesting
import TestSupport
import Testing

/// The worked example of "How the audit log is chained" is recomputed by sha256sum(1).
@Suite("Audit example", .inParallel)
struct AuditExampleTests {
    private static let file = "Sources/AlertQueue/AlertQueue.docc/AuditChain.md"

    @Test("The hashes of the example are those of its bytes, and the entry contains the others")
    func hashes() async throws {
        let blocks = try CodeBlock.all("text", in: Self.file)
        let hashes = try String(
            contentsOf: CodeBlock.root.appending(path: Self.file), encoding: .utf8
        ).matches(of: /`([0-9a-f]{64})`/).map { String($0.1) }
        #expect(blocks.count == 4 && hashes.count == 4)
        for (block, hash) in zip(blocks, hashes) {
            let bytes = block.text.replacing("\n", with: "")
            let child = try Child(
                "sh", ["-c", "printf %s \"$BYTES\" | sha256sum"], environment: ["BYTES": bytes])
            let finished = await child.finish()
            #expect(finished.output == hash + "  -\n")
        }
        #expect(blocks[2].text.contains("64:" + hashes[0]))
        #expect(blocks[2].text.contains(#""leaves":""# + hashes[1]))
        #expect(blocks[3].text.contains("64:" + hashes[2]))
    }

    @Test("The example has as many fields as a real entry, in the order of the table")
    func fields() async throws {
        let queue = try CommandLineQueue()
        _ = try await queue.run(
            "ask", "Prune old snapshots?", "-b", "yes=Prune", "--cancel", "no=Keep", "--detach",
            "--source", "backup")
        let columns = try await queue.rows(
            "SELECT name FROM pragma_table_info('audit') WHERE name NOT IN ('previous', 'hash')")
        let entry = try CodeBlock.all("text", in: Self.file)[2]
        let values = entry.text.split(separator: "\n").dropFirst()
        #expect(values.count == columns.count)
        // Fields that don't depend on the time and the machine equal those of the real entry.
        for (column, value) in zip(columns, values)
        where ["seq", "event", "alert_id", "source", "outcome", "via"].contains(column) {
            let real = try await queue.rows(
                "SELECT coalesce(length(\(column)) || ':' || \(column), '-') || ',' FROM audit")
            #expect(real == [String(value)], "\(column)")
        }
    }
}
