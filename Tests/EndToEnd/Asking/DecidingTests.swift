import AlertQueue
import AlertQueueTesting
import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Who is recorded as the decider, and who may end the alerts of other accounts.
@Suite("Who decides", .inParallel)
struct DecidingTests {
    private static let group: gid_t = 60_010
    private static let ana = LinuxAccount(uid: 60_001, gid: group)
    private static let ben = LinuxAccount(uid: 60_002, gid: group)
    private static let isRoot = ConditionTrait.enabled(
        if: geteuid() == 0, "only root can become other users")
    private static let question = ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No"]

    /// Asks without waiting.
    private func ask(_ queue: CommandLineQueue, as account: LinuxAccount? = nil) async throws {
        let asked = try await queue.start(Self.question + ["--detach"], as: account).finish()
        #expect(asked.code == 0, "\(asked)")
    }

    /// How the alert that ended last has ended.
    private func ending(_ queue: CommandLineQueue) async throws -> Ending {
        let alert = try #require(try await queue.objects("history", "--limit", "1").first)
        let responder = alert["responder"] as? [String: any Sendable]
        return Ending(
            outcome: alert["outcome"] as? String, by: alert["by"] as? String,
            uid: responder?["uid"] as? Int)
    }

    private struct Ending: Equatable {
        var outcome: String?
        var by: String?
        var uid: Int?
    }

    @Test(
        "An answer is a person's if given in the foreground, with a terminal as the input",
        arguments: [
            (#"exec "$@""#, "person"), (#""$@"; exit"#, "person"),
            (#"set -m; "$@" & wait $!"#, "program"), (#""$@" </dev/null"#, "program"),
            (#"echo yes | "$@""#, "program"), (#"setsid -w "$@""#, "program"),
        ])
    func terminal(script: String, by: String) async throws {
        let queue = try CommandLineQueue()
        try await ask(queue)
        let terminal = try PseudoTerminal()
        let shell = try queue.start(
            ["answer", "1", "yes"], under: ["bash", "-c", script, "bash"], on: terminal)
        #expect(await shell.exit() == 0, "\(terminal.text)")
        #expect(try await ending(queue) == Ending(outcome: "answered", by: by, uid: Int(geteuid())))
        #expect(try await queue.objects("history", "--by", by).count == 1)
        #expect(try await queue.isSound())
    }

    @Test("What is shown of an answer says whether a person or a program decided")
    func kinds() async throws {
        let queue = try CommandLineQueue()
        for id in ["1", "2"] {
            try await ask(queue)
            let answer = ["answer", id, "yes", "--id"]
            let terminal = try PseudoTerminal(columns: 200)
            let child = id == "1" ? try queue.start(answer, on: terminal) : try queue.start(answer)
            #expect(await child.exit() == 0)
            let kind = id == "1" ? "(a person)" : "(a program)"
            if id == "1" { #expect(await terminal.shows(kind)) }
            let shown = try await queue.run("show", id).output
            #expect(shown.contains("answered “Yes” by") && shown.contains(kind), "\(shown)")
            // The detail of the entry names the button as it was shown.
            #expect(shown.contains("“Yes”\n") && !shown.contains("button #"), "\(shown)")
        }
        let told = try await queue.run("collect", "--id", "2")
        #expect(told.output == "yes\n" && told.errors.contains("(a program)"), "\(told)")
        #expect(try await queue.run("collect", "--id", "1").errors.isEmpty)
    }

    @Test("How an alert has ended comes before what is wrong with a late answer")
    func late() async throws {
        let queue = try CommandLineQueue()
        let schema = #"{"properties":{"n":{"type":"integer","maximum":3}}}"#
        let words = Self.question + ["--schema", schema, "--detach"]
        #expect(try await queue.start(words).finish().code == 0)
        #expect(try await queue.run("answer", "1", "yes", "--set", "n=9").code == 65)
        #expect(try await queue.run("answer", "1", "no").code == 0)
        for late in [["yes", "--set", "n=9"], ["maybe"], ["yes", "--set", "other=1"]] {
            let refused = try await queue.start(["answer", "1"] + late).finish()
            #expect(refused.code == 16, "\(late): \(refused)")
            #expect(refused.errors.contains("has already ended"), "\(refused)")
        }
    }

    @Test("Several alerts are done one by one, and the first failure gives the exit code")
    func several() async throws {
        let queue = try CommandLineQueue()
        for _ in 1...5 { try await ask(queue) }
        let answered = try await queue.run("answer", "1", "9", "2", "yes")
        #expect(answered.code == 66 && answered.output.isEmpty, "\(answered)")
        let lines = answered.errors.split(separator: "\n").map(String.init)
        try #require(lines.count == 3, "\(answered)")
        #expect(lines[0].hasPrefix("alertq: alert 1: answered"))
        #expect(lines[1] == "alertq: answer: there is no alert 9")
        #expect(lines[2].hasPrefix("alertq: alert 2: answered"))
        let withdrawn = try await queue.run("withdraw", "1", "9", "3", "--json")
        #expect(withdrawn.code == 16, "\(withdrawn)")
        #expect(withdrawn.output.split(separator: "\n").count == 2)
        #expect(try await queue.run("snooze", "4", "5", "--for", "1h").code == 0)
        #expect(try await queue.run("cancel", "4", "5").code == 0)
        let shown = try await queue.run("show", "5", "6", "1", "--json")
        #expect(shown.code == 66 && shown.output.split(separator: "\n").count == 2, "\(shown)")
        let text = try await queue.run("show", "5", "1")
        #expect(text.output.matches(of: /(?m)^alert +[15]$/).count == 2, "\(text)")
        #expect(try await queue.isSound())
    }

    @Test("A key names an alert of this account, or of another one that is named", isRoot)
    func keys() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        let keyed = Self.question + ["--key", "k", "--detach"]
        #expect(await (try queue.start(keyed, as: Self.ana)).exit() == 0)
        #expect(await (try queue.start(keyed, as: Self.ben)).exit() == 0)
        #expect(await (try queue.start(keyed + ["--source", "s"], as: Self.ana)).exit() == 0)
        let none = try await queue.run("answer", "--key", "k", "yes")
        #expect(none.code == 66 && none.errors.contains("--user"), "\(none)")
        let own = try await queue.start(["answer", "--key", "k", "yes", "--json"], as: Self.ben)
            .finish()
        #expect(own.code == 0 && own.output.contains("\"id\":2,"), "\(own)")
        let other = ["--key", "k", "--user", "\(Self.ana.uid)"]
        let shown = try await queue.start(["show", "--json"] + other, as: Self.ben).finish()
        #expect(shown.code == 0 && shown.output.contains("\"id\":1,"), "\(shown)")
        let refused = try await queue.start(["withdraw"] + other, as: Self.ben).finish()
        #expect(refused.code == 77, "\(refused)")
        let named = try await queue.start(["answer"] + other + ["--source", "s", "no", "--json"])
            .finish()
        #expect(named.code == 0 && named.output.contains("\"id\":3,"), "\(named)")
        let collected = try await queue.start(
            ["collect", "k", "--source", "s", "--user", "\(Self.ana.uid)"], as: Self.ben
        ).finish()
        #expect(collected.code == 10 && collected.errors.contains("left to"), "\(collected)")
    }

    @Test("Without a terminal an answer is a program's, and is not counted in people's times")
    func program() async throws {
        let queue = try CommandLineQueue()
        for _ in 1...3 { try await ask(queue) }
        #expect(try await queue.run("answer", "1", "yes").code == 0)
        #expect(try await ending(queue).by == "program")
        #expect(try await queue.run("answer", "2", "yes").code == 0)
        #expect(try await queue.runInTerminal("answer", "3", "yes").code == 0)
        #expect(try await queue.objects("history", "--by", "program").count == 2)
        let statistics = try #require(try await queue.objects("stats").first)
        let times = statistics["from_asked"] as? [String: any Sendable]
        #expect(statistics["answered"] as? Int == 3 && times?["count"] as? Int == 1)
    }

    @Test("The terminal of an answer is the real one, also where stdin is /dev/tty")
    func device() async throws {
        let queue = try CommandLineQueue()
        try await ask(queue)
        let terminal = try PseudoTerminal()
        let answer = try Child(
            "sh", ["-c", "echo yes | xargs -o \"$0\" answer 1", CommandLineQueue.program],
            environment: ["ALERTQ_DATABASE": queue.path], on: terminal)
        #expect(await answer.finish().code == 0, "\(terminal.text)")
        let alert = try await queue.objects("history").first
        let responder = alert?["responder"] as? [String: any Sendable]
        #expect(
            responder?["tty"] as? String == terminal.path && alert?["by"] as? String == "person")
    }

    @Test("The asker withdraws as the asker, and cancels on behalf of the system")
    func own() async throws {
        let queue = try CommandLineQueue()
        try await ask(queue)
        try await ask(queue)
        #expect(try await queue.run("withdraw", "1").code == 0)
        #expect(try await ending(queue).by == "asker")
        #expect(try await queue.runInTerminal("cancel", "2").code == 0)
        #expect(try await ending(queue).by == "system")
    }
}

// MARK: - Other accounts

extension DecidingTests {
    private static let verbs = [("withdraw", "withdrawn", Int32(13)), ("cancel", "cancelled", 17)]

    @Test("The alert of another account is not ended by mistake", isRoot, arguments: verbs)
    func refused(verb: String, outcome: String, code: Int32) async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        for (id, account, name) in [("1", nil, "root"), ("2", Self.ben, "uid 60002")] {
            try await ask(queue, as: account)
            let refused = try await queue.start([verb, id, "--json"], as: Self.ana).finish()
            #expect(refused.code == 77 && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains("alert \(id) was asked by \(name)"))
        }
        #expect(try await queue.runInTerminal(verb, "1", as: Self.ana).code == 77)
        #expect(try await queue.objects("list").count == 2)
        #expect(try await queue.objects("audit", "list").count == 2)
    }

    @Test(
        "With --force it is ended, and recorded as ended by a person or a program",
        isRoot, arguments: verbs)
    func forced(verb: String, outcome: String, code: Int32) async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        let asker = try queue.start(Self.question, as: Self.ben)
        #expect(await eventually { asker.errors.text.contains("waiting") })
        let forced = try queue.start([verb, "1", "--force"], as: Self.ana)
        #expect(await forced.exit() == 0)
        #expect(await asker.exit() == code)
        #expect(
            try await ending(queue) == Ending(outcome: outcome, by: "program", uid: 60_001))
        try await ask(queue)
        #expect(try await queue.runInTerminal(verb, "2", "--force", as: Self.ana).code == 0)
        #expect(
            try await ending(queue) == Ending(outcome: outcome, by: "person", uid: 60_001))
        #expect(try await queue.isSound())
    }

    @Test("Root needs no --force, and is recorded all the same", isRoot, arguments: verbs)
    func root(verb: String, outcome: String, code: Int32) async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        for _ in 1...2 { try await ask(queue, as: Self.ben) }
        #expect(try await queue.run(verb, "1").code == 0)
        #expect(try await ending(queue) == Ending(outcome: outcome, by: "program", uid: 0))
        #expect(try await queue.runInTerminal(verb, "2").code == 0)
        #expect(try await ending(queue) == Ending(outcome: outcome, by: "person", uid: 0))
    }

    @Test("Every account that may use the queue may answer", isRoot)
    func answer() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        for _ in 1...2 { try await ask(queue, as: Self.ben) }
        let answer = try queue.start(["answer", "1", "yes"], as: Self.ana)
        #expect(await answer.exit() == 0)
        #expect(
            try await ending(queue) == Ending(outcome: "answered", by: "program", uid: 60_001))
        #expect(try await queue.runInTerminal("answer", "2", "no", as: Self.ana).code == 0)
        #expect(
            try await ending(queue) == Ending(outcome: "answered", by: "person", uid: 60_001))
    }

    @Test("A cancel that a delegate handles is logged as a request, with its account", isRoot)
    func requested() async throws {
        let queue = try CommandLineQueue(sharedBy: Self.group)
        try await ask(queue, as: Self.ben)
        try await ask(queue, as: Self.ana)
        let (delegate, presenter) = (Handler(), ScriptedPresenter())
        let manager = try await AlertManager(
            path: queue.path, presenters: [presenter], delegate: delegate)
        #expect(try await presenter.waitUntilShown(within: .seconds(20)).id == 1)
        let refused = try queue.start(["cancel", "1"], as: Self.ana)
        #expect(await refused.exit() == 77)
        let forced = try queue.start(["cancel", "1", "--force"], as: Self.ana)
        #expect(await forced.exit() == 0)
        #expect(try await ending(queue).by == "program")
        #expect(await eventually { presenter.shown.map(\.id) == [1, 2] })
        let own = try queue.start(["cancel", "2"], as: Self.ana)
        #expect(await own.exit() == 0)
        #expect(try await ending(queue).by == "system")
        await manager.close()
        let requests = try await queue.objects("audit", "list")
            .filter { $0["event"] as? String == "cancelling" }
        #expect(requests.map { $0["alert"] as? Int } == [1, 2])
        #expect(requests.map { $0["by"] as? String } == ["program", "system"])
        for request in requests {
            let responder = request["responder"] as? [String: any Sendable]
            #expect(responder?["uid"] as? Int == Int(Self.ana.uid))
        }
        #expect(try await queue.isSound())
    }
}

/// A delegate that handles every cancel.
private final class Handler: AlertManagerDelegate {
    func cancel(_ alert: AlertRecord) -> CancelHandling { .handled }
}
