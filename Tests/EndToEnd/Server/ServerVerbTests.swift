import Foundation
import PostgreSQLTesting
import ProcessTesting
import TestSupport
import Testing

/// Every verb on a queue that is no file, with its main options.
@Suite("Verbs on a queue elsewhere", .inParallel, .needsServer)
struct ServerVerbTests {
    /// Where the queue is.
    enum Place: CaseIterable {
        case server
        /// On a server, used by a role that does not own the tables.
        case serverOfOthers
        /// A file behind a service.
        case service
        /// A file that ssh(1) reaches.
        case host

        /// The places that can be tried here.
        static var tried: [Place] { allCases.filter { $0 != .host || SSHServer.isTried } }

        func makeQueue() async throws -> CommandLineQueue {
            switch self {
            case .server: try await .onServer()
            case .serverOfOthers: try await ServerRole.make(of: .onServer())
            case .service: try await CommandLineQueue().served()
            case .host: try await CommandLineQueue().overSSH()
            }
        }
    }

    /// A command line, and what it does on the queue that those before it have left.
    struct Step: Sendable {
        let words: [String]
        let code: Int32
        /// A part of what it prints, to standard error if it fails.
        let text: String

        init(_ words: String, code: Int32 = 0, _ text: String = "") {
            self.words = words.split(separator: " ").map(String.init)
            (self.code, self.text) = (code, text)
        }

        /// The same at a place; `nil` if it makes no sense there.
        func at(_ place: Place) -> Step? {
            let isSetUp = words.contains("--setup-postgresql")
            let line = words.joined(separator: " ")
            switch place {
            case .server: return self
            case .serverOfOthers:
                if isSetUp { return nil }
                guard verb == "purge", !words.contains("--dry-run") else { return self }
                return Step(line, code: 77, "owner")
            case .service, .host:
                if isSetUp { return nil }
                if verb == "purge" || code == 64 {
                    return Step(line, code: 64, "on the service's machine")
                }
                return verb == "doctor" && code == 0 && !text.isEmpty
                    ? Step(line, text.replacing("durability", with: "service")) : self
            }
        }

        /// The verb, which may be two words.
        var verb: String {
            let isPair = ["audit", "hook"].contains(words[0])
            return words.prefix(isPair ? 2 : 1).joined(separator: " ")
        }
    }

    private static let asking = [
        Step(
            "ask Prune -b yes=Yes --cancel no=No --detach --key prune --source backup "
                + "--priority high --info path=/srv", "1\n"),
        Step(
            "ask Prune -b yes=Yes --cancel no=No --detach --key prune --source backup "
                + "--priority high --info path=/srv", "1\n"),
        Step("ask Other --detach --key prune --source backup", code: 16, "another title"),
        Step("ask Rename --detach --field name=Name --key name", "2\n"),
        Step("ask Deploy --detach --timeout 2d --default OK --valid 10m --key deploy", "3\n"),
        Step("ask Redeploy --detach --key deploy --replace --json", "\"id\":4,"),
        Step("notify Done --key done --dismiss-after 5s", "5\n"),
        Step("ask Reboot --wait-for 1s --quiet", code: 15),
        Step("ask Nobody --if-unattended fail", code: 14),
        Step("list --count", "5\n"),
        Step("list --json --limit 1", "\"title\":\"Prune\""),
        Step("list --text rename --source alertq", "Rename"),
        Step("show 1", "info           path=/srv"),
        Step("show --key prune --source backup --json", "\"key\":\"prune\""),
        Step("show 99", code: 66, "there is no alert 99"),
    ]

    private static let deciding = [
        Step("claim 1 --for 1h --json", "\"claimed_by\":{"),
        Step("list", "claimed by"),
        Step("claim 1 --release"),
        Step("claim 99", code: 66, "there is no alert 99"),
        Step("snooze 2 --for 1h"),
        Step("list", "snoozed"),
        Step("answer 1 yes --note later --json", "\"outcome\":\"answered\""),
        Step("answer 1 no", code: 16, "already ended"),
        Step("answer 2 Maybe", code: 66, "no button"),
        Step("answer --key name OK --set name=nas"),
        Step("answer 4 Cancel"),
        Step("cancel 6 --json", "\"outcome\":\"cancelled\""),
        Step("withdraw --key done --because over"),
        Step("withdraw --orphaned"),
        Step("collect prune --source backup", "yes\n\tlater\n"),
        Step("collect name", "OK\nname\tnas\n"),
        Step("collect --id 3 --json", code: 13, "superseded by 4"),
        Step("collect --key missing", code: 66, "missing"),
        Step("wait 4 --json", code: 10),
        Step("wait 4 6", code: 10),
    ]

    private static let reading = [
        Step("history", "Rename"),
        Step("history --json --limit 1 --after 5", "\"id\":6,"),
        Step("history --csv --source backup --user root --asked-by root", "\n1,backup,"),
        Step("history --text prune --outcome answered --button yes --since 1d", "Prune"),
        Step("history --by program --via answer --until 0:00 --utc", ""),
        Step("history --uncollected --json", "\"id\":6,"),
        Step("stats", "asked     6\n"),
        Step("stats --json --source backup", "\"asked\":1,"),
        Step("stats --prometheus", "alertq_"),
        Step("audit list --alert 3", "superseded"),
        Step("audit list --json --after 2 --limit 1", "\"sequence\":3,"),
        Step("audit list --last 1", "collected"),
        Step("audit list --after 999", code: 66),
        Step("audit verify --json", "\"verifies\":true"),
        Step("audit head", ":"),
        Step("receipt 1", "\"receipt\":\"alertq-receipt-1\",\"alert\":{\"id\":1,"),
        Step("audit export --after 1", "\"seq\":2,"),
        Step("purge --older-than 1d", "0 alerts"),
        Step("purge --older-than 1d --dry-run", "0 alerts"),
        Step("doctor", "durability"),
        Step("doctor --json", "\"check\":\"durability\""),
        Step("doctor --strict --waiting 1h"),
        Step("doctor --setup-postgresql", "has the queue"),
        Step("doctor --setup-postgresql --print", "BEGIN;\nINSERT INTO alertq.queues"),
    ]

    /// What a file offers and a server does not, and what to do instead.
    private static let refused = [
        Step("backup queue-copy.db", code: 64, "pg_dump"),
        Step("restore /etc/passwd", code: 64, "pg_restore"),
        Step("doctor --reindex", code: 64, "REINDEX INDEX alerts_words"),
        Step("doctor --timers /tmp", code: 64, "pg_dump"),
    ]

    @Test(
        "Each verb that ends by itself does elsewhere what it does in a file",
        arguments: Place.tried)
    func steps(place: Place) async throws {
        let queue = try await place.makeQueue()
        let steps = Self.asking + Self.deciding + Self.reading + Self.refused
        for step in steps.compactMap({ $0.at(place) }) {
            let finished = try await queue.start(step.words).finish()
            #expect(finished.code == step.code, "\(step.words): \(finished)")
            let text = finished.output + finished.errors
            #expect(text.contains(step.text) || step.text.isEmpty, "\(step.words): \(text)")
        }
    }

    @Test("No verb that uses a queue is left out here")
    func all() async throws {
        let queue = try CommandLineQueue()
        let help = try await queue.run("help").output
        let verbs = try #require(help.split(separator: "Verbs:\n").last)
            .split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .compactMap { $0.split(separator: "  ").first.map(String.init) }
        let tried = (Self.asking + Self.deciding + Self.reading + Self.refused).map(\.verb)
        let others = [
            "run", "present", "watch", "mcp", "hook claude", "hook codex", "store copy", "serve",
            "completions", "manual", "help",
        ]
        #expect(Set(verbs).subtracting(tried + others) == [])
    }

    @Test(
        "A command runs once after a yes, and its exit code is passed on",
        arguments: [Place.server, .service])
    func run(place: Place) async throws {
        let queue = try await place.makeQueue()
        let words = ["run", "--key", "k", "--json", "--", "sh", "-c", "exit 3"]
        let asker = try queue.start(words)
        #expect(await eventually { asker.errors.text.contains("waiting for an answer") })
        #expect(try await queue.run("answer", "1", "run").code == 0)
        let finished = await asker.finish()
        #expect(finished.code == 3, "\(finished)")
        let again = try await queue.start(words).finish()
        #expect(again.code == 125 && again.output.contains("\"ran\":false"), "\(again)")
        let events = try await queue.objects("audit", "list").compactMap {
            $0["event"] as? String
        }
        #expect(events == ["asked", "resolved", "collected", "ran", "ran"])
    }

    @Test(
        "A program shows what waits, and one that watches gets its response",
        arguments: [Place.server, .service])
    func programs(place: Place) async throws {
        let queue = try await place.makeQueue()
        let presenter = try queue.script("presenter", "read -r line; echo yes")
        let handler = try queue.script(
            "handler", "echo \"$ALERTQ_ALERT $ALERTQ_BUTTON\" >>\"$(dirname \"$0\")/lines\"")
        let watch = try queue.start(["watch", "--exec", handler])
        let events = try queue.start(["watch", "--json", "--after", "0"])
        for title in ["One", "Two"] {
            #expect(
                try await queue.run("ask", title, "-b", "yes=Yes", "--any", "--detach").code
                    == 0)
        }
        let shown = try await queue.run("present", "--on", "command:\(presenter)", "--once")
        #expect(shown.code == 0, "\(shown)")
        #expect(await eventually { queue.lines("lines") == ["1 yes", "2 yes"] })
        #expect(
            await eventually {
                events.output.text.split(separator: "\n").count {
                    $0.contains("\"event\":\"collected\"")
                } == 2
            })
        for child in [watch, events] {
            child.kill(SIGINT)
            _ = await child.exit()
        }
    }

    @Test(
        "A program gets each question once, with its place kept in a file",
        arguments: [Place.server, .service])
    func questions(place: Place) async throws {
        let queue = try await place.makeQueue()
        let hook = try queue.script(
            "hook", "echo \"$ALERTQ_ALERT\" >>\"$(dirname \"$0\")/lines\"")
        #expect(try await queue.run("ask", "One", "--detach").code == 0)
        // Stopped and started again, it goes on after the last one.
        for number in 1...2 {
            let watch = try queue.start([
                "watch", "--exec", hook, "--event", "asked", "--since", "1d", "--cursor",
                queue.directory + "/cursor",
            ])
            #expect(await eventually { queue.lines("lines").count == number })
            watch.kill(SIGTERM)
            _ = await watch.exit()
            #expect(try await queue.run("ask", "More", "--detach").code == 0)
        }
        #expect(queue.lines("lines") == ["1", "2"])
    }

    @Test(
        "An agent asks and collects, and its hook gets an answer",
        arguments: [Place.server, .service])
    func agents(place: Place) async throws {
        let queue = try await place.makeQueue()
        let agent = try await AgentClient(queue, .july2026, name: "claude-code")
        let call = agent.start(
            "ask",
            [
                "title": "Deploy?",
                "buttons": [
                    ["id": "yes", "title": "Yes"],
                    ["id": "no", "title": "No", "role": "cancel"],
                ],
            ])
        #expect(
            try await eventually { try await queue.run("list", "--count").output == "1\n" })
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await agent.reply(to: call).button == "yes")
        #expect(await agent.finish().code == 0)
        for name in ["claude-permission-request", "codex-permission-request"] {
            let hook = try queue.hook(HookSample.agent(name), HookSample.bytes(name))
            #expect(
                try await eventually { try await queue.run("list", "--count").output == "1\n" })
            let waiting = try #require(try await queue.objects("list").first?["id"] as? Int)
            #expect(try await queue.run("answer", "\(waiting)", "allow").code == 0)
            let finished = await hook.finish()
            #expect(finished.code == 0 && finished.output.contains("allow"), "\(finished)")
        }
        #expect(try await queue.run("audit", "verify").code == 0)
    }
}
