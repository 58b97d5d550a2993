import Foundation
import PostgreSQL
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// Asking and answering in PostgreSQL, through the built command.
@Suite("A queue in PostgreSQL", .inParallel, .needsServer)
struct ServerQueueTests {
    let queue: CommandLineQueue

    init() async throws { queue = try await .onServer() }

    private static let buttons = ["-b", "yes=Prune", "--cancel", "no=Keep"]

    @Test("A question outlives its asker, and its answer is collected, logged and verified")
    func roundTrip() async throws {
        let words = ["ask", "Prune?"] + Self.buttons + ["--key", "k"]
        let asker = try queue.start(words)
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        asker.kill(SIGKILL)
        _ = await asker.exit()
        #expect(try await queue.run("list", "--count").output == "1\n")
        #expect(try await queue.run("answer", "--key", "k", "yes").code == 0)
        let late = try await queue.run("answer", "1", "no")
        #expect(late.code == 16 && late.errors.contains("Prune"), "\(late)")
        let again = try await queue.start(words).finish()
        #expect(again.code == 0 && again.output == "yes\n", "\(again)")
        let events = try await queue.objects("audit", "list").compactMap {
            $0["event"] as? String
        }
        #expect(events == ["asked", "resolved", "collected"])
        let verified = try await queue.run("audit", "verify")
        #expect(verified.code == 0 && verified.output == "3 entries verify\n", "\(verified)")
        let shown = try #require(try await queue.objects("show", "1").first)
        #expect(shown["account_host"] is NSNull && shown["outcome"] as? String == "answered")
    }

    @Test("A waiting command hears of an answer that another process gives")
    func waiting() async throws {
        let asker = try queue.start(["ask", "Go?"] + Self.buttons)
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        let watch = try queue.start(["watch", "--json", "--since", "0"])
        #expect(try await queue.run("answer", "1", "no").code == 0)
        let told = await asker.finish()
        #expect(told.code == 10 && told.output == "no\n", "\(told)")
        watch.kill(SIGINT)
        _ = await watch.exit()
    }

    @Test("A deadline passes without a process that waits, and values and notes are kept")
    func deadline() async throws {
        let ask =
            ["ask", "Name?"] + Self.buttons + ["--field", "name=Name", "--detach", "--key"]
        #expect(try await queue.start(ask + ["a", "--timeout", "1s"]).finish().code == 0)
        #expect(try await queue.start(ask + ["b"]).finish().code == 0)
        let answered = try await queue.run(
            "answer", "2", "yes", "--set", "name=nas 備份", "--note", "soon")
        #expect(answered.code == 0, "\(answered)")
        let values = try await queue.run("collect", "b")
        #expect(values.output == "yes\nname\tnas 備份\n\tsoon\n", "\(values)")
        #expect(
            try await eventually {
                try await queue.run("collect", "a").code == 12
            })
        let found = try await queue.run("history", "--text", "備份")
        #expect(found.output.contains("Name?"), "\(found)")
        #expect(try await queue.run("audit", "verify").code == 0)
    }

    @Test("The program of watch --exec is asked to end when its turn is lost")
    func lostTurn() async throws {
        let ask = ["ask", "Prune?"] + Self.buttons + ["--detach"]
        #expect(try await queue.start(ask).finish().code == 0)
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        let log = queue.directory + "/log"
        let words = { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        // The second run is of the turn after the lost one.
        let program = """
            [ -e \(log) ] && exit 0
            trap 'echo ended >> \(log); exit 1' TERM; echo ready >> \(log); sleep 1000 & wait
            """
        let watch = try queue.start(["watch", "--exec", "/bin/sh", "--", "-c", program])
        #expect(await eventually { words() == "ready\n" })
        // As another process does once its time is over.
        let name = try #require(queue.path.split(separator: "queue=").last)
        try Connection(try await PostgreSQLServer.durable.value.uri).run(
            "DELETE FROM leases WHERE queue = (SELECT id FROM queues WHERE name = $1)",
            .text(String(name.prefix { $0 != "&" })))
        #expect(await eventually { words() == "ready\nended\n" })
        #expect(
            try await eventually {
                try await queue.objects("show", "1").first?["collected_at"] is String
            })
        watch.kill(SIGTERM)
        #expect(await watch.exit() == 128 + SIGTERM)
    }

    @Test("A screen shows what another process asks, and takes the answer")
    func presented() async throws {
        let terminal = try PseudoTerminal(columns: 80)
        let screen = try queue.start(["present"], on: terminal)
        let asker = try queue.start(["ask", "Reboot?"] + Self.buttons)
        #expect(await eventually { terminal.text.contains("Enter chooses") })
        try terminal.type("\r")
        #expect(await eventually { terminal.text.contains("✓ Reboot?") })
        #expect(await asker.finish().output == "yes\n")
        let record = try #require(try await queue.objects("show", "1").first)
        #expect(record["by"] as? String == "person")
        screen.kill(SIGINT)
        _ = await screen.exit()
    }

    @Test("A queue that was not made is refused, with how to make it")
    func missing() async throws {
        let foreign = try CommandLineQueue(
            at: queue.path.replacing("queue=", with: "queue=other-"))
        let missing = try await foreign.run("ask", "Go?", "--detach")
        #expect(
            missing.code == 66 && missing.errors.contains("--setup-postgresql"), "\(missing)")
    }
}

extension CommandLineQueue {
    /// A queue of its own on a server that waits for its disk.
    ///
    /// - Parameter database: The URI of its database; by default it shares one with others.
    static func onServer(_ database: String? = nil) async throws -> CommandLineQueue {
        let uri =
            if let database { database } else { try await PostgreSQLServer.durable.value.uri }
        let queue = try CommandLineQueue(at: uri + "&queue=" + UUID().uuidString)
        let made = try await queue.run("doctor", "--setup-postgresql")
        guard made.code == 0 else { throw TestingError("\(made)") }
        return queue
    }
}
