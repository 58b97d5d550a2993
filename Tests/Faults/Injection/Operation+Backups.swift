import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

// Backups and restores, whose files are next to the queue's.
extension Operation {
    var takesBackup: Bool { self == .backup || self == .restore }

    /// The faults of a queue on which the operation was just killed, before any recovery.
    func faults(leftIn queue: CommandLineQueue) async throws -> [String] {
        guard self == .restore else { return [] }
        var faults = try await queue.faults()
        let found = try await queue.rows(
            """
            SELECT count(*) FROM alerts WHERE title = 'Gone';
            SELECT count(*) FROM audit WHERE event = 'restored'
            """)
        if found != ["1", "0"], found != ["0", "1"] {
            faults.append("it is neither the old queue nor the restored one: \(found)")
        }
        if found.first == "0" { faults += try await keptFaults(in: queue, mayHaveDrafts: true) }
        return faults
    }

    /// The faults of the backup that was made.
    func backupFaults(in queue: CommandLineQueue) async throws -> [String] {
        let verify = try Child(
            CommandLineQueue.program, ["audit", "verify", "--database", queue.backupPath])
        return try queue.drafts() + (await verify.exit() == 0 ? [] : ["the backup does not verify"])
    }

    /// The faults of the queues that restores have replaced: each must be sound, and one of them
    /// must have the alert that the restored one lacks.
    func keptFaults(
        in queue: CommandLineQueue, mayHaveDrafts: Bool = false
    ) async throws -> [String] {
        var faults = mayHaveDrafts ? [] : try queue.drafts()
        var hasAll = false
        let logs = ["-wal", "-journal"]
        for name in try queue.names().filter({ $0.contains("-replaced-") })
        where !logs.contains(where: name.hasSuffix) {
            // The check runs on a copy, so that no file is created next to the kept queue.
            let other = try CommandLineQueue()
            let copy = other.directory + "/kept"
            for ending in [""] + logs {
                let file = queue.directory + "/" + name + ending
                guard FileManager.default.fileExists(atPath: file) else { continue }
                try FileManager.default.copyItem(atPath: file, toPath: copy + ending)
            }
            let check = try Child(
                "sqlite3",
                [
                    copy, "PRAGMA journal_mode = DELETE; PRAGMA integrity_check;",
                    "SELECT count(*) FROM alerts WHERE title = 'Gone'",
                ])
            guard await check.exit() == 0 else {
                faults.append("\(name) is damaged")
                continue
            }
            let lines = await check.output.complete().split(separator: "\n")
            if lines.dropLast() != ["delete", "ok"] { faults.append("\(name): \(lines)") }
            hasAll = hasAll || lines.last == "1"
        }
        return hasAll ? faults : faults + ["the replaced queue is lost"]
    }
}

extension CommandLineQueue {
    var backupPath: String { directory + "/backup" }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    /// The drafts of backups and restores that were not removed.
    func drafts() throws -> [String] { try names().filter { $0.contains("-new.") } }
}

extension OperationStart {
    /// Backs a queue up, and then asks one more alert.
    func makeBackup(_ start: String, _ kind: String) async throws {
        let queue = try CommandLineQueue(copyOf: start)
        for words in [["backup", queue.backupPath], ["notify", "Gone"]] {
            let child = try await queue.start(words).finish()
            try #require(child.code == 0, "\(child.errors)")
        }
        try FileManager.default.copyItem(atPath: queue.directory, toPath: directory + "/" + kind)
    }
}
