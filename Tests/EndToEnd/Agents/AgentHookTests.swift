import Foundation
import Glibc
import Linux
import ProcessTesting
import TestSupport
import Testing

/// The hooks of coding agents, from the documented request to the reply.
@Suite("Hooks of coding agents", .inParallel)
struct AgentHookTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// A hook whose request waits as the only alert, or as one of several.
    private func asking(
        _ sample: String, _ options: String..., waiting count: Int = 1
    ) async throws -> Child {
        let hook = try queue.hook(
            HookSample.agent(sample), HookSample.bytes(sample), options)
        #expect(try await eventually { try await queue.objects("list").count == count })
        return hook
    }

    /// Kills a hook, whose request somebody then allows.
    private func allowAfterKill(of hook: Child) async throws {
        hook.kill(SIGKILL)
        _ = await hook.exit()
        _ = try await queue.runInTerminal("answer", "1", "allow")
    }

    private static let approvals = [
        "claude-pre-tool-use": #"PreToolUse","permissionDecision":"allow","permissionDecisionR"#,
        "claude-permission-request": #"PermissionRequest","decision":{"behavior":"allow"}}}"#,
        "claude-write": #"PreToolUse","permissionDecision":"allow","permissionDecisionReason"#,
        "codex-permission-request": #"PermissionRequest","decision":{"behavior":"allow"}}}"#,
        // Codex reports a plain “allow” as an error; silence lets the tool run.
        "codex-pre-tool-use": "",
    ]

    @Test("An allowed request gets the agent's own reply, and is collected", arguments: approvals)
    func allowed(sample: String, reply: String) async throws {
        let hook = try await asking(sample)
        let answered = try await queue.runInTerminal("answer", "1", "allow")
        #expect(answered.code == 0, "\(answered)")
        let finished = await hook.finish()
        #expect(finished.code == 0, "\(finished)")
        let start = #"{"hookSpecificOutput":{"hookEventName":""#
        let isRight =
            reply.isEmpty ? finished.output.isEmpty : finished.output.hasPrefix(start + reply)
        #expect(isRight, "\(finished.output)")
        #expect(finished.errors.isEmpty, "\(finished.errors)")
        let record = try #require(try await queue.objects("show", "1").first)
        #expect(record["collected_at"] is String)
        #expect(record["source"] as? String == HookSample.agent(sample))
        #expect(try await queue.isSound())
    }

    @Test("An answer that was given to the agent is asked for again after a restore")
    func restored() async throws {
        let sample = "claude-permission-request"
        try await allowAfterKill(of: try await asking(sample))
        let backup = queue.directory + "/backup.db"
        #expect(try await queue.run("backup", backup).code == 0)
        let second = try queue.hook(HookSample.agent(sample), HookSample.bytes(sample))
        #expect(await second.finish().output.contains(#""behavior":"allow""#))
        #expect(try await queue.run("restore", backup, "--force").code == 0)
        let third = try await asking(sample)
        #expect(third.output.text.isEmpty)
        third.kill(SIGTERM)
        _ = await third.exit()
    }

    @Test("A denied request says who denied it, how and when", arguments: HookSample.all)
    func denied(sample: String) async throws {
        let hook = try await asking(sample)
        _ = try await queue.runInTerminal("answer", "1", "deny")
        let finished = await hook.finish()
        #expect(finished.code == 0, "\(finished)")
        let who = "denied by a person: alert 1 was answered “Deny” by "
        let how = try Regex(" via answer on /dev/pts/[0-9]+ at [-0-9]+ [:0-9]+ [-+A-Z0-9:]+\"")
        #expect(finished.output.contains(who), "\(finished.output)")
        #expect(finished.output.contains(how), "\(finished.output)")
        #expect(finished.output.contains(#":"deny""#))
    }

    @Test("Only a person allows with --only-person, and a program may deny")
    func onlyPerson() async throws {
        for (button, says) in [
            ("allow", "not approved: alert 1 was answered “Allow once” by "),
            ("deny", "denied by a program: "),
        ] {
            let queue = try CommandLineQueue()
            let hook = try queue.hook(
                "claude", HookSample.bytes("claude-permission-request"), ["--only-person"])
            #expect(try await eventually { try await queue.objects("list").count == 1 })
            #expect(try await queue.run("answer", "1", button).code == 0)
            let finished = await hook.finish()
            #expect(finished.output.contains(#""behavior":"deny""#), "\(finished)")
            #expect(finished.output.contains(says), "\(finished)")
        }
    }

    @Test("An answer of a program is one, and says so")
    func program() async throws {
        let hook = try await asking("claude-pre-tool-use")
        _ = try await queue.run("answer", "1", "allow")
        let finished = await hook.finish()
        #expect(finished.output.contains("alertq: allowed by a program: alert 1"), "\(finished)")
    }

    @Test("An alert that was cancelled is not approved")
    func cancelled() async throws {
        let hook = try await asking("claude-permission-request")
        _ = try await queue.run("cancel", "1")
        let finished = await hook.finish()
        #expect(finished.output.contains(#""behavior":"deny""#), "\(finished)")
        #expect(finished.output.contains("not approved: alert 1 was cancelled"), "\(finished)")
    }

    @Test(
        "An alert that was withdrawn gets no verdict, or a denial where silence would allow",
        arguments: [
            ("claude-permission-request", ""), ("codex-permission-request", ""),
            ("claude-pre-tool-use", #""permissionDecision":"deny""#),
            ("codex-pre-tool-use", #""permissionDecision":"deny""#),
        ])
    func withdrawn(sample: String, says: String) async throws {
        let hook = try await asking(sample)
        _ = try await queue.run("withdraw", "1")
        let finished = await hook.finish()
        #expect(finished.code == 0 && finished.output.isEmpty == says.isEmpty, "\(finished)")
        #expect(says.isEmpty || finished.output.contains(says), "\(finished)")
    }

    @Test(
        "An answer counts for the turn and the subagent that asked, and for no other",
        arguments: [
            ("claude-permission-request", "prompt_id"), ("claude-permission-request", "agent_id"),
            ("codex-permission-request", "turn_id"), ("claude-pre-tool-use", "prompt_id"),
        ])
    func otherTurn(sample: String, member: String) async throws {
        try await allowAfterKill(of: try await asking(sample))
        let other = try queue.hook(
            HookSample.agent(sample), HookSample.bytes(sample, with: [member: "another"]))
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        _ = try await queue.runInTerminal("answer", "2", "deny")
        #expect(await other.finish().output.contains("denied by a person: alert 2"))
    }

    @Test("An answer left over from a request that names no turn is not used, and the log says so")
    func noTurn() async throws {
        let request = try HookSample.bytes("claude-permission-request", with: ["prompt_id": nil])
        let killed = try queue.hook("claude", request)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        try await allowAfterKill(of: killed)
        let other = try queue.hook("claude", request)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let log = try await queue.run("audit", "list", "--alert", "1").output
        #expect(log.contains("not used: it answers an earlier request"), "\(log)")
        _ = try await queue.runInTerminal("answer", "2", "allow")
        #expect(await other.finish().output.contains(#""behavior":"allow""#))
    }

    @Test(
        "A repeated request joins the alert that waits; one hook uses the answer, others ask again",
        arguments: [
            "claude-pre-tool-use", "codex-permission-request",
        ])
    func repeated(sample: String) async throws {
        let first = try await asking(sample)
        first.kill(SIGKILL)
        _ = await first.exit()
        let second = try queue.hook(HookSample.agent(sample), HookSample.bytes(sample))
        #expect(await isWaiting(second))
        #expect(try await queue.objects("list").count == 1)
        let third = try queue.hook(HookSample.agent(sample), HookSample.bytes(sample))
        #expect(await isWaiting(third))
        #expect(try await queue.objects("list").count == 1)
        _ = try await queue.runInTerminal("answer", "1", "allow")
        let allowed = await second.finish()
        #expect(!allowed.output.contains("deny") && allowed.code == 0, "\(allowed)")
        #expect(
            try await eventually { try await queue.objects("list").first?["id"] as? Int == 2 })
        _ = try await queue.runInTerminal("answer", "2", "deny")
        #expect(await third.finish().output.contains("denied by a person: alert 2"))
    }

    /// Whether soon a hook listens to the log, which it does last.
    private func isWaiting(_ hook: Child) async -> Bool {
        await eventually {
            let folder = "/proc/\(hook.pid)/fd"
            return LinuxFile.names(in: folder).contains { name in
                LinuxFile.link("\(folder)/\(name)") == "anon_inode:inotify"
            }
        }
    }

    @Test("An answer is not logged as not used while its hook is returning it")
    func returning() async throws {
        let file = queue.directory + "/request"
        try Data(HookSample.bytes("claude-permission-request")).write(to: URL(filePath: file))
        // The pipe to the agent is full, so that the reply takes as long as this test wants.
        let script = """
            { head -c 65536 /dev/zero; exec "$0" hook claude --if-unattended wait <"$1"; } |
                { while [ ! -e "$1.read" ]; do sleep 0.05; done; tail -c +65537; }
            """
        let agent = try Child(
            "bash", ["-c", script, CommandLineQueue.program, file],
            environment: ["ALERTQ_DATABASE": queue.path])
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        _ = try await queue.runInTerminal("answer", "1", "allow")
        let stop = try HookSample.bytes(
            "claude-permission-request", with: ["hook_event_name": "Stop"])
        #expect(try await queue.hookAsConfigured("claude", stop, []).finish().code == 0)
        try Data().write(to: URL(filePath: file + ".read"))
        #expect(await agent.finish().output.contains(#""behavior":"allow""#))
        let log = try await queue.run("audit", "list", "--alert", "1").output
        #expect(log.contains("collected") && !log.contains("not used"), "\(log)")
    }

    @Test("An answer that came after the hook was killed reaches the next one")
    func killed() async throws {
        for sample in ["claude-pre-tool-use", "claude-permission-request"] {
            let queue = try CommandLineQueue()
            let killed = try queue.hook("claude", HookSample.bytes(sample))
            #expect(try await eventually { try await queue.objects("list").count == 1 })
            killed.kill(SIGKILL)
            _ = await killed.exit()
            _ = try await queue.runInTerminal("answer", "1", "allow")
            let finished = try await queue.hook("claude", HookSample.bytes(sample)).finish()
            #expect(finished.code == 0 && finished.output.contains(#""allow""#), "\(finished)")
            #expect(try await queue.objects("history").count == 1)
        }
    }

    @Test("An answer that nobody has collected for longer than a hook waits is not used")
    func stale() async throws {
        let sample = "claude-permission-request"
        try await allowAfterKill(of: try await asking(sample))
        try await Task.sleep(for: .milliseconds(60))
        let finished = try await queue.hook(
            "claude", HookSample.bytes(sample), ["--wait", "50ms", "--if-unanswered", "deny"]
        ).finish()
        #expect(finished.output.contains("nobody answered within 50 ms: alert 2"), "\(finished)")
    }

    @Test("After an answer was taken, the same request is a new question")
    func anew() async throws {
        for sample in ["claude-permission-request", "claude-write"] {
            let queue = try CommandLineQueue()
            for round in 1...2 {
                let hook = try queue.hook("claude", HookSample.bytes(sample))
                #expect(try await eventually { try await queue.objects("list").count == 1 })
                _ = try await queue.runInTerminal("answer", "\(round)", "allow")
                #expect(await hook.finish().output.contains(#""allow""#))
            }
            #expect(try await queue.objects("history").count == 2)
        }
    }

    @Test("Two requests at once get their own answers")
    func two() async throws {
        let write = try await asking("claude-write")
        let command = try await asking("codex-permission-request", waiting: 2)
        _ = try await queue.runInTerminal("answer", "2", "deny")
        _ = try await queue.runInTerminal("answer", "1", "allow")
        #expect(await write.finish().output.contains(#""permissionDecision":"allow""#))
        #expect(await command.finish().output.contains("denied by a person: alert 2"))
    }
}
