import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Every row of the tables of verbs and of exit codes is tested with the built command.
@Suite("Tables of verbs and exit codes", .inParallel)
struct VerbTableTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// A question that waits, with the buttons yes and no; returns its id.
    private func ask(_ options: String...) async throws -> String {
        let words = ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No", "--detach"]
        let asked = try await queue.start(words + options).finish()
        #expect(asked.code == 0, "\(asked)")
        return String(asked.output.dropLast())
    }

    private static let question = ["ask", "Prune?", "-b", "yes=Yes", "--cancel", "no=No"]

    /// A hook that gets one of the documented requests.
    private func hook(
        _ agent: String, _ sample: String, _ options: String...
    ) async throws -> Finished {
        try await queue.hook(agent, HookSample.bytes(sample), options).finish()
    }

    /// Shows waiting alerts on a terminal until nothing is left.
    private func presentAll() async throws {
        let terminal = try PseudoTerminal()
        let presenter = try queue.start(["present", "--once"], on: terminal)
        #expect(await presenter.exit() == 0)
    }

    /// An ask that waits, ended by another verb.
    private func asking(_ end: String...) async throws -> Finished {
        let asker = try queue.start(Self.question)
        #expect(await eventually { asker.errors.text.contains("waiting") })
        if !end.isEmpty { #expect(try await queue.start(end).finish().code == 0) }
        return await asker.finish()
    }
}

// MARK: - Verbs

extension VerbTableTests {
    private typealias Trial = @Sendable (VerbTableTests) async throws -> Bool

    private static let trials: [String: Trial] = [
        "ask": { try await $0.asking("answer", "1", "yes").output == "yes\n" },
        "notify": { test in
            let notified = try await test.queue.run("notify", "Done")
            let waiting = try await test.queue.objects("list")
            return notified.output == "1\n" && waiting.count == 1
        },
        "run": { test in
            let options = ["--timeout", "1s", "--default", "run", "--allow-default"]
            let ran = try await test.queue.start(["run"] + options + ["echo", "ran"]).finish()
            return ran.code == 0 && ran.output == "ran\n"
        },
        "present": { test in
            _ = try await test.queue.run("notify", "Done", "--dismiss-after", "20ms")
            try await test.presentAll()
            let response = try await test.queue.objects("history").first
            return response?["outcome"] as? String == "dismissed"
        },
        "list": { test in
            _ = try await test.ask()
            return try await test.queue.run("list").output.contains("Prune?")
        },
        "show": { test in
            let shown = try await test.queue.run("show", try await test.ask()).output
            return shown.contains("Prune?") && shown.contains("asked")
        },
        "answer": { test in
            let answered = try await test.queue.run("answer", try await test.ask(), "Yes")
            let response = try await test.queue.objects("history").first
            return answered.code == 0 && response?["button"] as? String == "yes"
        },
        "claim": { test in
            _ = try await test.queue.run("claim", try await test.ask())
            return try await test.queue.objects("list").first?["claimed_until"] is String
        },
        "snooze": { test in
            _ = try await test.queue.run("snooze", try await test.ask(), "--for", "1h")
            return try await test.queue.objects("list").first?["snoozed_until"] is String
        },
        "withdraw": { try await $0.asking("withdraw", "1").code == 13 },
        "cancel": { try await $0.asking("cancel", "1").code == 17 },
        "collect": { test in
            _ = try await test.queue.run("answer", try await test.ask("--key", "k"), "no")
            let collected = try await test.queue.run("collect", "k")
            return collected.code == 10 && collected.output == "no\n"
        },
        "wait": { test in
            _ = try await test.queue.run("answer", try await test.ask(), "no")
            let waited = try await test.queue.run("wait", "1", try await test.ask())
            return waited.code == 10 && waited.output == "1\tno\n"
        },
        "watch": { test in
            let watch = try test.queue.start(["watch", "--after", "0"])
            _ = try await test.ask()
            return await eventually { watch.output.text.contains("asked\tPrune?") }
        },
        "history": { test in
            _ = try await test.queue.run("answer", try await test.ask(), "no")
            let rows = try await test.queue.run("history", "--csv").output
            return rows.hasPrefix("id,source,") && rows.contains("\r\n1,alertq,")
        },
        "stats": { test in
            _ = try await test.queue.run("answer", try await test.ask(), "no")
            return try await test.queue.run("stats").output.hasPrefix("asked     1\n")
        },
        "audit": { test in
            _ = try await test.ask()
            let head = try await test.queue.run("audit", "head").output.dropLast()
            let verified = try await test.queue.run("audit", "verify", "--head", String(head))
            let exported = try await test.queue.run("audit", "export")
            let list = try await test.queue.run("audit", "list").output
            return verified.output == "1 entry verifies\n" && list.contains("Prune?")
                && exported.output.contains(String(head.dropFirst(2)))
        },
        "receipt": { test in
            let file = test.queue.directory + "/receipt"
            let printed = try await test.queue.run("receipt", try await test.ask()).output
            try printed.write(toFile: file, atomically: true, encoding: .utf8)
            let checked = try await test.queue.run("audit", "verify", "--receipt", file)
            return checked.code == 0 && checked.output.contains("Prune?")
        },
        "doctor": { test in
            _ = try await test.ask()
            return try await test.queue.run("doctor").code == 0
        },
        "purge": { test in
            _ = try await test.queue.run("answer", try await test.ask("--key", "k"), "no")
            _ = try await test.queue.run("collect", "k")
            let purged = try await test.queue.run("purge", "--older-than", "1ms")
            let history = try await test.queue.run("history").output
            return purged.code == 0 && !history.contains("Prune?")
        },
        "backup": { test in
            _ = try await test.ask()
            let file = test.queue.directory + "/backup"
            let head = try await test.queue.run("audit", "head").output
            let made = try await test.queue.run("backup", file)
            return made.code == 0 && made.output.contains(head)
        },
        "restore": { test in
            _ = try await test.ask()
            let file = test.queue.directory + "/backup"
            _ = try await test.queue.run("backup", file)
            let restored = try await test.queue.run("restore", file)
            return restored.code == 0 && restored.output.contains("kept")
        },
        "hook": { test in
            let asked = try await test.hook("claude", "claude-pre-tool-use", "--wait", "50ms")
            return asked.code == 0 && asked.output.contains("nobody answered within 50 ms")
        },
        "store": { test in
            _ = try await test.ask()
            let (file, place) = (test.queue.path, test.queue.directory + "/moved.db")
            guard try await test.queue.run("store", "copy", file, place).code == 0 else {
                return false
            }
            return try await test.queue.run("list", "--count", "--database", place).output == "1\n"
        },
        "mcp": { test in
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
            let finished = try await Child.run(
                CommandLineQueue.program, "mcp", "--database", test.queue.path,
                input: Array(ping.utf8))
            return finished.output == #"{"jsonrpc":"2.0","id":1,"result":{}}"# + "\n"
        },
        "serve": { test in
            let served = try await test.queue.served()
            _ = try await served.run("notify", "Done")
            return try await test.queue.run("list", "--count").output == "1\n"
        },
        "completions": { test in
            try await test.queue.run("completions", "bash").output.contains("alertq")
        },
        "manual": { try await $0.queue.run("manual").output.contains(".TH") },
        "help": { test in
            try await test.queue.run("help", "ask").output
                == test.queue.run("ask", "--help").output
        },
    ]

    private static func tableVerbs() throws -> [String] {
        let text = try CodeBlock.text(of: CodeBlock.articles + "Command.md")
        let head = /(?s)\| verb \| does \|\n\|---\|---\|\n(.*?)\n\n/
        let rows = try #require(text.firstMatch(of: head)).1
        return rows.split(separator: "\n").flatMap { row in
            (row.split(separator: "|").first ?? "").matches(of: /`([a-z]+)/).map { String($0.1) }
        }
    }

    @Test("Every verb of the table does what its row says", arguments: Set(try tableVerbs()))
    func verb(name: String) async throws {
        let trial = try #require(Self.trials[name], "no trial of \(name)")
        #expect(try await trial(self), "\(name)")
    }
}

// MARK: - Exit codes

extension VerbTableTests {
    private static let ends: [Int32: @Sendable (VerbTableTests) async throws -> [Finished]] = [
        0: { [try await $0.asking("answer", "1", "yes"), try await $0.queue.run("list")] },
        1: { test in
            _ = try await test.ask()
            let strict = ["doctor", "--strict", "--waiting", "1ms"]
            return [try await test.queue.start(strict).finish()]
        },
        2: { test in
            [
                try await test.queue.run("hook", "claude", "--nonsense"),
                try await test.queue.hook("codex", Array("{}".utf8)).finish(),
            ]
        },
        10: { [try await $0.asking("answer", "1", "no")] },
        11: { test in
            _ = try await test.queue.run("notify", "N", "--key", "k", "--dismiss-after", "20ms")
            try await test.presentAll()
            return [try await test.queue.run("collect", "k")]
        },
        12: { [try await $0.queue.start(question + ["--timeout", "50ms"]).finish()] },
        13: { [try await $0.asking("withdraw", "1")] },
        14: { [try await $0.queue.start(question + ["--if-unattended", "fail"]).finish()] },
        15: { [try await $0.queue.start(question + ["--wait-for", "20ms"]).finish()] },
        16: { test in
            let id = try await test.ask("--key", "k")
            _ = try await test.queue.run("answer", id, "yes")
            let late = try await test.ask("--timeout", "1ms")
            return [
                try await test.queue.run("answer", id, "no"),
                try await test.queue.run("answer", late, "yes"),
                try await test.queue.run("ask", "Other?", "--key", "k"),
            ]
        },
        17: { [try await $0.asking("cancel", "1")] },
        18: { test in
            let id = try await test.ask("--key", "k", "--valid", "1ms")
            _ = try await test.queue.run("answer", id, "yes")
            return [
                try await test.queue.run("collect", "k"), try await test.queue.run("wait", id),
                try await test.queue.run("collect", "k", "--json"),
            ]
        },
        64: { [try await $0.queue.run("list", "--nonsense"), try await $0.queue.run("lsit")] },
        65: { test in
            let id = try await test.ask()
            try await test.queue.forge("UPDATE alerts SET title = 'Go on?' WHERE id = \(id)")
            return [
                try await test.queue.run("ask", ""), try await test.queue.run("notify", " "),
                try await test.queue.run("answer", id, "yes"), try await test.queue.run("show", id),
            ]
        },
        66: { test in
            _ = try await test.ask()
            return [
                try await test.queue.run("show", "99"),
                try await test.queue.run("answer", "1", "maybe"),
                try await test.queue.run("collect", "unheard-of"),
            ]
        },
        69: { test in
            let words = ["list", "--database", "postgresql:///alertq"]
            return [try await test.queue.run(without: "libpq.so.5", words)]
        },
        74: { test in
            try Data("not a database, but some text\n".utf8).write(
                to: URL(filePath: test.queue.path))
            return [try await test.queue.run("list"), try await test.queue.run("ask", "Q?")]
        },
        75: { test in
            _ = try await test.ask()
            let lock = test.queue.path + "-lock"
            let holder = try Child("flock", [lock, "sh", "-c", "echo held; exec sleep 100"])
            #expect(await eventually { holder.output.text == "held\n" })
            let refused = try await test.queue.run("notify", "Can't")
            holder.kill(SIGKILL)
            return [refused]
        },
        77: { test in
            symlink("/dev/null", test.queue.path + "-lock")
            return [try await test.queue.run("notify", "Can't")]
        },
        125: { [try await $0.queue.run("run", "--timeout", "50ms", "true")] },
    ]

    private static func tableCodes() throws -> [Int32] {
        let text = try CodeBlock.text(of: CodeBlock.articles + "Command.md")
        let head = /(?s)\| exit \| meaning \|\n\|---\|---\|\n(.*?)\n\n/
        let rows = try #require(text.firstMatch(of: head)).1
        return rows.split(separator: "\n").flatMap { row in
            (row.split(separator: "|").first ?? "").matches(of: /[0-9]+/).compactMap {
                Int32($0.0)
            }
        }
    }

    @Test("Each exit code of the table is returned when its row says", arguments: try tableCodes())
    func code(code: Int32) async throws {
        let end = try #require(Self.ends[code], "no trial of \(code)")
        for finished in try await end(self) {
            #expect(finished.code == code, "\(finished)")
            // stdout carries results only, and a verb that fails prints why.
            if ![0, 1, 10].contains(code) {
                #expect(finished.output.isEmpty)
                #expect(finished.errors.contains("alertq: "))
            }
        }
    }
}
