/// A verb that answers a coding agent's requests for permission: `hook claude` and `hook codex`.
protocol HookCommand: Command where Common == QueueOptions {
    static var agent: HookAgent { get }

    var hook: HookOptions { get set }
}

extension HookCommand {
    static var name: String { "hook \(agent.rawValue)" }
    static var failure: ExitCode? { .denied }

    static var options: [Option<Self>] {
        [
            Option(
                "wait", .duration, \.hook.$wait,
                help: "How long to wait for an answer; less than the agent waits for its hook",
                default: LengthText.text),
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
                "priority", .priority, \.hook.$priority,
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
        The alert expires when --wait has passed. Without an answer, and without --if-unanswered, \
        a PermissionRequest gets no reply in the permission modes in which \(agent.name) then asks \
        by itself; everything else is denied. A repeated request joins the alert that waits; the \
        answer to one that nobody waits for any longer counts for --wait.
        """
    }

    static var failures: String {
        """
        It exits with 0 once it has replied. If the request can't be read or shown in full, the \
        queue can't be reached, an option is wrong or a signal comes, it denies with a reply, the \
        reason on stderr, and exit code 2; after a signal, the alert stays until it expires.
        """
    }

    mutating func validate() throws { try hook.validate() }

    func run(in context: Context) async throws -> ExitCode {
        await HookSession(
            verb: Self.name, agent: Self.agent, options: hook, queue: queue, context: context
        ).run()
    }
}
