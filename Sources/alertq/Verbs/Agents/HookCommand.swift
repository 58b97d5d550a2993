import AlertAgents
import AlertQueue
import Glibc
import TextFormats

/// A verb that answers a coding agent's requests for permission: `hook claude` and `hook codex`.
protocol HookCommand: Command where Common == AgentOptions {
    static var agent: HookAgent { get }

    var hook: HookOptions { get set }
}

extension HookCommand {
    static var name: String { "hook \(agent.rawValue)" }
    static var failure: ExitCode? { .denied }

    static var options: [Option<Self>] {
        [
            Option(
                "wait", .duration, \.hook.wait,
                help: "How long to wait for an answer; less than the agent waits for its hook",
                default: LengthText.text),
            Option(
                "if-unattended", .word, \.hook.ifUnattended,
                help: """
                    What to do while no screen shows alerts: prompt (\(agent.name) shows its own \
                    prompt), wait or deny
                    """),
            Option(
                "if-unanswered", .word, \.hook.ifUnanswered,
                help: """
                    What to do without an answer: prompt, so that \(agent.name) asks by itself, or \
                    deny
                    """),
            Option(
                "only-person", \.hook.needsPerson,
                help: "Let a program deny it, but only a person allow it"),
            Option(
                "priority", .priority, \.hook.priority,
                help: "low, normal, high or critical", default: \.word),
            Option(
                "source", .source, \.hook.source,
                help: "The asker's name (default: “\(agent.rawValue)”)"),
            Option(
                "on", .presenterName, each: \.hook.presenters,
                help: """
                    Show it only on this presenter: terminal, desktop, dialog, or one of your own
                    """),
        ]
    }

    static var answers: String {
        """
        The alert expires when --wait has passed. Without an answer, or while no screen shows \
        alerts, a PermissionRequest gets no reply, so that \(agent.name) shows its own prompt, and \
        a PreToolUse is denied, because silence would allow it; --if-unanswered and \
        --if-unattended change that. An answer counts for the turn of the agent in which it was \
        asked: a repeated request joins the alert while it waits, or gets its answer if no hook \
        has taken that.
        """
    }

    static var progress: String {
        """
        When the agent ends this hook or no longer reads its reply, the alert is withdrawn. It is \
        also withdrawn by a hook that gets one of the events by which agents show that they have \
        moved on: PostToolUse, PostToolUseFailure, UserPromptSubmit, Interrupt, Stop, SubagentStop \
        or SessionEnd. Such an event gets no reply, and the exit code 0.
        """
    }

    static var failures: String {
        """
        It exits with 0 once it has replied. If the request can't be read or shown, the queue can't \
        be reached or a signal comes, it denies with the reason on stderr, exit code 2 and, if the \
        event is known, a reply. A wrong option denies in the same way.
        """
    }

    /// Denies in the agent's format, too; an event that shows that it has moved on can't be denied.
    static func refuse(_ error: any Error, in context: Context) -> ExitCode? {
        guard isatty(STDIN_FILENO) == 0 else { return failure }
        let signals = SignalWatch(stops: false)
        let isDenied = HookSession.refuse(
            "\(error)", of: agent, ending: { signals.end }, write: { try context.output.write($0) })
        return isDenied ? failure : nil
    }

    func validate() throws {
        if let source = hook.source { try UsageError.check(source, "source", of: "--source") }
        for name in hook.presenters {
            try UsageError.check(name, "name of a presenter", of: "--on")
        }
        if let name = hook.presenters.firstRepeated {
            throw UsageError("--on \(name) is given twice")
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        // From here on, a signal is a denial too.
        let agents = AgentContext(context, via: Self.name, SignalWatch(stops: false), queue)
        return await HookSession(Self.agent, hook, agents).run() ? .done : .denied
    }
}

/// `alertq hook claude`: answers a permission request of Claude Code.
struct HookClaudeCommand: HookCommand {
    static let agent = HookAgent.claude
    static let abstract = "Ask whether Claude Code may use a tool, as its hook"
    static let discussion = [
        """
        It reads the request on stdin, as Claude Code sends it to hooks for PreToolUse or \
        PermissionRequest, shows the tool's input with the buttons “Allow once” and “Deny”, \
        and prints the answer as Claude Code expects it. The article “Answer the permission \
        prompts of coding agents” has the configuration.
        """,
        answers, progress, failures,
    ]

    var common = AgentOptions()
    var hook = HookOptions()
}

/// `alertq hook codex`: answers a permission request of Codex.
struct HookCodexCommand: HookCommand {
    static let agent = HookAgent.codex
    static let abstract = "Ask whether Codex may use a tool, as its hook"
    static let discussion = [
        """
        It reads the request on stdin, as Codex sends it to hooks for PermissionRequest or \
        PreToolUse, shows the tool's input with the buttons “Allow once” and “Deny”, and \
        prints the answer as Codex expects it: for PreToolUse, nothing where it is allowed. The \
        article “Answer the permission prompts of coding agents” has the configuration.
        """,
        answers, progress, failures,
    ]

    var common = AgentOptions()
    var hook = HookOptions()
}
