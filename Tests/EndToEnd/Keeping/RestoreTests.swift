import CLinux
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Restore", .inParallel)
struct RestoreTests {
    let queue: CommandLineQueue
    let elsewhere: CommandLineQueue
    private var file: String { elsewhere.directory + "/backup.db" }
    private static let jump = 1 << 32

    init() throws {
        queue = try CommandLineQueue()
        elsewhere = try CommandLineQueue()
    }

    private func ask(_ title: String, _ options: String...) async throws -> String {
        let words = ["ask", title, "-b", "yes", "--cancel", "no", "--detach"]
        let asked = try await queue.start(words + options).finish()
        #expect(asked.code == 0, "\(asked)")
        return String(asked.output.dropLast())
    }

    /// One alert answered, one that waits, a backup, and another alert that is not in it.
    private func story() async throws {
        _ = try await ask("One?", "--key", "one")
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        _ = try await ask("Two?")
        #expect(try await queue.run("backup", file).code == 0)
        _ = try await ask("Three?")
        #expect(try await queue.run("answer", "3", "no").code == 0)
    }

    /// The content of the queue's log, which is not empty.
    private func logOf(_ queue: CommandLineQueue) async throws -> Data {
        try await queue.askAndKill("More?")
        return try Data(contentsOf: URL(filePath: queue.path + "-wal"))
    }

    /// How many restores the queue's log records: the log of the old queue would hide them.
    private func restores() async throws -> [String] {
        try await queue.rows("SELECT count(*) FROM audit WHERE event = 'restored'")
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: queue.directory)
            .filter { $0.contains("-replaced-") || $0.contains("-new.") }.sorted()
    }

    @Test("A drill: answers are restored, ids jump, and the old queue is kept whole")
    func drill() async throws {
        try await story()
        let before = try await queue.run("audit", "head").output.dropLast()
        let refused = try await queue.run("restore", file)
        #expect(refused.code == 77, "\(refused)")
        #expect(refused.errors.contains("2 entries of its audit log are not in the backup"))
        #expect(try await queue.run("audit", "head").output.dropLast() == before)
        #expect(try files() == [])

        let restored = try #require(try await queue.objects("restore", file, "--force").first)
        let kept = try #require(restored["kept"] as? [String])
        #expect(restored["left"] as? Int == 2 && kept.count == 1)
        #expect(restored["replaced"] as? String == String(before))
        #expect(restored["next_id"] as? Int == 3 + Self.jump + 1)
        let head = try #require(restored["head"] as? String)
        #expect(try await queue.run("audit", "verify", "--head", head).code == 0)
        #expect(try await queue.run("answer", "3", "yes").code == 66)
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        #expect(try await ask("Four?") == "\(3 + Self.jump + 1)")
        #expect(try await queue.run("answer", "\(3 + Self.jump + 1)", "yes").code == 0)
        let again = try await queue.run(
            "ask", "One?", "-b", "yes", "--cancel", "no", "--key", "one")
        #expect(again.output == "yes\n")
        #expect(try await queue.isSound())
        #expect(try await queue.faults() == [])
        #expect(try await queue.run("history", "--text", "four").output.contains("Four?"))
        #expect(try await queue.rows("SELECT first_id FROM upkeep") == ["\(3 + Self.jump + 1)"])

        let old = try await queue.start(
            ["audit", "verify", "--database", kept[0], "--head", String(before)]
        ).finish()
        #expect(old.code == 0 && old.output == "5 entries verify\n", "\(old)")
        let entry = try await queue.rows(
            "SELECT via, detail FROM audit WHERE event = 'restored'")
        #expect(entry.count == 1 && entry[0].hasPrefix(#"restore|{"backup":"3:"#), "\(entry)")
    }

    @Test("A queue without entries beyond the backup is replaced without --force")
    func equal() async throws {
        _ = try await ask("One?")
        #expect(try await queue.run("backup", file).code == 0)
        let restored = try await queue.run("restore", file)
        #expect(restored.code == 0, "\(restored)")
        #expect(restored.output.contains("kept   \(queue.path)-replaced-"))
        #expect(try files().count == 1)
        // A second restore removes the entry of the first.
        #expect(try await queue.run("restore", file).code == 77)
        let again = try #require(try await queue.objects("restore", file, "--force").first)
        #expect(again["next_id"] as? Int == 1 + 2 * Self.jump + 1)
        #expect(try await ask("Two?") == "\(1 + 2 * Self.jump + 1)")
        #expect(try await queue.isSound())
    }

    @Test("A missing queue is created, even if its log was left")
    func missing() async throws {
        try await story()
        _ = try await logOf(queue)
        unlink(queue.path)
        let restored = try await queue.run("restore", file)
        #expect(restored.code == 0 && !restored.output.contains("kept"), "\(restored)")
        #expect(try await restores() == ["1"])
        #expect(try await queue.run("list").output.contains("Two?"))
        #expect(try await queue.isSound())
        let elsewhere = try CommandLineQueue()
        #expect(try await elsewhere.run("restore", file).code == 0)
        #expect(try await elsewhere.isSound())
    }

    @Test("A file that is not a backup, or does not verify, changes nothing")
    func refused() async throws {
        try await story()
        let before = try await queue.run("audit", "head").output
        let directory = elsewhere.directory
        try Data("text".utf8).write(to: URL(filePath: directory + "/text"))
        try FileManager.default.copyItem(atPath: file, toPath: directory + "/forged")
        for name in ["newer", "first", "first-backup"] {
            try FileManager.default.copyItem(atPath: file, toPath: directory + "/" + name)
        }
        for length in [150, 4096, 9999] {
            let cut = directory + "/cut-\(length)"
            try FileManager.default.copyItem(atPath: file, toPath: cut)
            #expect(truncate(cut, off_t(length)) == 0)
        }
        let size = try Data(contentsOf: URL(filePath: file)).count
        let other = try Child("sqlite3", [directory + "/other", "CREATE TABLE t (x)"])
        _ = await other.exit()
        for (name, sql) in [
            ("forged", "UPDATE alerts SET title = 'Two million?' WHERE id = 2"),
            ("newer", "PRAGMA user_version = 99"),
            // As alertq 0.1.0 marked a queue and a backup.
            ("first", "PRAGMA application_id = 1634497137"),
            ("first-backup", "PRAGMA application_id = 1634497122"),
        ] {
            let forger = try Child(
                "sqlite3", [directory + "/" + name, ".dbconfig enable_trigger off", sql])
            _ = await forger.exit()
        }
        for (name, code, reason) in [
            ("text", 65, "is not an SQLite database"), ("other", 65, "is not a queue"),
            ("cut-150", 65, "is incomplete: it has 150 bytes, and its header says \(size)"),
            ("cut-4096", 65, "is incomplete: it has 4096 bytes, and its header says \(size)"),
            ("cut-9999", 65, "is incomplete: it has 9999 bytes, and its header says \(size)"),
            ("newer", 65, "newer version"), ("first", 65, "was made by alertq 0.1.0"),
            ("first-backup", 65, "was made by alertq 0.1.0"), ("none", 66, "No such file"),
            (".", 65, "regular file"),
            ("forged", 65, "does not verify: alert 2 was changed"),
        ] {
            let force = name == "forged" ? [] : ["--force"]
            let refused = try await queue.start(["restore", directory + "/" + name] + force)
                .finish()
            #expect(refused.code == Int32(code), "\(name): \(refused)")
            #expect(refused.errors.contains(reason), "\(name): \(refused)")
        }
        let head = "2:" + String(repeating: "0", count: 64)
        #expect(try await queue.run("restore", file, "--force", "--head", head).code == 65)
        #expect(try await queue.run("restore", queue.path, "--force").code == 65)
        #expect(try await queue.run("audit", "head").output == before)
        #expect(try files() == [])
        let good = try await queue.run("audit", "head", "--database", file).output.dropLast()
        let words = ["restore", file, "--force", "--head", String(good)]
        #expect(try await queue.start(words).finish().code == 0)
    }

    /// Runs statements on a database as a program that ignores the triggers.
    private func forge(_ path: String, _ sql: String) async throws {
        let forger = try Child("sqlite3", [path, ".dbconfig enable_trigger off", sql])
        #expect(await forger.exit() == 0)
    }

    @Test("With --force, what the log of a backup contradicts is named, and never returned")
    func contradicted() async throws {
        try await story()
        // Alert 2's row, an entry that is about no alert, and what is counted.
        try await forge(
            file,
            """
            UPDATE alerts SET title = 'Two million?' WHERE id = 2;
            UPDATE sources SET pending = 7
            """)
        #expect(try await queue.run("restore", file).code == 65)
        let restored = try #require(try await queue.objects("restore", file, "--force").first)
        let problems = try #require(restored["problems"] as? [[String: Any]])
        #expect(problems.map { $0["alert"] as? Int } == [2])

        let verified = try await queue.run("audit", "verify")
        #expect(verified.code == 0, "\(verified)")
        #expect(verified.output == "5 entries verify; 1 problem known since entry 4\n")
        let json = try #require(try await queue.objects("audit", "verify").first)
        #expect(json["verifies"] as? Bool == true && json["known_since"] as? Int == 4)
        #expect((json["known"] as? [Any])?.count == 1)
        #expect(try await queue.run("doctor").code == 0)
        let copy = elsewhere.directory + "/copy.db"
        #expect(try await queue.run("backup", copy).code == 0)
        #expect(try await queue.run("show", "1").code == 0)
        #expect(try await queue.run("show", "2").code == 65)
        #expect(try await queue.run("answer", "2", "yes").code == 65)
        // A row that is as it was asked again is no better: nobody knows who changed it.
        try await forge(queue.path, "UPDATE alerts SET title = 'Two?' WHERE id = 2")
        let again = try await queue.run("show", "2")
        #expect(again.code == 65 && again.errors.contains("as entry 5 says"), "\(again)")
        #expect(try await queue.run("audit", "verify").output.contains("verify"))
        // Whatever is changed later is no known problem.
        try await forge(queue.path, "UPDATE alerts SET title = 'One million?' WHERE id = 1")
        let changed = try await queue.run("audit", "verify")
        #expect(changed.code == 65 && changed.errors.contains("alert 1 was changed"))
        #expect(!changed.errors.contains("alert 2"), "\(changed)")
    }

    @Test("A damaged queue is replaced only with --force, and kept as it was with its log")
    func damaged() async throws {
        try await story()
        let log = try await logOf(queue)
        let database = Data(repeating: 7, count: 5000)
        try database.write(to: URL(filePath: queue.path))
        #expect(try await queue.run("restore", file).code == 74)
        let restored = try #require(try await queue.objects("restore", file, "--force").first)
        let kept = try #require(restored["kept"] as? [String])
        #expect(kept.count == 2 && kept[1] == kept[0] + "-wal" && restored["left"] is NSNull)
        #expect(try Data(contentsOf: URL(filePath: kept[0])) == database)
        #expect(try Data(contentsOf: URL(filePath: kept[1])) == log)
        #expect(try await restores() == ["1"])
        #expect(try await queue.isSound())
        try database.write(to: URL(filePath: queue.path))
        let again = try #require(try await queue.objects("restore", file, "--force").first)
        let (first, second) = (restored["next_id"] as? Int, again["next_id"] as? Int)
        for next in [first, second] {
            // By chance, so that two restores of one backup give different ones.
            let jumps = try #require(next) - 3
            #expect(jumps % Self.jump == 0 && (1...4096).contains(jumps / Self.jump))
        }
    }

    @Test("A read-only backup in a read-only directory, and one with a log, can be restored")
    func readOnly() async throws {
        try await story()
        chmod(file, 0o400)
        chmod(elsewhere.directory, 0o500)
        defer { chmod(elsewhere.directory, 0o700) }
        #expect(try await queue.run("restore", file, "--force").code == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: elsewhere.directory)
                == ["backup.db"])
        // Another queue, which was in use.
        let other = try CommandLineQueue()
        #expect(try await logOf(other).isEmpty == false)
        #expect(try await queue.run("restore", other.path, "--force").code == 0)
        #expect(try await queue.run("list").output.contains("More?"))
        #expect(try await queue.isSound())
    }

    @Test("A restore is busy while a program keeps reading the queue, and changes nothing")
    func reader() async throws {
        try await story()
        _ = try await logOf(queue)
        let reader = try await QueueReader(of: queue)
        let busy = try await queue.run("restore", file, "--force")
        #expect(busy.code == 75 && busy.errors.contains("keeps reading"), "\(busy)")
        #expect(try files() == [])
        await reader.end()
        #expect(try await queue.run("list").output.contains("Two?"))
        #expect(try await queue.run("restore", file, "--force").code == 0)
    }

    @Test("Programs that have the queue open report that it was replaced, and write nothing to it")
    func open() async throws {
        try await story()
        let asker = try queue.start(["ask", "Gone?", "-b", "yes", "--cancel", "no"])
        let stays = try queue.start(["watch", "--json"])
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        #expect(await eventually { stays.output.text.contains("asked") || stays.poll() == nil })
        let restored = try #require(try await queue.objects("restore", file, "--force").first)
        let kept = try #require((restored["kept"] as? [String])?.first)
        let ended = await asker.finish()
        #expect(ended.code == 74, "\(ended)")
        #expect(
            ended.errors.contains("replaced") || ended.errors.contains("took its place"),
            "\(ended)")
        let watched = await stays.finish()
        #expect(watched.code == 74, "\(watched)")
        #expect(try await queue.isSound())
        let replaced = try #require(restored["replaced"] as? String)
        let old = try await queue.start(["audit", "head", "--database", kept]).finish()
        #expect(old.output == replaced + "\n")
    }

    @Test("An ask whose alert is in the backup gets its answer from the restored queue")
    func waiting() async throws {
        let asker = try queue.start(["ask", "Stays?", "-b", "yes", "--cancel", "no"])
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        #expect(try await queue.run("backup", file).code == 0)
        #expect(try await queue.run("restore", file).code == 0)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let answered = await asker.finish()
        #expect(answered.code == 0 && answered.output == "yes\n", "\(answered)")
        #expect(try await queue.isSound())
    }

    @Test("While others write, no asker loses an acknowledged alert without an error")
    func racing() async throws {
        try await story()
        var random = TestRandom()
        for round in 1...5 {
            let writers = try (1...4).map { number in
                let program = CommandLineQueue.program
                let loop = """
                    for i in 1 2 3 4 5 6 7 8; do "\(program)" notify "$i of \(number)" || :; done
                    """
                return try Child(
                    "sh", ["-c", loop], environment: ["ALERTQ_DATABASE": queue.path])
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &random)))
            let restored = try await queue.objects("restore", file, "--force").first
            var told: [String] = []
            for writer in writers {
                let finished = await writer.finish()
                told += finished.output.split(separator: "\n").map(String.init)
            }
            let kept = try #require((restored?["kept"] as? [String])?.first, "round \(round)")
            let old = try Child("sqlite3", [kept, "SELECT id FROM alerts"])
            _ = await old.exit()
            let before = await old.output.complete().split(separator: "\n").map(String.init)
            let after = try await queue.rows("SELECT id FROM alerts")
            #expect(Set(told).isSubset(of: Set(before + after)))
            #expect(Set(told).count == told.count, "an id was given twice")
            #expect(try await queue.isSound())
        }
    }

    @Test(
        "A queue that a group shares keeps its owner, group and mode",
        .enabled(if: geteuid() == 0, "only root can become other users"))
    func shared() async throws {
        let queue = try CommandLineQueue(sharedBy: 60_010)
        let accounts = [
            LinuxAccount(uid: 60_001, gid: 60_010), LinuxAccount(uid: 60_002, gid: 60_010),
        ]
        #expect(try await queue.start(["notify", "One"], as: accounts[0]).exit() == 0)
        #expect(try await queue.run("backup", file).code == 0)
        #expect(try await queue.run("restore", file).code == 0)
        var status = stat()
        #expect(stat(queue.path, &status) == 0)
        #expect(status.st_uid == 60_001 && status.st_gid == 60_010)
        #expect(status.st_mode & 0o777 == 0o660)
        for account in accounts {
            #expect(try await queue.start(["notify", "Two"], as: account).exit() == 0)
        }
        #expect(try await queue.isSound())
    }
}
