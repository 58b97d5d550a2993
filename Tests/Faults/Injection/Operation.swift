import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// What people and programs do with a queue, each from the same beginning.
enum Operation: String, CaseIterable, Sendable {
    case first, firstInEmptyFile, ask, notify, answer, snooze, withdraw, cancel
    case collect, expire, checkpoint, present, search, purge, backup, restore

    /// What nobody can do without.
    static let essential: [Operation] = [.ask, .answer]

    /// Whether half of its time goes by before it takes a key.
    var isWaiting: Bool { self == .present }

    var arguments: [String] {
        switch self {
        case .first, .firstInEmptyFile, .ask, .checkpoint:
            [
                "ask", "Asked", "-b", "yes", "--cancel", "no", "--key", "asked", "--detach",
                "--json",
            ]
        case .notify: ["notify", "Told", "--json"]
        case .answer: ["answer", "1", "yes", "--json"]
        case .snooze: ["snooze", "1", "--json"]
        case .withdraw: ["withdraw", "1", "--json"]
        case .cancel: ["cancel", "1", "--json"]
        case .collect:
            ["ask", "Answered", "-b", "yes", "--cancel", "no", "--key", "answered", "--json"]
        case .expire: ["history", "--json"]
        case .present: ["present", "--once"]
        case .search: ["history", "--text", "answered", "--json"]
        case .purge: ["purge", "--older-than", "now", "--json"]
        case .backup, .restore: [rawValue, "--force", "--json"]
        }
    }

    /// How it may end, the first time and when it is done once more.
    var accepted: Set<Int32> {
        switch self {
        case .answer, .withdraw, .cancel: [0, 16]
        default: [0]
        }
    }

    /// A query that finds 1 once it is done.
    var effect: String {
        switch self {
        case .first, .firstInEmptyFile, .ask, .checkpoint:
            "SELECT count(*) FROM alerts WHERE key = 'asked'"
        case .notify: "SELECT count(*) > 0 FROM alerts WHERE title = 'Told'"
        case .answer, .present: Self.response(to: 1, "outcome = 'answered' AND button = 'yes'")
        case .snooze: "SELECT snoozes > 0 FROM alerts WHERE id = 1"
        case .withdraw: Self.response(to: 1, "outcome = 'withdrawn'")
        case .cancel: Self.response(to: 1, "outcome = 'cancelled'")
        case .collect: Self.response(to: 2, "collected_ms IS NOT NULL")
        case .expire: Self.response(to: 3, "outcome = 'expired'")
        case .search: "SELECT indexed_seq = (SELECT max(seq) FROM responses) FROM upkeep"
        case .purge:
            """
            SELECT erasures > 0 AND erasures = erasures_done AND (SELECT salt IS NULL
                FROM alerts WHERE id = 4) FROM upkeep
            """
        case .backup: "SELECT 1"
        case .restore: "SELECT count(*) FROM audit WHERE event = 'restored'"
        }
    }

    /// What is wrong once it is done, apart from what its effect's query tells.
    func leftover(
        in queue: CommandLineQueue, _ finished: Finished
    ) async throws -> [String] {
        switch self {
        case .search:
            return finished.output.contains("\"id\":2,") ? [] : ["alert 2 was not found"]
        case .purge:
            return try FileManager.default.contentsOfDirectory(atPath: queue.directory).filter {
                let file = try Data(contentsOf: URL(filePath: queue.directory + "/" + $0))
                // Words stand in the index in small letters.
                return ["SECRET", "secret"].contains { file.range(of: Data($0.utf8)) != nil }
            }
        case .backup: return try await backupFaults(in: queue)
        case .restore: return try await keptFaults(in: queue)
        default: return []
        }
    }

    private static func response(to id: Int, _ condition: String) -> String {
        "SELECT count(*) FROM responses WHERE alert_id = \(id) AND \(condition)"
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

/// The states that operations begin with, made once and copied for each run.
final class OperationStart: Sendable {
    let directory: String
    private let told: Ledger

    /// What was acknowledged while the state was made.
    func ledger(_ operation: Operation) -> Ledger {
        Self.isNew(operation) ? Ledger() : Ledger(told.all)
    }

    /// A queue in the state that an operation begins with.
    func queue(_ operation: Operation) throws -> CommandLineQueue {
        let kind =
            switch operation {
            case .first: "none"
            case .firstInEmptyFile: "empty"
            case .checkpoint: "due"
            case .purge: "old"
            case .restore: "backedUp"
            default: "usual"
            }
        return try CommandLineQueue(copyOf: directory + "/" + kind)
    }

    private static func isNew(_ operation: Operation) -> Bool {
        operation == .first || operation == .firstInEmptyFile
    }

    /// Alert 1 waits, 2 is answered but not collected, 3 is overdue.
    init(withCheckpoint: Bool) async throws {
        directory = "/tmp/alertq-start-\(UUID())"
        told = Ledger()
        for kind in ["none", "empty"] {
            try FileManager.default.createDirectory(
                atPath: directory + "/" + kind, withIntermediateDirectories: true)
        }
        try Data().write(to: URL(filePath: directory + "/empty/queue.db"))
        let queue = try CommandLineQueue()
        let ask = ["ask", "-b", "yes", "--cancel", "no", "--detach", "--json"]
        for words in [
            ask + ["Waiting"], ask + ["Answered", "--key", "answered"],
            ask + ["Overdue", "--timeout", "1s"], ["answer", "2", "yes", "--json"],
        ] {
            let child = try await queue.start(words).finish()
            try #require(child.code == 0, "\(child.errors)")
            told.note(lines: child.output)
        }
        let isOverdue = try await eventually {
            try await queue.objects("show", "3").first?["outcome"] as? String == "expired"
        }
        try #require(isOverdue)
        try FileManager.default.copyItem(atPath: queue.directory, toPath: directory + "/usual")
        // One more, of which nothing is acknowledged: its texts are to go.
        let old = [
            "ask", "SECRET", "-m", "SECRET", "-b", "yes=SECRET1", "--cancel", "SECRET", "--key",
        ]
        for words in [old + ["old", "--detach"], ["answer", "4", "yes"], ["collect", "old"]] {
            try #require(try await queue.start(words).finish().code == 0)
        }
        let search = try await queue.run("history", "--text", "secret")
        try #require(search.output.contains("SECRET"))
        try FileManager.default.copyItem(atPath: queue.directory, toPath: directory + "/old")
        try await makeBackup(directory + "/usual", "backedUp")
        guard withCheckpoint else { return }
        // Short of 1,000 pages by less than one more alert writes.
        for number in 1...200 where try Self.logPages(queue) < 1000 - 8 {
            let child = try await queue.start(ask + ["Many", "--key", "\(number)"]).finish()
            try #require(child.code == 0, "\(child.errors)")
        }
        try FileManager.default.copyItem(atPath: queue.directory, toPath: directory + "/due")
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func logPages(_ queue: CommandLineQueue) throws -> Int {
        let log = try FileManager.default.attributesOfItem(atPath: queue.path + "-wal")
        // A frame is a page of 4,096 bytes and a header of 24.
        return (log[.size] as? Int ?? 0) / 4120
    }
}
