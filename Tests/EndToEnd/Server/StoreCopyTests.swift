import Foundation
import Glibc
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// `alertq store copy`, through the built command.
@Suite("Moving a queue", .inParallel, .needsServer)
struct StoreCopyTests {
    let file: CommandLineQueue
    let server: CommandLineQueue

    init() async throws {
        file = try CommandLineQueue()
        server = try await Self.emptyQueue()
    }

    private static func emptyQueue() async throws -> CommandLineQueue {
        let server = try await PostgreSQLServer.durable.value
        let queue = try CommandLineQueue(at: server.uri + "&queue=" + UUID().uuidString)
        let made = try await queue.run("doctor", "--setup-postgresql")
        guard made.code == 0 else { throw TestingError("\(made)") }
        return queue
    }

    private static let verifier = URL(filePath: #filePath)
        .appending(path: "../../../SQLiteStoreTests/Log/verify.py").standardizedFileURL.path

    private static let buttons = ["-b", "yes=Prune", "--cancel", "no=Keep"]

    /// Something of everything that a queue can have.
    private func fill(_ queue: CommandLineQueue) async throws {
        let ask = ["ask", "Prune?"] + Self.buttons + ["--detach"]
        for key in ["answered", "waiting", "snoozed", "erased"] {
            _ = try await queue.start(ask + ["--key", key]).finish()
        }
        _ = try await queue.start(ask + ["--timeout", "1ms"]).finish()
        _ = try await queue.start(
            ask + ["--field", "name=Name", "--valid", "1d", "--source", "söurce"]
        ).finish()
        _ = try await queue.run("notify", "Done", "-i", "path=/backup")
        _ = try await queue.run("answer", "1", "yes", "--note", "soon")
        _ = try await queue.run("snooze", "3", "--for", "1d")
        _ = try await queue.run("answer", "4", "no")
        _ = try await queue.run("collect", "erased")
        _ = try await queue.run("purge", "--older-than", "1ms")
        #expect(try await queue.objects("history").contains { $0["title"] is NSNull })
        _ = try await queue.run("answer", "6", "yes", "--set", "name=nas 備份")
    }

    /// What a reader sees of every alert and of the log, but for the machine of accounts.
    private func told(of queue: CommandLineQueue) async throws -> [String] {
        var told: [String] = []
        for verb in [
            ["list"], ["history"], ["history", "--text", "備份"],
            ["audit", "list", "--limit", "1000"], ["stats"], ["audit", "head"],
        ] {
            let result = try await queue.start(verb + ["--json"]).finish()
            #expect(result.code == 0, "\(result)")
            told.append("\(verb) \(result.output)")
        }
        return told
    }

    private func head(of queue: CommandLineQueue) async throws -> String {
        try await queue.run("audit", "head").output
    }

    @Test("A queue goes to a server and back with the same head, and everything in it")
    func thereAndBack() async throws {
        try await fill(file)
        let (before, head) = (try await told(of: file), try await head(of: file))
        let moved = try await file.run("store", "copy", file.path, server.path)
        #expect(moved.code == 0, "\(moved)")
        #expect(moved.output.contains(head.trimmingCharacters(in: .newlines)))
        #expect(try await told(of: server) == before)
        #expect(try await server.run("audit", "verify").code == 0)

        // It goes on there: with its keys, and with ids that follow.
        let again = try await server.start(
            ["ask", "Prune?"] + Self.buttons + ["--key", "answered"]
        ).finish()
        #expect(again.code == 0 && again.output.hasPrefix("yes\n"), "\(again)")
        #expect(try await server.run("answer", "--key", "waiting", "no").code == 0)
        #expect(try await server.run("notify", "New").code == 0)
        let (there, newHead) = (try await told(of: server), try await self.head(of: server))

        let back = try CommandLineQueue()
        let returned = try await back.run("store", "copy", server.path, back.path)
        #expect(returned.code == 0, "\(returned)")
        #expect(try await self.head(of: back) == newHead)
        #expect(try await told(of: back) == there)
        #expect(try await back.isSound())
        let verified = try await Child.run("python3", Self.verifier, back.path)
        #expect(verified.code == 0 && verified.output.replacing(" ", with: ":") == newHead)
        #expect(
            try await back.run("audit", "verify", "--head", String(head.dropLast())).code == 0)
    }

    @Test("A queue can be moved after its server's clock was set")
    func clockWasSet() async throws {
        let own = try await PostgreSQLServer(isSynced: true, isSettable: true)
        let queues = try ["from", "to"].map { try CommandLineQueue(at: own.uri + "&queue=" + $0) }
        for queue in queues {
            #expect(try await queue.run("doctor", "--setup-postgresql").code == 0)
        }
        // One process that looks twice finds it out.
        let asker = try queues[0].start(["ask", "Go?"] + Self.buttons)
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        try own.setClock(3600)
        #expect(
            try await eventually {
                try await queues[0].objects("audit", "list").contains {
                    $0["event"] as? String == "clock"
                }
            })
        #expect(try await queues[0].run("answer", "1", "yes").code == 0)
        #expect(await asker.exit() == 0)
        let copied = try await queues[0].run("store", "copy", queues[0].path, queues[1].path)
        #expect(copied.code == 0, "\(copied)")
        #expect(try await queues[1].run("audit", "verify").code == 0)
    }

    @Test("A queue that has moved is not written to, and says where it goes on")
    func moved() async throws {
        try await fill(file)
        let terminal = try PseudoTerminal(columns: 80)
        let screen = try file.start(["present"], on: terminal)
        #expect(await eventually { terminal.text.contains("Enter chooses") })
        let asker = try file.start(["ask", "Go?"] + Self.buttons)
        #expect(
            try await eventually {
                try await file.objects("list").contains { $0["title"] as? String == "Go?" }
            })
        #expect(try await file.run("store", "copy", file.path, server.path).code == 0)
        let ended = await asker.finish()
        #expect(ended.code == 74 && ended.errors.contains("has moved to"), "\(ended)")
        let left = await screen.finish()
        #expect(left.code == 74, "\(left) \(terminal.text)")
        for words in [["ask", "More?", "-b", "a"], ["answer", "2", "yes"], ["notify", "x"]] {
            let refused = try await file.start(words).finish()
            #expect(refused.code == 74 && refused.errors.contains("has moved to"), "\(refused)")
        }
        let listed = try await file.run("list")
        #expect(listed.code == 0 && listed.errors.contains("has moved to"), "\(listed)")
        let checked = try await file.run("doctor")
        #expect(checked.code == 74 && checked.output.contains("has moved to"), "\(checked)")
        #expect(try await file.isSound())
        // The same for one on a server.
        let back = try CommandLineQueue()
        let waiting = try server.start(["ask", "Still?"] + Self.buttons)
        #expect(await eventually { waiting.errors.text.contains("waiting for an answer") })
        #expect(try await back.run("store", "copy", server.path, back.path).code == 0)
        let told = await waiting.finish()
        #expect(told.code == 74 && told.errors.contains("has moved to"), "\(told)")
        let refused = try await server.run("answer", "2", "yes")
        #expect(refused.code == 74 && refused.errors.contains(back.path), "\(refused)")
        // Whoever is sent there has a role of their own.
        #expect(!ended.errors.contains("user="), "\(ended)")
    }

    @Test("A move that was done is found to be done, and a queue moves to one place")
    func repeated() async throws {
        try await fill(file)
        #expect(try await file.run("store", "copy", file.path, server.path).code == 0)
        #expect(try await server.run("notify", "Later").code == 0)
        #expect(try await file.run("store", "copy", file.path, server.path).code == 0)
        let elsewhere = try await file.run(
            "store", "copy", file.path, file.directory + "/other.db")
        #expect(elsewhere.code == 74 && elsewhere.errors.contains("has moved to"))
        #expect(!FileManager.default.fileExists(atPath: file.directory + "/other.db"))
    }

    @Test("A backup of a queue that has moved becomes another queue only by force")
    func backup() async throws {
        try await fill(file)
        let (backup, other) = (file.directory + "/backup.db", try CommandLineQueue())
        #expect(try await file.run("store", "copy", file.path, server.path).code == 0)
        #expect(try await file.run("backup", backup).code == 0)
        let refused = try await other.run("restore", backup)
        #expect(refused.code == 65 && refused.errors.contains("has moved to"), "\(refused)")
        #expect(try await other.run("restore", backup, "--force").code == 0)
        #expect(try await other.run("answer", "2", "yes").code == 0)
        #expect(try await other.isSound())
    }

    @Test("What can't be moved is refused, and nothing has changed")
    func refusals() async throws {
        try await fill(file)
        let before = try await told(of: file)
        let (other, missing) = (try CommandLineQueue(), file.directory + "/missing.db")
        _ = try await other.run("notify", "x")
        _ = try await server.run("notify", "x")
        let wrong: [([String], Int32, String)] = [
            ([file.path, other.path], 74, "already exists"),
            ([file.path, server.path], 65, "is not empty"),
            ([missing, other.path], 66, "no queue"),
            ([server.path, missing, "--host", "web1"], 65, "--host"),
            ([file.path, file.path], 65, "the same queue"),
            ([server.path, server.path + "&host_name=web1"], 65, "the same queue"),
            ([file.path, "pgsql:alertq"], 65, "./NAME"),
            ([file.path, file.directory + "/none/queue.db"], 74, "none"),
        ]
        for (words, code, sentence) in wrong {
            let refused = try await file.start(["store", "copy"] + words).finish()
            #expect(refused.code == code && refused.errors.contains(sentence), "\(refused)")
        }
        #expect(try await told(of: file) == before)
        #expect(try await file.run("notify", "goes on").code == 0)
        try await file.forge("UPDATE alerts SET title = 'Forged' WHERE id = 2")
        let forged = try await file.run("store", "copy", file.path, missing)
        #expect(forged.code == 65 && forged.errors.contains("does not verify"), "\(forged)")
        #expect(!FileManager.default.fileExists(atPath: missing))
        #expect(try await file.run("notify", "still").code == 0)
    }

    @Test("A file whose queue has moved stays closed without the files next to it")
    func alone() async throws {
        try await fill(file)
        let (other, copy) = (try CommandLineQueue(), try CommandLineQueue())
        #expect(try await file.run("store", "copy", file.path, other.path).code == 0)
        try FileManager.default.copyItem(atPath: file.path, toPath: copy.path)
        let refused = try await copy.run("notify", "x")
        #expect(refused.code == 74 && refused.errors.contains("has moved to"), "\(refused)")
    }

    @Test("What is left next to a removed file does not get into the queue that takes its name")
    func leftover() async throws {
        try await fill(file)
        let (other, log) = (try CommandLineQueue(), file.path + "-wal")
        _ = try await other.run("notify", "x")
        try Data(repeating: 1, count: 5000).write(to: URL(filePath: log + "-kept"))
        try FileManager.default.removeItem(atPath: file.path)
        try? FileManager.default.removeItem(atPath: log)
        try FileManager.default.moveItem(atPath: log + "-kept", toPath: log)
        let refused = try await other.run("store", "copy", other.path, file.path)
        #expect(refused.code == 74 && refused.errors.contains("-wal is left"), "\(refused)")
        #expect(try await other.run("notify", "goes on").code == 0)
        try FileManager.default.removeItem(atPath: log)
        #expect(try await other.run("store", "copy", other.path, file.path).code == 0)
        #expect(try await file.isSound())
    }

    @Test("A link that leads nowhere is no place for a queue, and FROM goes on")
    func danglingLink() async throws {
        try await fill(file)
        let link = file.directory + "/link.db"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: file.directory + "/none")
        #expect(try await file.run("store", "copy", file.path, link).code == 74)
        #expect(try await file.run("notify", "goes on").code == 0)
    }

    @Test("A file with a second name is not moved, because it could go on under that")
    func secondName() async throws {
        try await fill(file)
        let (name, target) = (file.directory + "/second.db", file.directory + "/new.db")
        #expect(link(file.path, name) == 0)
        for from in [file.path, name] {
            let refused = try await file.run("store", "copy", from, target)
            #expect(refused.code == 77 && refused.errors.contains("2 names"), "\(refused)")
        }
        #expect(unlink(name) == 0)
        #expect(try await file.run("notify", "goes on").code == 0)
        #expect(try await file.run("store", "copy", file.path, target).code == 0)
    }

    @Test("Of two queues that move to one place at once, the other one goes on")
    func twoToOne() async throws {
        let (second, target) = (try CommandLineQueue(), try CommandLineQueue())
        try await fill(file)
        try await fill(second)
        let moves = try [file, second].map {
            try $0.start(["store", "copy", $0.path, target.path])
        }
        var codes: [Int32?] = []
        for move in moves { codes.append(await move.finish().code) }
        #expect(codes.sorted { $0 ?? 0 < $1 ?? 0 } == [0, 74], "\(codes)")
        for (queue, code) in zip([file, second], codes) {
            #expect(try await queue.run("notify", "x").code == (code == 0 ? 74 : 0))
        }
        #expect(try await target.isSound())
    }

    @Test("An empty queue moves, too")
    func empty() async throws {
        let target = try CommandLineQueue()
        #expect(try await server.run("store", "copy", server.path, target.path).code == 0)
        #expect(try await target.run("notify", "x").code == 0)
        let refused = try await target.run(
            "store", "copy", target.path, server.path, "--host", "")
        #expect(refused.code == 64, "\(refused)")
    }

    @Test(
        "A queue that root moves belongs to those who used it",
        .enabled(if: geteuid() == 0, "needs root"), arguments: [0o755, 0o2770] as [mode_t])
    func owner(mode: mode_t) async throws {
        let ana = LinuxAccount(uid: 60_001, gid: 60_001)
        let (old, new) = (try CommandLineQueue(), try CommandLineQueue())
        for (directory, uid) in [(old.directory, ana.uid), (new.directory, 0)] {
            #expect(chown(directory, uid, ana.gid) == 0)
            #expect(chmod(directory, directory == old.directory ? 0o755 : mode) == 0)
        }
        // In a directory of root's she may not create the files next to it.
        if mode == 0o755 { #expect(chown(new.directory, ana.uid, ana.gid) == 0) }
        #expect(try await old.start(["notify", "x"], as: ana).finish().code == 0)
        // By a second name, which leads to the same queue.
        let other = try CommandLineQueue()
        let link = other.directory + "/link.db"
        #expect(symlink(old.path, link) == 0)
        #expect(try await old.run("store", "copy", link, new.path).code == 0)
        var status = stat()
        #expect(stat(new.path, &status) == 0 && status.st_uid == ana.uid)
        #expect(status.st_gid == ana.gid)
        #expect(status.st_mode & 0o777 == (mode == 0o755 ? 0o600 : 0o660))
        let asked = try await new.start(["notify", "y"], as: ana).finish()
        #expect(asked.code == 0, "\(asked)")
        let refused = try await old.start(["notify", "x"], as: ana).finish()
        #expect(refused.code == 74 && refused.errors.contains("has moved to"), "\(refused)")

        // From a server, it is the owner of the directory who may use it.
        let home = try CommandLineQueue(mode: 0o755)
        #expect(chown(home.directory, ana.uid, ana.gid) == 0)
        #expect(try await server.run("store", "copy", server.path, home.path).code == 0)
        let told = try await home.start(["notify", "x"], as: ana).finish()
        #expect(told.code == 0, "\(told)")
    }

    @Test("Accounts of a file are those of the machine that --host names")
    func host() async throws {
        try await fill(file)
        let moved = try await file.run(
            "store", "copy", file.path, server.path, "--host", "web1")
        #expect(moved.code == 0, "\(moved)")
        let record = try #require(try await server.objects("show", "1").first)
        #expect(record["account_host"] as? String == "web1")
        let web = try CommandLineQueue(at: server.path + "&host_name=web1")
        let own = try #require(try await web.objects("show", "1").first)
        #expect(own["account_host"] is NSNull)
        #expect(try await web.run("collect", "answered").code == 0)
    }

    @Test("Accounts that asked on a server have their rights on servers only")
    func born() async throws {
        let ask = ["ask", "Prune?"] + Self.buttons + ["--key", "k", "--detach"]
        let web = try CommandLineQueue(at: server.path + "&host_name=web1")
        #expect(try await web.start(ask).finish().output == "1\n")
        #expect(try await web.run("answer", "1", "yes").code == 0)
        let moved = try await web.run("store", "copy", web.path, file.path)
        #expect(moved.code == 0 && moved.errors.contains("accounts of web1 keep"), "\(moved)")
        let shown = try #require(try await file.objects("show", "1").first)
        #expect(shown["account_host"] as? String == "web1")
        let left = try await file.run("collect", "--id", "1")
        #expect(left.errors.contains("left to the account that asked"), "\(left)")
        #expect(try await file.start(ask).finish().output == "2\n")

        let (back, copy) = (try await Self.emptyQueue(), ["store", "copy", file.path])
        let same = try await file.start(copy + [back.path, "--host", "web1"]).finish()
        #expect(same.code == 65 && same.errors.contains("--host"), "\(same)")
        #expect(try await file.start(copy + [back.path, "--host", "nas"]).finish().code == 0)
        let again = try CommandLineQueue(at: back.path + "&host_name=web1")
        #expect(try await again.run("collect", "k").output == "yes\n")
        #expect(try await again.run("withdraw", "2").code == 77)
        let nas = try CommandLineQueue(at: back.path + "&host_name=nas")
        #expect(try await nas.run("withdraw", "--key", "k").code == 0)
        #expect(try await nas.run("audit", "verify").code == 0)

        // Without a machine's name, they are accounts of whichever machine has the file.
        let other = try CommandLineQueue()
        let returned = try await nas.run("store", "copy", again.path, other.path)
        #expect(returned.errors.contains("accounts of nas are those"), "\(returned)")
    }

    @Test("A move that is killed at any moment goes on, and no two places take answers")
    func killed() async throws {
        let original = try CommandLineQueue()
        try await fill(original)
        for _ in 0..<40 { _ = try await original.run("notify", "Filling") }
        var random = SystemRandomNumberGenerator()
        var early = 0
        for round in 0..<FaultForm.count(short: 6, full: 200) {
            let from = try CommandLineQueue(copyOf: original.directory)
            let head = try await head(of: from)
            let to = round % 2 == 0 ? try await Self.emptyQueue() : try CommandLineQueue()
            let move = try from.start(["store", "copy", from.path, to.path])
            usleep(.random(in: 0...80_000, using: &random))
            move.kill(SIGKILL)
            if await move.exit() != 0 { early += 1 }
            let isMoved = try await from.run("notify", "After").code == 74
            let isThere = try await self.head(of: to) == head
            #expect(isMoved || !isThere)
            let now = isMoved ? head : try await self.head(of: from)
            let again = try await from.start(["store", "copy", from.path, to.path]).finish()
            #expect(again.code == 0, "\(again)")
            #expect(try await self.head(of: to) == now)
            #expect(try await from.run("notify", "After").code == 74)
            #expect(try await to.run("notify", "Here").code == 0)
            #expect(try await to.run("audit", "verify").code == 0)
        }
        #expect(early > 0)
        FaultForm.report("Moves killed: \(early) before their end")
    }
}
