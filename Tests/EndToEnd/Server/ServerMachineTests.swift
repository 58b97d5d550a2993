import Foundation
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// What people and programs of two machines see of one another, through the built command.
@Suite("Two machines with one queue", .inParallel, .needsServer)
struct ServerMachineTests {
    let web: CommandLineQueue
    let db: CommandLineQueue
    /// The queue without the name of a machine.
    let uri: String

    init() async throws {
        uri = try await CommandLineQueue.onServer().path
        web = try CommandLineQueue(at: uri + "&host_name=web1")
        db = try CommandLineQueue(at: uri + "&host_name=db7")
    }

    private static let user = NSUserName()
    /// This account, where options of another machine name it.
    private static let word = geteuid() == 0 ? "root" : "\(geteuid())"
    /// The same in a sentence.
    private static func account(_ machine: String) -> String {
        geteuid() == 0 ? "root@\(machine)" : "uid \(geteuid()) of \(machine)"
    }
    private static let buttons = ["-b", "yes=Prune", "--cancel", "no=Keep"]

    /// Two questions of web1: the first one is answered on db7, the second one on web1.
    private func ask() async throws {
        for key in ["one", "two"] {
            let words = ["ask", "Prune?"] + Self.buttons + ["--key", key, "--detach"]
            #expect(try await web.start(words).finish().code == 0)
        }
        #expect(try await db.run("answer", "1", "yes").code == 0)
        #expect(try await web.run("answer", "2", "yes").code == 0)
    }

    private func texts(_ words: String...) async throws -> (web: String, db: String) {
        (
            try await web.start(words).finish().output,
            try await db.start(words).finish().output
        )
    }

    @Test("Tables and sentences name the machine of accounts that are not of this one")
    func tables() async throws {
        try await ask()
        let history = try await texts("history")
        #expect(history.web.contains("\t\(Self.user)\tanswered\tyes\t"), "\(history.web)")
        #expect(history.web.contains(" (\(Self.user)@db7)\t"), "\(history.web)")
        #expect(history.db.contains("\t\(Self.word)@web1\tanswered\tyes\t"), "\(history.db)")
        #expect(history.db.contains(" (\(Self.user))\t"), "\(history.db)")
        let show = try await texts("show", "1")
        #expect(show.web.contains("(\(Self.user), process"), "\(show.web)")
        #expect(
            show.web.contains("answered “Prune” by \(Self.user)@db7 (a program) via"),
            "\(show.web)")
        #expect(show.web.contains("\t\(Self.user) via ask\t"), "\(show.web)")
        #expect(show.db.contains("(\(Self.account("web1")), process"), "\(show.db)")
        #expect(show.db.contains("answered “Prune” by \(Self.user) (a program) via"), "\(show.db)")
        #expect(show.db.contains("\t\(Self.user)@web1 via ask\t"), "\(show.db)")
        let log = try await texts("audit", "list")
        #expect(log.web.contains("\t\(Self.user)@db7 via answer"), "\(log.web)")
        #expect(log.db.contains("\t\(Self.user) via answer"), "\(log.db)")
        #expect(try await db.run("ask", "Reboot?", "--detach").code == 0)
        let list = try await texts("list")
        #expect(list.web.contains("\talertq\t\(Self.word)@db7\tnormal\t"), "\(list.web)")
        #expect(list.db.contains("\talertq\t\(Self.user)\tnormal\t"), "\(list.db)")
    }

    @Test("JSON, CSV and the views name machines, and the exported log as it was hashed")
    func machineReadable() async throws {
        try await ask()
        let seen = try await db.objects("show", "1")[0]
        #expect(seen["account_host"] as? String == "web1")
        #expect((seen["responder"] as? [String: Any])?["account_host"] is NSNull)
        let own = try await web.objects("show", "1")[0]
        #expect(own["account_host"] is NSNull)
        #expect((own["responder"] as? [String: Any])?["account_host"] as? String == "db7")
        let views: [(CommandLineQueue, [String?])] = [
            (web, [nil, nil, "db7", nil]), (db, ["web1", "web1", nil, "web1"]),
        ]
        for (queue, hosts) in views {
            let entries = try await queue.objects("audit", "list")
            let responders = entries.map { $0["responder"] as? [String: Any] }
            #expect(responders.map { $0?["account_host"] as? String } == hosts)
            let export = try await queue.run("audit", "export").output
            let lines = try export.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(
                lines.map { $0?["principal"] as? String }
                    == ["web1", "web1", "db7", "web1"].map { "\(geteuid())@\($0)" })
            #expect(try await queue.run("audit", "verify").code == 0)
        }
        let csv = try await texts("history", "--csv", "--key", "one")
        let uid = geteuid()
        #expect(csv.web.hasSuffix(",false,,db7,false,\(uid),,\(uid)@db7,\r\n"), "\(csv.web)")
        #expect(csv.db.hasSuffix(",false,web1,,false,\(uid)@web1,,\(uid),\r\n"), "\(csv.db)")
        #expect(try await db.run("ask", "Reboot?", "--detach").code == 0)
        let connection = try Connection(try await PostgreSQLServer.durable.value.uri)
        let name = try #require(uri.split(separator: "queue=").last)
        let hosts = try connection.rows(
            """
            SELECT account_host, '-' FROM pending WHERE queue = '\(name)' UNION ALL
            (SELECT source_account_host, account_host FROM history WHERE queue = '\(name)'
                ORDER BY id)
            """
        ) { [$0.optionalText(at: 0), $0.optionalText(at: 1)] }
        #expect(hosts == [["db7", "-"], ["web1", "db7"], ["web1", "web1"]])
    }

    @Test("Options name an account of another machine, and this one's also with its machine")
    func filters() async throws {
        try await ask()
        let found: [(CommandLineQueue, [String], [Int])] = [
            (web, ["--user", Self.user], [2, 1]),
            (web, ["--user", "\(Self.user)@db7"], [1]),
            (web, ["--user", "\(Self.user)@web1"], [2]),
            (db, ["--user", "\(Self.user)@db7"], [1]),
            (db, ["--user", "\(Self.user)@web1"], [2]),
            (db, ["--user", "\(Self.user)@nas"], []),
            (web, ["--asked-by", Self.user], [2, 1]),
            (web, ["--asked-by", "\(Self.word)@web1"], [2, 1]),
            (web, ["--asked-by", "\(Self.word)@db7"], []),
            (web, ["--asked-by", "daemon@web1"], []),
            (db, ["--asked-by", Self.user], []),
            (db, ["--asked-by", "\(Self.word)@web1", "--user", "\(Self.user)@web1"], [2]),
        ]
        for (queue, words, ids) in found {
            let told = try await queue.start(["history", "--json"] + words).finish()
            #expect(told.code == 0, "\(words): \(told)")
            let objects = try told.output.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            #expect(objects.map { $0?["id"] as? Int } == ids, "\(words)")
        }
        for user in ["\(Self.word)@web1", "\(geteuid())@web1"] {
            let shown = try await db.run("show", "--key", "two", "--user", user, "--json")
            #expect(shown.code == 0 && shown.output.hasPrefix("{\"id\":2,"), "\(shown)")
        }
        let own = try await web.run("show", "--key", "two", "--user", "\(Self.user)@web1")
        #expect(own.code == 0, "\(own)")
        #expect(try await db.run("show", "--key", "two").code == 66)
        let unknown = try await db.run("history", "--asked-by", "nobody-of-us@web1")
        #expect(unknown.code == 64 && unknown.errors.contains("1000@web1"), "\(unknown)")
    }

    @Test("A refusal names the machine whose account has the right")
    func rights() async throws {
        try await ask()
        #expect(try await web.run("ask", "Reboot?", "--detach").code == 0)
        for words in [["withdraw", "3"], ["cancel", "3"]] {
            let refused = try await db.start(words).finish()
            #expect(
                refused.code == 77
                    && refused.errors.contains("asked by \(Self.account("web1")): only that ")
                    && refused.errors.contains("root of web1 may"), "\(refused)")
        }
        let purged = try await db.run("purge", "--older-than", "1ms", "--dry-run")
        #expect(purged.errors.contains("root of their machine"), "\(purged)")
        for (queue, isTaken) in [(db, false), (web, true)] {
            #expect(try await queue.run("collect", "--id", "1").output == "yes\n")
            let record = try await queue.objects("show", "1")[0]
            #expect(record["collected_at"] is NSNull == !isTaken)
        }
    }

    @Test("A command that others are told to run doesn't act for the asker's machine")
    func hint() async throws {
        let asker = try web.start(["ask", "Prune?"] + Self.buttons)
        #expect(await eventually { asker.errors.text.contains("answer with: ") })
        let command = try #require(asker.errors.text.split(separator: "answer with: ").last)
        #expect(command.contains("queue=") && !command.contains("host_name"), "\(command)")
        let other = try CommandLineQueue(at: uri)
        #expect(try await other.run("answer", "1", "yes").code == 0)
        #expect(await asker.finish().output == "yes\n")
    }

    @Test("A screen shows which machine's account asks, and others whose screen it is")
    func screens() async throws {
        let terminal = try PseudoTerminal(columns: 80)
        let screen = try web.start(["present"], on: terminal)
        let asker = try db.start(["ask", "Prune?"] + Self.buttons)
        #expect(await eventually { terminal.text.contains("(\(Self.account("db7")))") })
        let second = try PseudoTerminal(columns: 200)
        let other = try db.start(["ask", "Reboot?"] + Self.buttons, on: second)
        #expect(
            await eventually { second.text.contains("\(Self.user)@web1") }, "\(second.text)")
        for child in [other, screen, asker] {
            child.kill(SIGINT)
            _ = await child.exit()
        }
    }
}
