import AlertQueue
import TextFormats

/// A coding agent that lets programs answer its requests for permission, and how it reads their
/// answers.
///
/// The sources of both formats are those of ``HookRequest``.
package enum HookAgent: String, Sendable, CaseIterable {
    case claude, codex

    /// What people call it.
    package var name: String {
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

    /// Whether the agent can be made to ask by itself, in reply to a request.
    ///
    /// Claude Code asks if it is told to, and in a request for permission its own prompt is open
    /// beside the hook; without a terminal it denies. Codex asks after a hook that says nothing, but
    /// only in a request for permission, and in a mode that is not known its silence could read like
    /// an approval.
    func canPrompt(after request: HookRequest) -> Bool {
        self == .claude
            || request.event == .permissionRequest
                && ["default", "acceptEdits", "plan"].contains(request.mode)
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

/// What a hook tells an agent, with a reason for the agent and the person who reads along.
enum HookVerdict: Sendable, Hashable {
    case allow(String)
    case deny(String)
    /// Nobody has decided, and the agent is to ask by itself.
    case prompt(String)

    var reason: String {
        switch self {
        case .allow(let reason), .deny(let reason), .prompt(let reason): reason
        }
    }

    /// The verdict of an alert that has ended; `nil` where nobody decided.
    ///
    /// Only a chosen button allows: neither a default nor a policy does, and no ending without a
    /// button.
    ///
    /// - Parameter needsPerson: Whether the choice of a program does not count as an approval.
    init?(_ record: AlertRecord, needsPerson: Bool) {
        guard let response = record.response, ![.expired, .withdrawn].contains(response.outcome)
        else { return nil }
        let ending = "alert \(record.id) was \(record.ending(.whole))"
        let isAllowed = response.button?.id == HookQuestion.allow
        let isDenied = response.button?.id == HookQuestion.deny
        guard response.outcome == .answered, isAllowed || isDenied else {
            self = .deny("not approved: \(ending)")
            return
        }
        let decider: String
        switch response.by {
        case .person: decider = "a person"
        case .program: decider = "a program"
        case .policy, .asker, .system:
            self = .deny("not approved: \(ending), and only a choice counts")
            return
        }
        if isAllowed, needsPerson, response.by != .person {
            self = .deny("not approved: \(ending), by \(decider); only a person may allow it")
        } else {
            self =
                isAllowed
                ? .allow("allowed by \(decider): \(ending)")
                : .deny("denied by \(decider): \(ending)")
        }
    }
}
