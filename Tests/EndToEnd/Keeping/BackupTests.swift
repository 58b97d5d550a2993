import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

@Suite("Backup", .inParallel)
struct BackupTests {
    let queue: CommandLineQueue
    let elsewhere: CommandLineQueue
    private var file: String { elsewhere.directory + "/backup.db" }

    init() throws {
        queue = try CommandLineQueue()
        elsewhere = try CommandLineQueue()
    }

    private func ask(_ title: String = "Prune?") async throws {
        let asked = try await queue.run("ask", title, "-b", "yes", "--cancel", "no", "--detach")
        #expect(asked.code == 0, "\(asked)")
    }

    /// The files next to a backup, of which there are none before it is opened.
    private func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }

    @Test(
        "A lock that the file system can't give is an error of the disk, and nobody is to try again",
        .enabled(if: Sanitizer.name == nil, "a sanitizer can't be traced"),
        arguments: ["ENOLCK", "ENOSYS", "EINVAL"])
    func noLocks(reason: String) async throws {
        #expect(try await queue.run("notify", "Done").code == 0)
        let trace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=flock"]
        let backup = try await queue.start(
            ["backup", queue.directory + "/copy.db"],
            under: trace + ["-e", "inject=flock:error=\(reason)"]
        ).finish()
        #expect(backup.code == 74, "\(backup)")
        #expect(backup.errors.contains("can't lock "), "\(backup)")
        #expect(!backup.errors.contains("another process"), "\(backup)")
    }

    @Test("A file in the place of a draft is named, and nobody is to try again")
    func inTheWay() async throws {
        #expect(try await queue.run("notify", "Done").code == 0)
        let target = queue.directory + "/copy.db"
        let backup = try await queue.start(
            ["backup", target],
            under: ["sh", "-c", "echo mine > \"$0-new.$$\" && exec \"$@\"", target]
        ).finish()
        #expect(backup.code == 74, "\(backup)")
        #expect(backup.errors.contains("another file is there"), "\(backup)")
    }

    @Test(
        "Verbs that are refused leave nothing next to a backup, or a file that is no queue",
        arguments: [
            ["ask", "Q?", "--detach"], ["answer", "1", "yes"], ["purge", "--older-than", "1d"],
            ["collect", "--id", "1"], ["doctor"], ["doctor", "--reindex"],
            ["watch", "--exec", "true"], ["snooze", "1"], ["withdraw", "1"],
        ])
    func leavesNothing(verb: [String]) async throws {
        let place = try TemporaryDirectory("alertq-backup-")
        #expect(try await queue.run("ask", "One?", "-b", "yes", "--detach").code == 0)
        #expect(try await queue.run("backup", place.path + "/copy.db").code == 0)
        try "text".write(toFile: place.path + "/text.db", atomically: true, encoding: .utf8)
        for name in ["copy.db", "text.db"] {
            let path = place.path + "/" + name
            let told = try await queue.start(verb + ["--database", path]).finish()
            #expect(told.code != 0, "\(name): \(told)")
            let found = try FileManager.default.contentsOfDirectory(atPath: place.path)
            #expect(found.sorted() == ["copy.db", "text.db"], "\(name): \(told)")
        }
    }

    @Test("A backup is one file for its owner alone, and the printed command checks it")
    func one() async throws {
        try await ask()
        let made = try await queue.run("backup", file)
        #expect(made.code == 0, "\(made)")
        #expect(made.errors.isEmpty)
        #expect(try names(in: elsewhere.directory) == ["backup.db"])
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let head = try await queue.run("audit", "head").output.dropLast()
        let size = attributes[.size] as? Int ?? 0
        #expect(
            made.output == """
                backed up to \(file) (\(size) bytes)
                head   \(head)
                check  alertq audit verify --database \(file) --head \(head)

                """)
        let words = ["audit", "verify", "--database", file, "--head", String(head)]
        let checked = try await queue.start(words).finish()
        #expect(checked.output == "1 entry verifies\n", "\(checked)")
        let listed = try await queue.run("list", "--database", file, "--json")
        #expect(listed.output == (try await queue.run("list", "--json").output))
    }

    @Test("With --json it prints path, size, head, check and removed")
    func json() async throws {
        try await ask()
        let made = try #require(try await queue.objects("backup", file).first)
        #expect(Set(made.keys) == ["path", "size", "head", "check", "removed"])
        #expect(made["path"] as? String == file && (made["removed"] as? [String]) == [])
    }

    @Test("A file that exists is replaced only with --force")
    func exists() async throws {
        try await ask()
        try Data("mine".utf8).write(to: URL(filePath: file))
        let refused = try await queue.run("backup", file)
        #expect(refused.code == 74 && refused.errors.contains("--force"), "\(refused)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        #expect(try await queue.run("backup", file, "--force").code == 0)
        #expect(try await queue.run("audit", "verify", "--database", file).code == 0)
        #expect(try names(in: elsewhere.directory).filter { $0.contains("-new") } == [])
    }

    @Test("A log next to the file is not taken for the backup's log")
    func strayLog() async throws {
        try await ask()
        // A queue with a log, whose database is lost.
        try await queue.askAndKill("Another?")
        try FileManager.default.copyItem(atPath: queue.path + "-wal", toPath: file + "-wal")
        #expect(try await queue.run("backup", file).code == 0)
        #expect(try names(in: elsewhere.directory) == ["backup.db"])
        // The log of an existing database has commits that exist nowhere else.
        try await queue.askAndKill("A third?")
        try FileManager.default.copyItem(atPath: queue.path + "-wal", toPath: file + "-wal")
        let refused = try await queue.run("backup", file, "--force")
        #expect(refused.code == 74 && refused.errors.contains("-wal belongs to it"), "\(refused)")
    }

    @Test("The queue's own files and missing directories are refused")
    func refused() async throws {
        try await ask()
        let link = elsewhere.directory + "/link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: queue.directory)
        for (path, code) in [
            (queue.path, 65), (link + "/queue.db", 65), (queue.path + "-wal", 65),
            (queue.path + "-journal", 65), (elsewhere.directory + "/none/b.db", 74), ("", 64),
        ] {
            let refused = try await queue.run("backup", path, "--force")
            #expect(refused.code == Int32(code), "\(path): \(refused)")
        }
        #expect(try await queue.run("backup", file, "--keep", "2").code == 64)
        #expect(try await queue.run("backup", elsewhere.directory, "--keep", "0").code == 64)
        #expect(try await elsewhere.run("backup", file).code == 66)
        #expect(try await queue.isSound())
    }

    @Test("In a directory, names have the time, and --keep removes only the oldest backups")
    func keep() async throws {
        try await ask()
        let directory = elsewhere.directory
        let strangers = [
            "queue-2020-01-01T00-00-00Z.db.txt", "queue-old.db", "other-2020-01-01T00-00-00Z.db",
        ]
        let old = (1...3).map { "queue-2020-01-0\($0)T00-00-00Z.db" }
        for name in strangers + [old[1] + "-wal"] {
            try Data().write(to: URL(filePath: directory + "/" + name))
        }
        // Nor is a file with such a name that is not a backup of this queue.
        let unknown = "queue-2020-01-04T00-00-00Z.db"
        try Data("unknown".utf8).write(to: URL(filePath: directory + "/" + unknown))
        #expect(try await queue.run("backup", directory + "/" + old[0]).code == 0)
        for name in old[1...] {
            try FileManager.default.copyItem(
                atPath: directory + "/" + old[0], toPath: directory + "/" + name)
        }
        let made = try #require(try await queue.objects("backup", directory, "--keep", "2").first)
        let path = try #require(made["path"] as? String)
        #expect(
            path.wholeMatch(of: /.*\/queue-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db/) != nil, "\(path)")
        #expect(made["removed"] as? [String] == old[...1].map { directory + "/" + $0 })
        let left = try names(in: directory)
        let kept = [old[2], unknown, URL(filePath: path).lastPathComponent]
        #expect(left == (strangers + kept).sorted())
        // Without --keep all stay, even two of the same second.
        for _ in 1...2 { #expect(try await queue.run("backup", directory).code == 0) }
        #expect(try names(in: directory).count == left.count + 2)
    }

    @Test("The remains of a killed backup are removed, those of a running one are not")
    func leftovers() async throws {
        try await ask()
        let (dead, alive) = (file + "-new.999999", file + "-new.999998")
        for draft in [dead, dead + "-shm", alive] {
            try Data().write(to: URL(filePath: draft))
            chmod(draft, 0o600)
        }
        let lock = try Child("flock", [alive, "-c", "echo locked; sleep 60"])
        #expect(await eventually { lock.output.text == "locked\n" })
        #expect(try await queue.run("backup", file).code == 0)
        #expect(try names(in: elsewhere.directory) == ["backup.db", "backup.db-new.999998"])
        lock.kill(SIGKILL)
        _ = await lock.exit()
    }

    @Test("While several processes write, each backup verifies, and its head is in the log")
    func underLoad() async throws {
        try await ask()
        let writers = try (1...4).map { number in
            let program = CommandLineQueue.program
            let loop = """
                while :; do "\(program)" notify "From \(number)" --dismiss-after 1d || exit; done
                """
            return try Child("sh", ["-c", loop], environment: ["ALERTQ_DATABASE": queue.path])
        }
        for number in 1...6 {
            let made = try await queue.objects("backup", "\(file)-\(number)").first
            let head = try #require(made?["head"] as? String)
            let words = ["audit", "verify", "--head", head]
            let copy = try await queue.start(words + ["--database", "\(file)-\(number)"]).finish()
            #expect(copy.code == 0, "\(copy)")
            let live = try await queue.start(words).finish()
            #expect(live.code == 0, "\(live)")
        }
        for writer in writers {
            writer.kill(SIGKILL)
            _ = await writer.exit()
        }
        #expect(try await queue.isSound())
    }

    @Test("An interrupted backup ends at once and leaves nothing")
    func interrupted() async throws {
        try await ask()
        for signal in [SIGINT, SIGTERM, SIGKILL] {
            for milliseconds in [5, 20, 40] {
                let child = try queue.start(["backup", file, "--force"])
                try await Task.sleep(for: .milliseconds(milliseconds))
                child.kill(signal)
                _ = await child.exit()
            }
        }
        #expect(try await queue.run("backup", file, "--force").code == 0)
        #expect(try names(in: elsewhere.directory).filter { $0.contains("-new.") } == [])
        #expect(try await queue.run("audit", "verify", "--database", file).code == 0)
    }
}
