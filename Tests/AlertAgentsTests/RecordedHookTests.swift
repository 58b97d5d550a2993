import AlertQueue
import ProcessTesting
import TestSupport
import Testing
import TextFormats

@testable import AlertAgents

/// What Claude Code and Codex themselves have sent to their hooks.
@Suite("Recorded messages of coding agents", .inParallel)
struct RecordedHookTests {
    private static let claude = "claude-2.1.331/"
    private static let codex = "codex-0.163.0/"

    private func request(_ name: String) throws -> HookRequest {
        guard case .request(let request) = try HookMessage(HookSample.bytes(name)) else {
            throw TestingError("\(name) is no request")
        }
        return request
    }

    private func question(_ name: String) throws -> HookQuestion {
        let agent = name.hasPrefix("claude") ? HookAgent.claude : .codex
        return try HookQuestion(try request(name), of: agent)
    }

    @Test(
        "Each request has a title that says what it is about",
        arguments: [
            (claude + "permission-request-command", "Claude Code wants to run a command"),
            (claude + "permission-request-edit", "Claude Code wants to edit notes.txt"),
            (claude + "permission-request-write", "Claude Code wants to write notes.txt"),
            (claude + "permission-request-subagent", "Claude Code wants to run a command"),
            (claude + "pre-tool-use-command", "Claude Code wants to run a command"),
            (codex + "permission-request-command", "Codex wants to run a command"),
            (codex + "permission-request-patch", "Codex wants to change notes.txt"),
            (codex + "pre-tool-use-patch", "Codex wants to run a command"),
        ])
    func titles(name: String, title: String) throws {
        let question = try question(name)
        #expect(question.title == title && question.isBoundToTurn)
        let request = try request(name)
        if let command = request.command { #expect(question.message.contains(":\n" + command)) }
    }

    @Test(
        "What the agent tells afterwards ends what it no longer asks, and nothing else",
        arguments: [
            (claude + "permission-request-edit", claude + "post-tool-use-edit", true),
            (claude + "permission-request-edit", claude + "post-tool-use-subagent", false),
            (claude + "permission-request-edit", claude + "post-tool-use-failure", false),
            (claude + "permission-request-edit", claude + "stop", true),
            (claude + "permission-request-edit", claude + "session-end", true),
            (claude + "permission-request-subagent", claude + "post-tool-use-subagent", true),
            (claude + "permission-request-subagent", claude + "subagent-stop", true),
            // A subagent in the background still asks when the turn that started it is over.
            (claude + "permission-request-subagent", claude + "stop-while-subagent-runs", false),
            (
                claude + "permission-request-subagent",
                claude + "user-prompt-submit-task-notification", false
            ),
            // Codex adds its reason to the request, and not to the use.
            (codex + "permission-request-command", codex + "post-tool-use", true),
            (codex + "permission-request-command", codex + "interrupt", true),
            (codex + "permission-request-patch", codex + "post-tool-use", false),
            (codex + "permission-request-patch", codex + "stop", true),
            (codex + "permission-request-patch", codex + "session-end", true),
        ])
    func ends(asked: String, told: String, isEnd: Bool) throws {
        let alert = try question(asked).alert(
            source: "a", HookOptions(), expiresAfter: .seconds(540))
        guard case .progress(let progress) = try HookMessage(HookSample.bytes(told)) else {
            throw TestingError("\(told) is a request")
        }
        #expect(progress.ends(alert.userInfo) == isEnd)
    }

    @Test("A message that says nothing about a question is refused by its name")
    func unknown() {
        let error = #expect(throws: UnreadableText.self) {
            try HookMessage(HookSample.bytes(Self.claude + "session-start"))
        }
        #expect(error?.description.hasPrefix("its event is “SessionStart”; this hook") == true)
    }
}
