import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// An operation of a person or a program on a queue, run from a known state.
enum Operation: String, CaseIterable, Sendable {
    case first, firstInEmptyFile, ask, notify, answer, snooze, withdraw, cancel
    case collect, expire, checkpoint, present, reindex, purge, backup, restore

    /// The most important operations, for the short form.
    static let essential: [Operation] = [.ask, .answer]

    /// Whether it spends half of its time waiting to take keys.
    var isWaiting: Bool { self == .present }

    var arguments: [String] {
        switch self {
        case .first, .firstInEmptyFile, .ask, .checkpoint:
            [
                "ask", "Asked", "-b", "yes", "--cancel", "no", "--key", "asked", "--detach",
                "--json",
            ]
        case .notify: ["notify", "Told", "--json"]
        case .answer: ["answer", "4", "yes", "--set", "host=nas", "--note", "now", "--json"]
        case .snooze: ["snooze", "1", "--json"]
        case .withdraw: ["withdraw", "1", "--json"]
        case .cancel: ["cancel", "1", "--json"]
        case .collect:
            ["ask", "Answered", "-b", "yes", "--cancel", "no", "--key", "answered", "--json"]
        // Too late, so that it stores the expiry.
        case .expire: ["answer", "3", "yes"]
        case .present: ["present", "--once"]
        case .reindex: ["doctor", "--reindex", "--json"]
        case .purge: ["purge", "--older-than", "now", "--json"]
        case .backup, .restore: [rawValue, "--force", "--json"]
        }
    }

    /// The exit codes that it may have, the first time and when it is repeated.
    var accepted: Set<Int32> {
        switch self {
        case .answer, .withdraw, .cancel: [0, 16]
        case .expire: [16]
        default: [0]
        }
    }

    /// A query that returns 1 once the operation is done.
    var effect: String {
        switch self {
        case .first, .firstInEmptyFile, .ask, .checkpoint:
            "SELECT count(*) FROM alerts WHERE key = 'asked'"
        case .notify: "SELECT count(*) > 0 FROM alerts WHERE title = 'Told'"
        case .answer:
            Self.response(
                to: 4,
                """
                outcome = 'answered' AND button_index = 0 AND field_values = '{"host":"nas"}'
                AND note = 'now'
                """)
        case .present: Self.response(to: 1, "outcome = 'answered' AND button_index = 0")
        case .snooze: "SELECT snoozes > 0 FROM alerts WHERE id = 1"
        case .withdraw: Self.response(to: 1, "outcome = 'withdrawn'")
        case .cancel: Self.response(to: 1, "outcome = 'cancelled'")
        case .collect: Self.response(to: 2, "collected_ms IS NOT NULL")
        case .expire: Self.response(to: 3, "outcome = 'expired'")
        // What expires meanwhile is indexed later.
        case .reindex:
            "SELECT indexed_seq >= (SELECT resolved_seq FROM alerts WHERE id = 2) FROM upkeep"
        case .purge:
            """
            SELECT erasures > 0 AND erasures = erasures_done AND (SELECT salt IS NULL
                FROM alerts WHERE id = 5) FROM upkeep
            """
        case .backup: "SELECT 1"
        case .restore: "SELECT count(*) FROM audit WHERE event = 'restored'"
        }
    }

    /// The faults after it is done, apart from those that the query of its effect shows.
    func leftover(
        in queue: CommandLineQueue, _ finished: Finished
    ) async throws -> [String] {
        switch self {
        case .reindex:
            let found = try await queue.run("history", "--text", "answered", "--json")
            return found.output.contains("\"id\":2,") ? [] : ["alert 2 was not found"]
        case .purge:
            return try FileManager.default.contentsOfDirectory(atPath: queue.directory).filter {
                let file = try Data(contentsOf: URL(filePath: queue.directory + "/" + $0))
                // The index has words in lower case.
                return ["SECRET", "secret"].contains { file.range(of: Data($0.utf8)) != nil }
            }
        case .backup: return try await backupFaults(in: queue)
        case .restore: return try await keptFaults(in: queue)
        default: return []
        }
    }

    private static func response(to id: Int, _ condition: String) -> String {
        "SELECT count(*) FROM alerts WHERE id = \(id) AND \(condition)"
    }

    /// Runs it to its end, or until it is killed.
    func run(on queue: CommandLineQueue, under wrapper: [String] = []) async throws -> Finished {
        guard self == .present else {
            let file = takesBackup ? [queue.backupPath] : []
            return await (try queue.start(arguments + file, under: wrapper)).finish()
        }
        let terminal = try PseudoTerminal()
        let child = try queue.start(arguments, under: wrapper, on: terminal)
        _ = try await terminal.press("y") { child.poll() != nil }
        let told = terminal.text.contains("✓ Waiting — yes")
        return Finished(
            code: await child.exit(),
            output: told
                ? #"{"id":1,"title":"Waiting","outcome":"answered","button":"yes"}"# + "\n" : "",
            errors: terminal.text)
    }
}
