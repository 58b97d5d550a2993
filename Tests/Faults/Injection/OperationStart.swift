import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// The states from which operations start, created once and copied for each run.
final class OperationStart: Sendable {
    let directory: String
    private let told: Ledger
    /// What was told before alert 4 was asked.
    private let toldPlain: Ledger

    /// What was acknowledged while the state was created.
    func ledger(_ operation: Operation) -> Ledger {
        if Self.isNew(operation) { return Ledger() }
        return Ledger((operation == .present ? toldPlain : told).all)
    }

    /// A queue in the state from which an operation starts.
    func queue(_ operation: Operation) throws -> CommandLineQueue {
        let kind =
            switch operation {
            case .first: "none"
            case .firstInEmptyFile: "empty"
            case .checkpoint: "due"
            case .present: "plain"
            case .purge: "old"
            case .restore: "backedUp"
            default: "usual"
            }
        return try CommandLineQueue(copyOf: directory + "/" + kind)
    }

    private static func isNew(_ operation: Operation) -> Bool {
        operation == .first || operation == .firstInEmptyFile
    }

    /// Alert 1 waits, 2 is answered but not collected, 3 is overdue, 4 asks for a value, which only a
    /// plain queue lacks.
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
        let told = told
        let run = { (words: [String]) in
            let child = try await queue.start(words).finish()
            try #require(child.code == 0, "\(child.errors)")
            told.note(lines: child.output)
        }
        for words in [
            ask + ["Waiting"], ask + ["Answered", "--key", "answered"],
            ask + ["Overdue", "--timeout", "3s"], ["answer", "2", "yes", "--json"],
        ] { try await run(words) }
        try FileManager.default.copyItem(atPath: queue.directory, toPath: directory + "/plain")
        toldPlain = Ledger(told.all)
        try await run(ask + ["Named", "--field", "host"])
        let isOverdue = try await eventually {
            try await queue.objects("show", "3").first?["outcome"] as? String == "expired"
        }
        try #require(isOverdue)
        try FileManager.default.copyItem(atPath: queue.directory, toPath: directory + "/usual")
        // One more, which is not in the ledger, because its texts are to be erased.
        let old = [
            "ask", "SECRET", "-m", "SECRET", "-b", "yes=SECRET1", "--cancel", "SECRET", "--key",
        ]
        for words in [old + ["old", "--detach"], ["answer", "5", "yes"], ["collect", "old"]] {
            try #require(try await queue.start(words).finish().code == 0)
        }
        let search = try await queue.run("history", "--text", "secret")
        try #require(search.output.contains("SECRET"))
        try FileManager.default.copyItem(atPath: queue.directory, toPath: directory + "/old")
        try await makeBackup(directory + "/usual", "backedUp")
        guard withCheckpoint else { return }
        // One more alert brings the write-ahead log to 1,000 pages.
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
