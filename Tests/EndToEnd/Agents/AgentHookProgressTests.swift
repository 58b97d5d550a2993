import Foundation
import Glibc
import ProcessTesting
import TestSupport
import Testing

/// Coding agents that go on without the answer: their own prompt was answered, or they were stopped.
@Suite("Coding agents that go on", .inParallel)
struct AgentHookProgressTests {
    let queue: CommandLineQueue

    init() throws { queue = try CommandLineQueue() }

    /// A message with other members than the sample's.
    private typealias Members = [String: (any Sendable)?]

    private static let request = "claude-permission-request"

    private func asking(_ members: Members = [:], waiting count: Int = 1) async throws -> Child {
        let hook = try queue.hook("claude", HookSample.bytes(Self.request, with: members))
        #expect(try await eventually { try await queue.objects("list").count == count })
        return hook
    }

    /// Sends an event; it has no reply, and never fails.
    private func tell(_ event: String, _ members: Members = [:]) async throws {
        let bytes = try HookSample.bytes(
            Self.request, with: members.merging(["hook_event_name": event]) { $1 })
        let finished = try await queue.hookAsConfigured("claude", bytes, []).finish()
        #expect(finished.code == 0 && finished.output.isEmpty, "\(finished)")
    }

    private func isWaiting(_ id: Int) async throws -> Bool {
        try await queue.objects("list").contains { $0["id"] as? Int == id }
    }

    /// An event after which the question is no longer asked, and what the log says.
    private static let ends: [(event: String, members: [String: (any Sendable)?], says: String)] = [
        ("PostToolUse", ["tool_use_id": "toolu_1"], "it has used the tool"),
        ("PostToolUseFailure", [:], "it has tried to use the tool"),
        ("UserPromptSubmit", ["prompt_id": "another", "tool_input": nil], "it has another prompt"),
        ("Interrupt", ["tool_name": nil, "tool_input": nil], "it was interrupted"),
        ("Stop", ["tool_name": nil], "its turn has ended"),
        ("SessionEnd", ["prompt_id": nil, "cwd": nil], "its session has ended"),
    ]

    @Test("The question is withdrawn, its hook ends without a verdict, and the log says why")
    func ends() async throws {
        for (index, end) in Self.ends.enumerated() {
            let hook = try await asking()
            try await tell(end.event, end.members)
            let finished = await hook.finish()
            #expect(finished.code == 0 && finished.output.isEmpty, "\(end.event): \(finished)")
            let id = "\(index + 1)"
            #expect(try await queue.runInTerminal("answer", id, "deny").code == 16)
            let log = try await queue.run("audit", "list", "--alert", id).output
            #expect(log.contains("the agent moved on: " + end.says), "\(log)")
        }
        #expect(try await queue.isSound())
    }

    /// An event that says nothing about the question.
    private static let others: [(event: String, members: [String: (any Sendable)?])] = [
        ("PostToolUse", ["session_id": "another"]), ("PostToolUse", ["prompt_id": "another"]),
        ("PostToolUse", ["agent_id": "agent-7"]), ("PostToolUse", ["tool_name": "Write"]),
        ("PostToolUse", ["tool_input": ["command": "ls"]]), ("Stop", ["session_id": "another"]),
        ("UserPromptSubmit", [:]), ("SubagentStop", ["agent_id": "agent-7"]), ("SubagentStop", [:]),
        ("Stop", ["agent_id": "agent-7"]),
        (
            "PostToolUse",
            ["tool_input": ["command": "rm -rf node_modules", "timeout": "5"]]
        ),
        ("SessionEnd", ["session_id": "another"]),
    ]

    @Test("What another session, turn, subagent or tool does changes nothing")
    func others() async throws {
        let hook = try await asking()
        for other in Self.others {
            try await tell(other.event, other.members)
            #expect(try await isWaiting(1), "\(other)")
        }
        hook.kill(SIGTERM)
        #expect(await hook.exit() == 2)
    }

    @Test("A subagent goes on asking after the end of a turn, and until it ends itself")
    func subagents() async throws {
        let first = try await asking(["agent_id": "agent-7"])
        let second = try await asking(["agent_id": "agent-8"], waiting: 2)
        for event in ["Stop", "UserPromptSubmit", "Interrupt"] {
            try await tell(event, ["prompt_id": "another"])
        }
        #expect(try await queue.objects("list").count == 2)
        try await tell("SubagentStop", ["agent_id": "agent-7"])
        #expect(await first.finish().output.isEmpty)
        #expect(try await isWaiting(2))
        try await tell("SessionEnd")
        #expect(await second.finish().output.isEmpty)
    }

    @Test("Of two equal uses with ids, one that has ended says nothing about the other")
    func equalUses() async throws {
        let sample = "claude-pre-tool-use"
        let hook = try queue.hook("claude", HookSample.bytes(sample))
        #expect(try await eventually { try await queue.objects("list").count == 1 })
        let event = "PostToolUse"
        for id in ["another", nil, "toolu_01XyZ9kLmNoPqRsTuVwXyZ12"] {
            #expect(try await isWaiting(1))
            let bytes = try HookSample.bytes(
                sample, with: ["hook_event_name": event, "tool_use_id": id])
            let told = try await queue.hookAsConfigured("claude", bytes, []).finish()
            #expect(told.code == 0)
        }
        #expect(await hook.finish().output.contains(#""permissionDecision":"deny""#))
    }

    @Test("An answer that comes when no hook is left, before the agent goes on, is not used")
    func unused() async throws {
        let killed = try await asking()
        killed.kill(SIGKILL)
        _ = await killed.exit()
        _ = try await queue.runInTerminal("answer", "1", "deny")
        try await tell("PostToolUse")
        let log = try await queue.run("audit", "list", "--alert", "1").output
        #expect(log.contains("probably not used: its asker has gone on"), "\(log)")
        // The same request in the same turn asks anew.
        let again = try await asking()
        _ = try await queue.runInTerminal("answer", "2", "allow")
        #expect(await again.finish().output.contains(#""behavior":"allow""#))
        #expect(try await queue.isSound())
    }

    @Test("Without a queue, or with one that can't be read, an event changes nothing")
    func unreachable() async throws {
        try await tell("Stop")
        #expect(!FileManager.default.fileExists(atPath: queue.path))
        try Data("some text\n".utf8).write(to: URL(filePath: queue.path))
        let bytes = try HookSample.bytes(Self.request, with: ["hook_event_name": "Stop"])
        let told = try await queue.hookAsConfigured("claude", bytes, []).finish()
        #expect(told.code == 0 && told.errors.contains("the queue can't be reached"), "\(told)")
    }

    @Test("A wrong option is no reason for the agent to go on for ever")
    func wrongOption() async throws {
        let bytes = try HookSample.bytes(Self.request, with: ["hook_event_name": "Stop"])
        let told = try await queue.hookAsConfigured("claude", bytes, ["--wiat", "5"]).finish()
        #expect(told.code == 64 && told.output.isEmpty, "\(told)")
    }

    @Test("Nor is a location that can't be read, and a request is denied for it")
    func wrongLocation() async throws {
        let options = ["--database", "postgresql://u:p@x@h/db"]
        let stop = try HookSample.bytes(Self.request, with: ["hook_event_name": "Stop"])
        let told = try await queue.hookAsConfigured("claude", stop, options).finish()
        #expect(told.code != 2 && told.code != 0 && told.output.isEmpty, "\(told)")
        let request = try HookSample.bytes(Self.request)
        let denied = try await queue.hookAsConfigured("claude", request, options).finish()
        #expect(denied.code == 2 && denied.output.contains("deny"), "\(denied)")
    }
}
