import AlertQueue

/// A coding agent that lets programs answer its requests for permission, and how it reads their
/// answers.
///
/// The sources of both formats are those of ``HookRequest``.
enum HookAgent: String, Sendable, CaseIterable {
    case claude, codex

    /// What people call it.
    var name: String {
        switch self {
        case .claude: "Claude Code"
        case .codex: "Codex"
        }
    }

    /// The reply that a verdict is, on one line; `nil` where the agent expects none.
    func reply(_ verdict: HookVerdict, to event: HookRequest.Event) throws -> String? {
        switch event {
        case .permissionRequest:
            guard let decision = Self.decision(verdict) else { return nil }
            return try Self.output(event, [("decision", .object(decision))])
        case .preToolUse:
            guard let word = word(for: verdict) else { return nil }
            return try Self.output(
                event,
                [
                    ("permissionDecision", .string(word)),
                    ("permissionDecisionReason", .string(Self.text(of: verdict))),
                ])
        }
    }

    /// The reason, as an agent gets it among those of other hooks.
    private static func text(of verdict: HookVerdict) -> String { "alertq: " + verdict.reason }

    /// Whether the agent can be made to ask by itself, in reply to an event.
    func canPrompt(after event: HookRequest.Event) -> Bool {
        event == .permissionRequest || self == .claude
    }

    /// In a request for permission, a hook that decides nothing leaves the question to the agent.
    private static func decision(
        _ verdict: HookVerdict
    ) -> [(key: String, value: JSONValue)]? {
        switch verdict {
        case .allow: [("behavior", .string("allow"))]
        case .deny: [("behavior", .string("deny")), ("message", .string(text(of: verdict)))]
        case .prompt: nil
        }
    }

    /// Before the use of a tool, Codex takes silence for consent: it reports a plain `allow` as an
    /// error, goes on all the same, and can't be made to ask.
    private func word(for verdict: HookVerdict) -> String? {
        switch verdict {
        case .allow: self == .codex ? nil : "allow"
        case .deny: "deny"
        case .prompt: self == .codex ? "deny" : "ask"
        }
    }

    private static func output(
        _ event: HookRequest.Event, _ members: [(key: String, value: JSONValue)]
    ) throws -> String {
        let name: [(key: String, value: JSONValue)] = [("hookEventName", .string(event.rawValue))]
        return try JSONValue.object([("hookSpecificOutput", .object(name + members))]).text()
    }
}
