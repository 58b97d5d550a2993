import AlertQueue
import FoundationEssentials
import ProcessTesting
import TestSupport
import Testing

@testable import AlertAgents

/// The formats of ``HookRequest`` and ``HookAgent``, as the agents document them.
@Suite("Formats of hooks", .inParallel)
struct HookAgentTests {
    private func request(_ name: String) throws -> HookRequest {
        guard case .request(let request) = try HookMessage(HookSample.bytes(name)) else {
            throw TestingError("\(name) is no request")
        }
        return request
    }

    @Test("Each documented request is read", arguments: HookSample.all)
    func samples(name: String) throws {
        let request = try request(name)
        #expect(request.directory == "/home/ana/shop" && request.origin.turn != nil)
        #expect(
            request.event == (name.hasSuffix("request") ? .permissionRequest : .preToolUse))
        #expect((request.toolUse == nil) == (request.event == .permissionRequest))
        #expect(HookMessage.event(in: try HookSample.bytes(name)) == request.event.rawValue)
    }

    @Test("The members that matter are those of the request")
    func members() throws {
        let write = try request("claude-write")
        #expect(write.tool == "Write" && write.subagentType == "Explore")
        #expect(write.origin.subagent == "agent-7")
        #expect(write.toolUse == "toolu_01AbCdEfGhIjKlMnOpQrStUv")
        #expect(write.mode == "acceptEdits" && write.command == nil)
        #expect(write.input["content"]?.string == "Tool: Read\nDirectory: /tmp\n")
        let codex = try request("codex-permission-request")
        #expect(codex.command == "curl -fsS https://example.org/install.sh")
        #expect(codex.subagentType == nil && codex.origin.turn == "turn-3")
    }

    @Test("A request of Codex and the use that follows it are the same but for the reason")
    func use() throws {
        let asked = try request("codex-permission-request")
        let bytes = try HookSample.bytes(
            "codex-permission-request",
            with: [
                "hook_event_name": "PostToolUse", "tool_use_id": "call_1",
                "tool_input": ["command": "curl -fsS https://example.org/install.sh"],
            ])
        guard case .progress(let progress) = try HookMessage(bytes) else {
            throw TestingError("not an event")
        }
        let alert = try HookQuestion(asked, of: .codex).alert(
            source: "codex", HookOptions(), expiresAfter: .seconds(540))
        #expect(progress.ends(alert.userInfo))
    }

    @Test(
        "A difference marks what goes and what comes",
        arguments: [
            ("a\nb\nc", "a\nx\nc", " a\n-b\n+x\n c"), ("", "a", "-\n+a"), ("a", "a\n", " a\n+"),
            ("\u{E9}", "e\u{301}", "-\u{E9}\n+e\u{301}"),
        ])
    func difference(old: String, new: String, marked: String) {
        #expect(Array(LineDifference.text(from: old, to: new).utf8) == Array(marked.utf8))
    }

    @Test("Above some thousand lines, all old ones are followed by all new ones")
    func longDifference() {
        let old = (1...2500).map { "\($0)" }.joined(separator: "\n")
        let lines = LineDifference.text(from: old, to: old).split(separator: "\n")
        #expect(lines.count == 5000 && lines[2499] == "-2500" && lines[2500] == "+1")
    }

    @Test("The replies are those that the agents document")
    func replies() throws {
        let deny = HookVerdict.deny("no")
        let output = #"{"hookSpecificOutput":{"hookEventName":"#
        let decision = output + #""PermissionRequest","decision":{"behavior":"#
        let before = output + #""PreToolUse","permissionDecision":"#
        for agent in HookAgent.allCases {
            #expect(
                try agent.reply(.allow("yes"), to: .permissionRequest) == decision + #""allow"}}}"#)
            #expect(
                try agent.reply(deny, to: .permissionRequest)
                    == decision + #""deny","message":"alertq: no"}}}"#)
            #expect(try agent.reply(.prompt("nobody"), to: .permissionRequest) == nil)
            #expect(
                try agent.reply(deny, to: .preToolUse)
                    == before + #""deny","permissionDecisionReason":"alertq: no"}}"#)
        }
        #expect(
            try HookAgent.claude.reply(.allow("yes"), to: .preToolUse)
                == before + #""allow","permissionDecisionReason":"alertq: yes"}}"#)
        #expect(
            try HookAgent.claude.reply(.prompt("nobody"), to: .preToolUse)
                == before + #""ask","permissionDecisionReason":"alertq: nobody"}}"#)
        #expect(try HookAgent.codex.reply(.allow("yes"), to: .preToolUse) == nil)
        #expect(
            try HookAgent.codex.reply(.prompt("nobody"), to: .preToolUse)
                == before + #""deny","permissionDecisionReason":"alertq: nobody"}}"#)
    }

    @Test("Only a chosen button allows, and no default, policy or other ending does")
    func verdicts() throws {
        let buttons = [Alert.Button("Allow once", id: "allow"), .cancel("Deny", id: "deny")]
        let alert = Alert("Claude Code wants to run a command", buttons: buttons)
        for outcome in Outcome.allCases {
            for by in ResolvedBy.allCases {
                for index in [-1, 0, 1] {
                    let response = Response(
                        alertID: 42, outcome: outcome, buttonIndex: index,
                        button: index < 0 ? nil : buttons[index], by: by,
                        responder: responder, resolvedAt: now, collectedAt: nil,
                        userInfo: [:])
                    let record = record(alert, response)
                    let isChosen = outcome == .answered && index == 0
                    let verdict = HookVerdict(record, needsPerson: false)
                    let strict = HookVerdict(record, needsPerson: true)
                    #expect(
                        isAllowed(verdict) == (isChosen && [.person, .program].contains(by)))
                    #expect(isAllowed(strict) == (isChosen && by == .person))
                    #expect((verdict == nil) == [.expired, .withdrawn].contains(outcome))
                    if case .deny(let reason)? = verdict {
                        let isDenied = reason.hasPrefix("denied by a ")
                        #expect(
                            isDenied
                                == (outcome == .answered && index == 1
                                    && [.person, .program].contains(by)))
                        #expect(reason.contains("alert 42 was "))
                    }
                }
            }
        }
        #expect(HookVerdict(record(alert), needsPerson: false) == nil)
    }

    private let now = Date(timeIntervalSince1970: 1_795_168_980)

    private let responder = Caller(
        Account(uid: 1000, name: "ana"), via: "terminal", tty: "/dev/pts/3",
        process: ProcessIdentity(host: "nas", pid: 4711))

    private func record(_ alert: Alert, _ response: Response? = nil) -> AlertRecord {
        AlertRecord(
            id: 42, alert: alert,
            source: .init(
                name: "claude", .account(Account(uid: 0)),
                .process(ProcessIdentity(host: "nas", pid: 99))),
            state: response == nil ? .queued : .resolved, askedAt: now, presentedAt: nil,
            expiresAt: nil, snoozedUntil: nil, snoozes: 0, response: response)
    }

    private func isAllowed(_ verdict: HookVerdict?) -> Bool {
        if case .allow? = verdict { true } else { false }
    }
}
