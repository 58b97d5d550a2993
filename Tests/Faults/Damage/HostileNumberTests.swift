import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Numbers in the file that no version of alertq has written.
@Suite("Hostile numbers", .inParallel)
struct HostileNumberTests {
    private static let verbs = [
        ["list"], ["list", "--count"], ["show", "1"], ["show", "2"], ["history"],
        ["history", "--text", "Q1"], ["stats"], ["audit", "list"], ["audit", "verify"],
        ["audit", "head"], ["audit", "export"], ["doctor"],
        ["purge", "--older-than", "1s", "--dry-run"], ["answer", "2", "yes"], ["collect", "k2"],
        ["ask", "new", "-b", "a", "--cancel", "b", "--detach"], ["notify", "x"],
        ["snooze", "2", "--for", "1h"], ["withdraw", "2"], ["purge", "--older-than", "1s"],
    ]

    /// Each table with the key that identifies its last row.
    private static let tables = [
        ("sources", "id"), ("alerts", "id"), ("audit", "seq"), ("upkeep", "id"),
    ]

    /// A queue with alerts that wait, are snoozed, answered and collected.
    private func filled() async throws -> CommandLineQueue {
        let queue = try CommandLineQueue()
        for number in 0..<3 {
            _ = try await queue.run(
                "ask", "Q\(number)", "-b", "yes", "--cancel", "no", "--detach", "--timeout", "1d",
                "--key", "k\(number)")
        }
        _ = try await queue.run("notify", "N")
        _ = try await queue.run("answer", "1", "yes")
        _ = try await queue.run("snooze", "2", "--for", "1h")
        _ = try await queue.run("collect", "k0")
        _ = try await queue.run("answer", "3", "no")
        return queue
    }

    /// Writes a number into the last row of a table, bypassing triggers and checks.
    private func plant(
        _ number: Int64, in column: String, of table: (name: String, key: String),
        _ queue: CommandLineQueue
    ) async throws {
        let last = "(SELECT max(\(table.key)) FROM \(table.name))"
        // A number that a unique index refuses changes nothing, which is fine.
        try await queue.forge(
            """
            UPDATE OR IGNORE \(table.name) SET \(column) = \(number) WHERE \(table.key) = \(last);
            """)
    }

    @Test(
        "No number in a row makes a verb crash, hang or report a full disk",
        arguments: FaultForm.isFull ? [Int64.max, .min, 1 << 53 + 1, -1] : [.max, .min])
    func planted(number: Int64) async throws {
        let original = try await filled()
        for (table, key) in Self.tables {
            let columns = try await original.rows(
                """
                SELECT name FROM pragma_table_info('\(table)') WHERE type = 'INTEGER'
                """)
            #expect(!columns.isEmpty)
            for column in columns {
                let queue = try CommandLineQueue(copyOf: original.directory)
                try await plant(number, in: column, of: (table, key), queue)
                for verb in Self.verbs {
                    let finished = try await queue.start(verb).finish()
                    let isOrderly = finished.code.map { $0 < 128 } ?? false
                    #expect(
                        isOrderly && !finished.errors.contains("disk is full"),
                        "\(table).\(column) = \(number): \(verb): \(finished)")
                }
            }
        }
    }

    @Test("When all ids are used up, asking says so and answering still works")
    func usedUp() async throws {
        let queue = try await filled()
        try await plant(.max, in: "id", of: ("alerts", "id"), queue)
        let asked = try await queue.run("notify", "x")
        #expect(asked.code == 74 && asked.errors.contains("somebody must have"), "\(asked)")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        #expect(!(try await queue.run("doctor").output.contains("are left of the")))
    }
}
