/// A verb that asks: `ask`, `notify` and `run`.
protocol AskingCommand: Command where Common == QueueOptions {
    var question: AlertOptions { get set }
    /// Whether it waits until the alert has ended.
    var waits: Bool { get }
}

extension AskingCommand {
    static var operands: [Operand<Self>] { [Operand(.text("TITLE"), \.question.$title)] }
    static var adviceForSurplus: String {
        "; a longer text needs --message, and a title of several words quotes"
    }

    func runAtOnce(in context: Context) throws -> ExitCode? {
        try session(in: context).runAtOnce()
    }

    func run(in context: Context) async throws -> ExitCode {
        try await session(in: context).run()
    }

    private func session(in context: Context) -> AskSession {
        AskSession(
            verb: Self.name, question: question, queue: queue, waits: waits, isJSON: isJSON,
            context: context.with(isQuiet: question.isQuiet))
    }
}

// MARK: - Options

extension Option where Target: AskingCommand {
    static var message: Option {
        Option(
            "message", short: "m", .text("TEXT"), \.question.message,
            help: "A longer text; “-” reads it from stdin")
    }

    static var messageFrom: Option {
        Option(
            "message-from", .word, \.question.$messageFrom,
            help: "Which part of a long text from stdin is kept: its end or its start",
            default: \.rawValue)
    }

    static var button: Option {
        Option("button", short: "b", .newButton(), each: \.question.buttons, help: "Add a button")
    }

    static var cancel: Option {
        Option(
            "cancel", .newButton(.cancel), each: \.question.buttons, isRepeatable: false,
            help: "Add the button that means no")
    }

    static var destructive: Option {
        Option(
            "destructive", .newButton(.destructive), each: \.question.buttons,
            help: "Add a button that destroys something")
    }

    static var field: Option {
        Option(
            "field", .textField, each: \.question.fields,
            help: "Ask for a line of text as well, which is printed after the button's id")
    }

    static var schema: Option {
        Option(
            "schema", .text("JSON|@FILE"), \.question.schema,
            help: "Ask for the values of a JSON Schema, given as such or in a file")
    }

    static var defaultButton: Option {
        Option(
            "default", .text("ID", .addedButton), \.question.defaultButton,
            help: "The button to apply when the timeout has passed")
    }

    static func ifUnattended(help: String) -> Option {
        Option("if-unattended", .word, \.question.ifUnattended, help: help)
    }

    static var unattendedAfter: Option {
        Option(
            "unattended-after", .duration, \.question.unattendedAfter,
            help: "Apply --default once nobody has been there for that long, before --timeout")
    }

    static var priority: Option {
        Option(
            "priority", .priority, \.question.$priority,
            help: "low, normal, high or critical", default: \.word)
    }

    static var source: Option {
        Option(
            "source", .source, \.question.source,
            help: "The asker's name (default: $ALERTQ_SOURCE, else “alertq”)")
    }

    static func key(
        help: String = "Asking again with KEY finds the same alert, and its response once there is "
            + "one"
    ) -> Option {
        Option("key", .key, \.question.key, help: help)
    }

    static var replace: Option {
        Option(
            "replace", \.question.replaces,
            help: "Take the place of the earlier question with KEY")
    }

    static var timeout: Option {
        Option(
            "timeout", .deadline, \.question.timeout,
            help: "Let the alert expire after a duration, such as 10m, or at a time")
    }

    static func valid(help: String) -> Option {
        Option("valid", .duration, \.question.validFor, help: help)
    }

    static var info: Option {
        Option(
            "info", .named("K=V"), each: \.question.info,
            help: "Attach a string, which is returned with the response")
    }

    static var on: Option {
        Option(
            "on", .presenterName, each: \.question.presenters,
            help: "Show it only on this presenter: terminal, desktop, dialog, or one of your own")
    }

    static var waitFor: Option {
        Option(
            "wait-for", .deadline, \.question.waitFor,
            help: "Stop waiting after a duration or at a time, and leave the alert in the queue")
    }

    static var quiet: Option {
        quiet(help: "Write only errors to stderr, for example under cron")
    }

    static func quiet(help: String) -> Option {
        Option("quiet", short: "q", \.question.isQuiet, help: help)
    }

    static var plain: Option {
        Option("plain", \.question.isPlain, help: PresenterSet.plainHelp)
    }
}
