import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// What people do with the one file of a queue: copy it, put copies back, mount it, damage it.
@Suite("Copied files", .inParallel)
struct CopiedFileTests {
    private let queue: CommandLineQueue
    private var copy: String { queue.directory + "/copy.db" }
    private var backup: String { queue.directory + "/backup.db" }

    init() throws { queue = try CommandLineQueue() }

    private func ask(_ titles: String...) async throws {
        for title in titles {
            let asked = try await queue.run("ask", title, "-b", "yes", "--detach")
            #expect(asked.code == 0, "\(asked)")
        }
    }

    /// Writes a file's bytes over another one, as cp(1) does.
    private func overwrite(_ target: String, with source: String) async throws {
        #expect(try await Child("cp", [source, target]).exit() == 0)
    }

    private func bytes(of path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private func titles(in database: String? = nil) async throws -> [String] {
        try await queue.objects("list", "--database", database ?? queue.path)
            .compactMap { $0["title"] as? String }
    }

    @Test("At rest, a copy of the database alone has everything")
    func atRest() async throws {
        try await ask("One?", "Two?", "Three?")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        try await overwrite(copy, with: queue.path)
        #expect(try await titles(in: copy) == ["One?", "Three?"])
        let verified = try await queue.run("audit", "verify", "--database", copy)
        #expect(verified.output == "4 entries verify\n", "\(verified)")
    }

    @Test("The log of a killed process is copied by the next one that writes")
    func killed() async throws {
        try await queue.askAndKill("Killed?")
        let log = URL(filePath: queue.path + "-wal")
        #expect(try Data(contentsOf: log).isEmpty == false)
        try await ask("Next?")
        #expect(try Data(contentsOf: log).isEmpty)
        try await overwrite(copy, with: queue.path)
        #expect(try await titles(in: copy) == ["Killed?", "Next?"])
    }

    @Test("A backup copied over the queue is read and restored, and nothing else")
    func backupCopiedOver() async throws {
        try await ask("One?", "Two?", "Three?")
        #expect(try await queue.run("backup", backup).code == 0)
        try await ask("Four?")
        try await overwrite(queue.path, with: backup)
        #expect(try await titles() == ["One?", "Two?", "Three?"])
        for verb in [
            ["ask", "Five?", "-b", "yes", "--detach"], ["answer", "1", "yes"], ["withdraw", "1"],
            ["collect", "key"], ["notify", "Six"], ["purge", "--older-than", "1d"],
            ["wait", "1"],
        ] {
            let refused = try await queue.start(verb).finish()
            #expect(refused.code == 65, "\(verb): \(refused)")
            #expect(refused.errors.contains("its log ends with entry 3, of 20"), "\(refused)")
            #expect(refused.errors.contains("alertq restore"), "\(refused)")
        }
        let present = try bytes(of: queue.path)
        #expect(try bytes(of: backup) == present)
        let restored = try await queue.run("restore", queue.path)
        #expect(restored.code == 0, "\(restored)")
        #expect(restored.errors.contains("a newer backup may have more"), "\(restored)")
        try await ask("Five?")
        #expect(try await titles() == ["One?", "Two?", "Three?", "Five?"])
        #expect(try await queue.run("audit", "verify").code == 0)
    }

    @Test("A log that is left of an overwritten queue is dropped only with --force, and kept")
    func leftLog() async throws {
        try await ask("One?")
        #expect(try await queue.run("backup", backup).code == 0)
        try await queue.askAndKill("Two?")
        let log = try bytes(of: queue.path + "-wal")
        try await overwrite(queue.path, with: backup)
        let refused = try await queue.run("restore", backup)
        #expect(refused.code == 77 && refused.errors.contains("--force"), "\(refused)")
        let restored = try #require(try await queue.objects("restore", backup, "--force").first)
        let kept = try #require(restored["kept"] as? [String])
        #expect(kept.count == 2)
        #expect(try bytes(of: kept[1]) == log)
        #expect(try await titles() == ["One?"])
    }

    @Test("A backup is read without a trace, and without the log next to it")
    func readBackup() async throws {
        let asked = try await queue.run(
            "ask", "Soon?", "-b", "yes", "--timeout", "2s", "--detach")
        #expect(asked.code == 0)
        #expect(try await queue.run("backup", backup).code == 0)
        // A log of the same queue, which would fit it.
        try await queue.askAndKill("Later?")
        try await overwrite(backup + "-wal", with: queue.path + "-wal")
        // Its deadline passes.
        let late = ["show", "1", "--json"]
        #expect(
            try await eventually {
                try await queue.start(late).finish().output.contains("\"expired\"")
            })
        let before = try bytes(of: backup)
        let names = try FileManager.default.contentsOfDirectory(atPath: queue.directory).sorted()
        for verb in [
            ["history"], ["history", "--text", "soon"], ["stats"], ["show", "1"],
            ["audit", "verify"], ["audit", "head"], ["audit", "export"], ["list", "--count"],
        ] {
            let read = try await queue.start(verb + ["--database", backup]).finish()
            #expect(read.code == 0, "\(verb): \(read)")
        }
        #expect(try bytes(of: backup) == before)
        let found = try FileManager.default.contentsOfDirectory(atPath: queue.directory).sorted()
        #expect(found == names)
    }

    @Test(
        "A process whose database is overwritten writes nothing more to it",
        arguments: ["a backup", "another program", "an earlier copy", "nothing", "random bytes"])
    func overwritten(by what: String) async throws {
        try await ask("One?")
        try await overwrite(copy, with: queue.path)
        #expect(try await queue.run("backup", backup).code == 0)
        // The file grows: its header then is a later one.
        let text = String(repeating: "x", count: 60_000)
        let asked = try await queue.run("ask", "Two?", "-b", "yes", "-m", text, "--detach")
        #expect(asked.code == 0)
        let client = try await QueueClient(on: queue)
        #expect(try await client.ask("ask", ["title": "Before?"]).error == nil)
        switch what {
        case "a backup": try await overwrite(queue.path, with: backup)
        case "another program":
            // Its database has been written more often, and only its mark tells them apart.
            let other = queue.directory + "/other.db"
            let inserts = String(repeating: "INSERT INTO t VALUES (1);", count: 40)
            let shell = try Child("sqlite3", [other, "CREATE TABLE t (x);" + inserts])
            #expect(await shell.exit() == 0)
            try await overwrite(queue.path, with: other)
        case "an earlier copy": try await overwrite(queue.path, with: copy)
        case "nothing": #expect(truncate(queue.path, 0) == 0)
        default:
            let noise = Data((0..<40_960).map { _ in .random(in: 0...255) })
            try noise.write(to: URL(filePath: copy))
            try await overwrite(queue.path, with: copy)
        }
        let present = try bytes(of: queue.path)
        for _ in 1...2 {
            let refused = try await client.ask("ask", ["title": "After?"])
            #expect(refused.error == "incompatible", "\(refused)")
        }
        _ = await client.end()
        #expect(try bytes(of: queue.path) == present)
    }

    @Test(
        "What waits on a database that is overwritten ends with one line that says so",
        arguments: ["ask W -b y", "watch", "watch --exec true", "present --on command:true"])
    func waiting(verb: String) async throws {
        try await ask("One?")
        #expect(try await queue.run("snooze", "1", "--for", "1h").code == 0)
        #expect(try await queue.run("backup", backup).code == 0)
        try await ask("Two?")
        #expect(try await queue.run("snooze", "2", "--for", "30m").code == 0)
        let waiting = try queue.start(verb.split(separator: " ").map(String.init))
        #expect(await eventually { waiting.isWatchingFiles })
        try await overwrite(queue.path, with: backup)
        let end = await waiting.finish()
        #expect(end.code == 74, "\(end)")
        // It may see the other file's header first, or pages of both files.
        let reasons = end.errors.split(separator: "\n").filter {
            $0.contains("is no longer the queue that was opened: ")
                || $0.contains("the database is damaged: ")
        }
        #expect(reasons.count == 1, "\(end)")
        #expect(!end.errors.contains("deadlines"), "\(end)")
    }

    @Test("A file that was cut or lengthened is not used", arguments: [-4096, 4096])
    func wrongSize(by difference: Int) async throws {
        try await ask("One?")
        let size = try bytes(of: queue.path).count
        #expect(truncate(queue.path, size + difference) == 0)
        for verb in [["ask", "Two?", "-b", "yes", "--detach"], ["answer", "1", "yes"], ["list"]] {
            let refused = try await queue.start(verb).finish()
            #expect(refused.code == 74, "\(verb): \(refused)")
            #expect(refused.errors.contains("its header says \(size)"), "\(refused)")
        }
    }

    @Test("A database with a name in another directory is refused under both names")
    func twoDirectories() async throws {
        try await ask("One?")
        let other = queue.directory + "/other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try FileManager.default.linkItem(atPath: queue.path, toPath: other + "/queue.db")
        // A symbolic link is no name of its own.
        try FileManager.default.createSymbolicLink(
            atPath: queue.directory + "/symbolic.db", withDestinationPath: queue.path)
        for path in [queue.path, other + "/queue.db"] {
            let refused = try await queue.run("list", "--database", path)
            #expect(refused.code == 77 && refused.errors.contains("2 names"), "\(refused)")
        }
        try FileManager.default.removeItem(atPath: other + "/queue.db")
        // Left by a process that was killed in a file system without the renames that it prefers.
        try FileManager.default.linkItem(atPath: queue.path, toPath: queue.directory + "/second")
        try await ask("Two?")
        #expect(try await titles() == ["One?", "Two?"])
    }

    @Test("A database that is a mount of its own is refused, and a mounted directory is not")
    func mounted() async throws {
        try await ask("One?")
        let inside = queue.directory + "/inside"
        try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: false)
        try Data().write(to: URL(filePath: inside + "/queue.db"))
        let script = """
            mount --bind "$1/queue.db" "$1/inside/queue.db"
            "$0" ask Two? -b yes --detach --database "$1/inside/queue.db"; echo $?
            umount "$1/inside/queue.db"; mkdir "$1/whole"; mount --bind "$1" "$1/whole"
            "$0" ask Two? -b yes --detach --database "$1/whole/queue.db"; echo $?
            """
        let run = try await Child(
            "unshare", ["-m", "sh", "-c", script, CommandLineQueue.program, queue.directory]
        ).finish()
        #expect(run.output == "77\n2\n0\n", "\(run)")
        #expect(run.errors.contains("mount the directory of that file instead"), "\(run)")
    }

    @Test("A copy that does not verify is no backup: the good ones stay")
    func damaged() async throws {
        try await ask("One?", "Two?")
        let folder = queue.directory + "/backups"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(try await queue.run("backup", folder, "--keep", "2").code == 0)
        let good = try FileManager.default.contentsOfDirectory(atPath: folder)
        let index = "SELECT rootpage FROM sqlite_schema WHERE name = 'alerts_snoozed'"
        let page = try #require(try await queue.rows(index).first.flatMap { UInt64($0) })
        let handle = try FileHandle(forUpdating: URL(filePath: queue.path))
        try handle.seek(toOffset: (page - 1) * 4096)
        try handle.write(contentsOf: Data((0..<4096).map { _ in .random(in: 0...255) }))
        try handle.close()
        for _ in 1...2 {
            let refused = try await queue.run("backup", folder, "--keep", "2")
            #expect(refused.code == 65, "\(refused)")
            #expect(refused.errors.contains("no older backup was removed"), "\(refused)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(Set(good).isSubset(of: names))
        #expect(names.count { $0.contains("-damaged") } == 2 && names.count == 3, "\(names)")
        let verified = try await queue.run(
            "audit", "verify", "--database", folder + "/" + (good.first ?? ""))
        #expect(verified.code == 0, "\(verified)")
    }

    @Test("Nothing more is written after a last entry that was forged, and the log says which")
    func forgedHead() async throws {
        try await ask("One?", "Two?")
        let forge = """
            CREATE TEMP TABLE kept AS SELECT sql FROM sqlite_schema
                WHERE name = 'audit_is_append_only_update';
            DROP TRIGGER audit_is_append_only_update;
            UPDATE audit SET host = 'elsewhere' WHERE seq = 2;
            """
        let trigger = try await Child(
            "sqlite3",
            [
                queue.path,
                "SELECT sql FROM sqlite_schema WHERE name = 'audit_is_append_only_update'",
            ]
        ).finish().output
        let forged = try await Child("sqlite3", [queue.path, forge + trigger]).finish()
        #expect(forged.code == 0, "\(forged)")
        let refused = try await queue.run("ask", "Three?", "-b", "yes", "--detach")
        #expect(refused.code == 65 && refused.errors.contains("last entry"), "\(refused)")
        let verified = try await queue.run("audit", "verify")
        #expect(verified.code == 65 && verified.errors.contains("entry 2"), "\(verified)")
    }
}
