import Foundation
import Glibc
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
        let killed = try await asking(sample)
        killed.kill(SIGKILL)
        _ = await killed.exit()
        _ = try await queue.runInTerminal("answer", "1", "allow")
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
        killed.kill(SIGKILL)
        _ = await killed.exit()
        _ = try await queue.runInTerminal("answer", "1", "allow")
        let other = try queue.hook("claude", request)
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let log = try await queue.run("audit", "list", "--alert", "1").output
        #expect(log.contains("not used: it was given to an earlier request"), "\(log)")
        _ = try await queue.runInTerminal("answer", "2", "allow")
        #expect(await other.finish().output.contains(#""behavior":"allow""#))
    }

    @Test(
        "A repeated request joins the alert that waits, and gets its answer",
        arguments: [
            "claude-pre-tool-use", "codex-permission-request",
        ])
    func repeated(sample: String) async throws {
        let first = try await asking(sample)
        let second = try queue.hook(HookSample.agent(sample), HookSample.bytes(sample))
        // It waits as well once it has asked; until then the answer would reach it all the same.
        first.kill(SIGKILL)
        _ = await first.exit()
        let third = try queue.hook(HookSample.agent(sample), HookSample.bytes(sample))
        for hook in [second, third] { #expect(await isWaiting(hook)) }
        _ = try await queue.runInTerminal("answer", "1", "allow")
        for hook in [second, third] {
            let finished = await hook.finish()
            #expect(finished.code == 0 && finished.output.contains(#""allow""#), "\(finished)")
        }
        #expect(try await queue.objects("history").count == 1)
        #expect(try await queue.objects("list").isEmpty)
    }

    /// Whether soon a hook listens to the log, which it does last.
    private func isWaiting(_ hook: Child) async -> Bool {
        await eventually {
            let folder = "/proc/\(hook.pid)/fd"
            let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return numbers.contains { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: folder + "/" + number)
                return target == "anon_inode:inotify"
            }
        }
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
        let killed = try await asking(sample)
        killed.kill(SIGKILL)
        _ = await killed.exit()
        _ = try await queue.runInTerminal("answer", "1", "allow")
        try await Task.sleep(for: .milliseconds(60))
        let finished = try await queue.hook(
            "claude", HookSample.bytes(sample), ["--wait", "50ms", "--if-unanswered", "deny"]
        ).finish()
        #expect(finished.output.contains("nobody answered within 50 ms: alert 2"), "\(finished)")
    }

    @Test("After an answer was taken, the same request without an id is a new question")
    func anew() async throws {
        for (sample, isNew) in [("claude-permission-request", true), ("claude-write", false)] {
            let queue = try CommandLineQueue()
            for round in 1...2 where round == 1 || isNew {
                let hook = try queue.hook("claude", HookSample.bytes(sample))
                #expect(try await eventually { try await queue.objects("list").count == 1 })
                _ = try await queue.runInTerminal("answer", "\(round)", "allow")
                #expect(await hook.finish().output.contains(#""allow""#))
            }
            // The same use of a tool has its answer.
            if !isNew {
                let finished = try await queue.hook("claude", HookSample.bytes(sample)).finish()
                #expect(finished.output.contains(#""allow""#), "\(finished)")
            }
            #expect(try await queue.objects("history").count == (isNew ? 2 : 1))
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
