import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// What a hook of a coding agent does when nobody answers, and when something fails: it never
/// allows anything, and says which of the two it was.
@Suite("Hooks of coding agents without an answer", .inParallel)
struct AgentHookEndTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    // MARK: - Nobody

    /// A request, the options, and the words of the reply; without words, there is none.
    struct Silence: CustomTestStringConvertible, Sendable {
        let sample: String
        let mode: String?
        let options: [String]
        let says: String?
        var testDescription: String { "\(sample) in \(mode ?? "no mode"): \(options)" }

        init(_ sample: String, _ mode: String?, _ says: String?, _ options: String...) {
            (self.sample, self.mode, self.says, self.options) = (sample, mode, says, options)
        }

        /// Checks that a hook has replied so, or not at all, for the reason that has these words.
        func check(_ finished: Finished, _ words: String) {
            #expect(finished.code == 0, "\(finished)")
            if let says {
                #expect(finished.output.contains(says) && finished.output.contains(words))
            } else {
                #expect(finished.output.isEmpty && finished.errors.contains(words), "\(finished)")
            }
        }
    }

    static let silences = [
        Silence("claude-permission-request", "default", nil),
        Silence("claude-permission-request", "acceptEdits", nil),
        Silence("claude-permission-request", "plan", nil),
        Silence("codex-permission-request", "default", nil),
        // Its own prompt is open beside the hook, or it denies by itself.
        Silence("claude-permission-request", "dontAsk", nil),
        Silence("claude-permission-request", "bypassPermissions", nil),
        Silence("claude-permission-request", "auto", nil),
        Silence("claude-permission-request", "unheardOf", nil),
        Silence("claude-permission-request", nil, nil),
        // Here silence could be taken for consent.
        Silence("codex-permission-request", "bypassPermissions", #""behavior":"deny""#),
        Silence("codex-permission-request", nil, #""behavior":"deny""#),
        Silence("claude-pre-tool-use", "default", #""permissionDecision":"deny""#),
        Silence("codex-pre-tool-use", "default", #""permissionDecision":"deny""#),
        // Both can be forced, as far as the agent can be made to ask.
        Silence(
            "claude-permission-request", "default", #""behavior":"deny""#, "--if-unanswered",
            "deny"),
        Silence("claude-permission-request", "dontAsk", nil, "--if-unanswered", "prompt"),
        Silence(
            "claude-pre-tool-use", "default", #""permissionDecision":"ask""#, "--if-unanswered",
            "prompt"),
        Silence(
            "codex-pre-tool-use", "default", #""permissionDecision":"deny""#, "--if-unanswered",
            "prompt"),
        Silence("codex-permission-request", "default", nil, "--if-unanswered", "prompt"),
        Silence(
            "codex-permission-request", "bypassPermissions", #""behavior":"deny""#,
            "--if-unanswered", "prompt"),
    ]

    @Test(
        "Without an answer it says nothing if the agent then asks by itself, and denies if not",
        arguments: silences)
    func nobody(_ silence: Silence) async throws {
        let request = try HookSample.bytes(
            silence.sample, with: ["permission_mode": silence.mode])
        let finished = try await queue.hook(
            HookSample.agent(silence.sample), request, ["--wait", "100ms"] + silence.options
        ).finish()
        silence.check(
            finished, "nobody answered within 100 ms: alert 1 expired without having been shown")
        let record = try #require(try await queue.objects("show", "1").first)
        #expect(record["outcome"] as? String == "expired" && record["button"] is NSNull)
    }

    @Test(
        "A question that nobody answered is asked anew, with or without an id",
        arguments: [
            "claude-pre-tool-use", "claude-permission-request",
        ])
    func anew(sample: String) async throws {
        for id in 1...3 {
            let finished = try await queue.hook(
                "claude", HookSample.bytes(sample), ["--wait", "50ms", "--if-unanswered", "deny"]
            ).finish()
            #expect(finished.output.contains(": alert \(id) expired"), "\(finished)")
        }
        let hook = try queue.hook("claude", HookSample.bytes(sample))
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        _ = try await queue.runInTerminal("answer", "4", "allow")
        #expect(await hook.finish().output.contains(#""allow""#))
    }

    @Test(
        "A question that expired after its hook was killed is asked anew",
        arguments: ["claude-pre-tool-use", "claude-permission-request"])
    func expiredAlone(sample: String) async throws {
        let killed = try queue.hook("claude", HookSample.bytes(sample), ["--wait", "2s"])
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        killed.kill(SIGKILL)
        _ = await killed.exit()
        // No other process is there to see it expire.
        try await Task.sleep(for: .seconds(2))
        let finished = try await queue.hook(
            "claude", HookSample.bytes(sample), ["--wait", "50ms", "--if-unanswered", "deny"]
        ).finish()
        #expect(finished.output.contains(": alert 2 expired"), "\(finished)")
    }

    @Test(
        "While nobody is at any screen nothing is asked, unless it is to wait", arguments: silences)
    func unattended(_ silence: Silence) async throws {
        let request = try HookSample.bytes(
            silence.sample, with: ["permission_mode": silence.mode])
        let wish = silence.options.last.map { ["--if-unattended", $0] } ?? []
        let finished = try await queue.hookAsConfigured(
            HookSample.agent(silence.sample), request, wish
        ).finish()
        silence.check(
            finished, "nobody answered: no screen shows alerts, so nothing was asked")
        #expect(try await queue.objects("list").isEmpty)
        #expect(try await queue.objects("history").isEmpty)
    }

    @Test("A question is asked only if some screen may show it")
    func attended() async throws {
        let terminal = try PseudoTerminal()
        let screen = try await queue.screen(on: terminal)
        let request = try HookSample.bytes("claude-permission-request")
        let hook = try queue.hookAsConfigured("claude", request, [])
        #expect(await terminal.shows("Claude Code wants to run a command"))
        _ = try await queue.runInTerminal("answer", "1", "allow")
        #expect(await hook.finish().output.contains(#""behavior":"allow""#))
        let other = try await queue.hookAsConfigured("claude", request, ["--on", "desktop"])
            .finish()
        #expect(other.output.isEmpty && other.errors.contains("no screen shows"), "\(other)")
        screen.kill(SIGTERM)
        _ = await screen.exit()
    }

    // MARK: - Failures

    @Test(
        "A signal denies, and withdraws the question", arguments: [SIGTERM, SIGINT, SIGHUP],
        ["claude-pre-tool-use", "claude-permission-request"])
    func signal(number: Int32, sample: String) async throws {
        let request = try HookSample.bytes(sample)
        let hook = try queue.hook("claude", request)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        hook.kill(number)
        let finished = await hook.finish()
        #expect(finished.code == 2, "\(finished)")
        let says = "nobody answered: the agent ended its hook with SIG"
        #expect(finished.errors.contains(says) && finished.output.contains(says), "\(finished)")
        #expect(finished.errors.contains("and alert 1 was withdrawn"), "\(finished)")
        let record = try #require(try await queue.objects("show", "1").first)
        #expect(record["outcome"] as? String == "withdrawn")
        let log = try await queue.run("audit", "list", "--alert", "1")
        #expect(log.output.contains("the agent ended its hook with SIG"), "\(log)")
        // The same request asks anew, and a late answer is refused.
        let again = try queue.hook("claude", request)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        #expect(try await queue.runInTerminal("answer", "1", "allow").code == 16)
        _ = try await queue.runInTerminal("answer", "2", "allow")
        #expect(await again.finish().output.contains("allow"))
        #expect(try await queue.isSound())
    }

    @Test("When its reader has gone, the question is withdrawn")
    func noReader() async throws {
        let request = queue.directory + "/request"
        try Data(HookSample.bytes("claude-permission-request")).write(to: URL(filePath: request))
        let script = """
            \(CommandLineQueue.program) hook claude --if-unattended wait <\(request) | sleep 1000
            """
        let pipeline = try Child(
            "bash", ["-c", "set -o pipefail; " + script],
            environment: ["ALERTQ_DATABASE": queue.path])
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let sleeper = try #require(
            queue.processes.first { LinuxFile.whole("/proc/\($0)/comm") == "sleep\n" })
        kill(sleeper, SIGKILL)
        #expect(await pipeline.finish().errors.contains("the agent no longer reads the reply"))
        #expect(try await queue.objects("list").isEmpty)
        let record = try #require(try await queue.objects("show", "1").first)
        #expect(record["outcome"] as? String == "withdrawn")
    }

    @Test("A signal while the request is being read denies")
    func earlySignal() async throws {
        let pipe = try Linux.Pipe()
        let hook = try queue.hook("codex", reading: pipe)
        // It handles signals once its pipe for them is there.
        let status = "/proc/\(hook.pid)/status"
        let caught = "SigCgt:\t"
        #expect(
            await eventually {
                let text = (try? String(contentsOfFile: status, encoding: .utf8)) ?? ""
                let line = text.split(separator: "\n").first { $0.hasPrefix(caught) }
                let mask = line.flatMap { UInt64($0.dropFirst(caught.count), radix: 16) } ?? 0
                return mask & (1 << UInt64(SIGTERM - 1)) != 0
            })
        hook.kill(SIGTERM)
        let finished = await hook.finish()
        #expect(finished.code == 2, "\(finished)")
        #expect(finished.errors.contains("ended its hook with SIGTERM, and nothing was asked"))
        withExtendedLifetime(pipe) {}
    }

    @Test(
        "A queue that can't be reached denies, and says that",
        arguments: [
            "missing", "damaged", "foreign", "locked", "full", "read-only",
        ])
    func unreachable(what: String) async throws {
        var options: [String] = []
        var wrapper: [String] = []
        var holder: Child?
        switch what {
        case "missing": options = ["--database", queue.directory + "/missing/queue.db"]
        case "damaged":
            _ = try await queue.run("notify", "First")
            for ending in ["-wal", "-shm"] { unlink(queue.path + ending) }
            let file = try FileHandle(forUpdating: URL(filePath: queue.path))
            try file.seek(toOffset: 100)
            try file.write(contentsOf: Data(repeating: 0xAA, count: 40_000))
        case "foreign":
            try Data("some text\n".utf8).write(to: URL(filePath: queue.path))
        case "full":
            // No file may grow, which is reported like a full disk; not even a sanitizer's.
            guard Sanitizer.name == nil else { return }
            _ = try await queue.run("notify", "First")
            wrapper = ["sh", "-c", #"ulimit -f 0; exec "$@""#, "sh"]
        case "read-only":
            _ = try await queue.run("notify", "First")
            let script = #"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#
            wrapper = ["unshare", "-m", "sh", "-c", script, queue.directory]
            guard ReadOnlyTests.isAllowed else { return }
        default:
            _ = try await queue.run("notify", "First")
            holder = try await queue.lockHolder()
        }
        for (sample, says) in [
            ("claude-permission-request", #""behavior":"deny""#),
            ("codex-pre-tool-use", #""permissionDecision":"deny""#),
        ] {
            let finished = try await queue.hook(
                HookSample.agent(sample), HookSample.bytes(sample), options, under: wrapper
            ).finish()
            #expect(finished.code == 2, "\(finished)")
            #expect(finished.output.contains(says), "\(finished)")
            #expect(finished.output.contains("the queue can't be reached: "), "\(finished)")
            #expect(finished.errors.contains("the queue can't be reached: "), "\(finished)")
        }
        holder?.kill(SIGKILL)
        _ = await holder?.exit()
    }

    @Test(
        "A reply that can't be written is a denial: an approval is used up, a refusal kept",
        arguments: ["allow", "deny"])
    func unheard(button: String) async throws {
        let request = queue.directory + "/request"
        let sample = "claude-permission-request"
        try Data(HookSample.bytes(sample)).write(to: URL(filePath: request))
        let hook = try Child(
            "sh",
            [
                "-c",
                "exec \(CommandLineQueue.program) hook claude --if-unattended wait <$0 >/dev/full",
                request,
            ],
            environment: ["ALERTQ_DATABASE": queue.path])
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        _ = try await queue.runInTerminal("answer", "1", button)
        let finished = await hook.finish()
        #expect(finished.code == 2, "\(finished)")
        #expect(finished.errors.contains("the reply can't be written: "), "\(finished)")
        let shown = try await queue.objects("show", "1").first
        #expect((shown?["collected_at"] is String) == (button == "allow"), "\(shown ?? [:])")
        let again = try queue.hook("claude", HookSample.bytes(sample))
        if button == "allow" {
            #expect(try await eventually { try await queue.objects("list").count == 1 })
            _ = try await queue.runInTerminal("answer", "2", "deny")
        }
        #expect(await again.finish().output.contains(#""behavior":"deny""#))
    }

    @Test(
        "A wrong option denies",
        arguments: [
            ["hook", "claude", "--wiat", "5"], ["hook", "claude", "--wait", "never"], ["hook"],
            ["hook", "cluade"], ["hook", "codex", "--if-unanswered", "allow"],
            ["hook", "codex", "--database", "a", "--system"],
        ])
    func usage(words: [String]) async throws {
        let finished = try await queue.start(words).finish()
        #expect(finished.code == 2 && finished.output.isEmpty, "\(finished)")
        #expect(finished.errors.contains("alertq: "))
    }

    @Test("A wrong option denies in the agent's format, too", arguments: HookSample.all)
    func wrongOption(sample: String) async throws {
        for option in [["--wiat", "5"], ["--source", ""], ["--on", ""], ["extra"]] {
            let finished = try await queue.hook(
                HookSample.agent(sample), HookSample.bytes(sample), option
            ).finish()
            #expect(finished.code == 2 && finished.output.contains("\"deny\""), "\(finished)")
            #expect(finished.output.contains("the hook's options: "), "\(finished)")
        }
    }
}
