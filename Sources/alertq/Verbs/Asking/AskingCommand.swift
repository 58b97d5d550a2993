/// A verb that asks: `ask` and `notify`.
protocol AskingCommand: Command where Common == QueueOptions {
    var question: AlertOptions { get set }
    /// Whether it stays until the alert has ended.
    var waits: Bool { get }
}

extension AskingCommand {
    static var operands: [Operand<Self>] { [Operand(.text("TITLE"), \.question.$title)] }

    func runAtOnce(in context: Context) throws -> ExitCode? {
        try session(in: context).runAtOnce()
    }

    func run(in context: Context) async throws -> ExitCode {
        try await session(in: context).run()
    }

    private func session(in context: Context) -> AskSession {
        AskSession(
            verb: Self.name, question: question, queue: queue, waits: waits, isJSON: isJSON,
            context: context)
    }
}

// MARK: - Options

extension Option where Target: AskingCommand {
    static var message: Option {
        Option(
            "message", short: "m", .text("TEXT"), \.question.message,
            help: "More about it; “-” reads it from stdin")
    }

    static var priority: Option {
        Option(
            "priority", .priority, \.question.$priority,
            help: "low, normal, high or critical", default: \.word)
    }

    static var source: Option {
        Option(
            "source", .source, \.question.source,
            help: "Who asks; else $ALERTQ_SOURCE, else “alertq”")
    }

    static var key: Option {
        Option(
            "key", .key, \.question.key,
            help: "Asking again with it finds the same alert, and its response once there is one")
    }

    static var timeout: Option {
        Option(
            "timeout", .deadline, \.question.timeout,
            help: "Let it expire after a time, such as 10m, or at a moment")
    }

    static var info: Option {
        Option(
            "info", .infoItem, each: \.question.info,
            help: "A string that comes back with the response")
    }

    static var on: Option {
        Option(
            "on", .presenterName, each: \.question.presenters,
            help: "Show it only there: terminal, desktop, dialog, or a presenter of your own")
    }

    static var waitFor: Option {
        Option(
            "wait-for", .deadline, \.question.waitFor,
            help: "Stop waiting after a time or at a moment, and leave the alert in the queue")
    }

    static var plain: Option {
        Option("plain", \.question.isPlain, help: PresenterSet.plainHelp)
    }
}
