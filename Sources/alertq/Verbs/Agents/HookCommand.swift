import Glibc

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
        by itself; everything else is denied. A repeated request joins the alert that waits. An \
        answer that came after its hook was killed is used if the request is repeated within --wait.
        """
    }

    static var failures: String {
        """
        It exits with 0 once it has replied. If the request can't be read or shown in full, the \
        queue can't be reached or a signal comes, it denies with the reason on stderr, exit code 2 \
        and, if the event is known, a reply; after a signal, the alert stays until it expires. A \
        wrong option denies in the same way.
        """
    }

    /// Denies in the agent's format, too: some agents read nothing else.
    static func refuse(_ error: UsageError, in context: Context) {
        guard isatty(STDIN_FILENO) == 0 else { return }
        let signals = SignalWatch(stops: false)
        let bytes = try? HookInput.read(STDIN_FILENO, within: HookInput.limit, signals)
        guard let event = bytes.flatMap(HookRequest.event),
            let line = try? agent.reply(.deny("the hook's options: \(error)"), to: event)
        else { return }
        try? context.print(line)
    }

    mutating func validate() throws { try hook.validate() }

    func run(in context: Context) async throws -> ExitCode {
        await HookSession(
            verb: Self.name, agent: Self.agent, options: hook, queue: queue, context: context
        ).run()
    }
}
