import AlertQueue

/// `alertq notify TITLE`: adds an alert without buttons, and prints its id.
package struct NotifyCommand: Command {
    package static let name = "notify"
    package static let abstract = "Tell something that needs no answer, and print the alert's id"
    package static let operands = ["TITLE"]
    package static let options = [
        AlertOptions.message, AlertOptions.priority, AlertOptions.source, AlertOptions.key,
        AlertOptions.timeout, dismissAfter, AlertOptions.info, AlertOptions.on, wait,
        AlertOptions.waitFor, AlertOptions.plain, Unattended.noticeOption,
    ]
    package static let discussion = [
        """
        It returns when the alert is stored. With --wait it prints no id, and exits with 0 when \
        the alert has been dismissed, 12 when it expired unseen, 13 when it was withdrawn, 17 when \
        the system cancelled it, 15 when --wait-for has passed, and 14 when there is nobody to \
        tell.
        """,
        DateText.future,
    ]

    static let dismissAfter = Option(
        "dismiss-after", "DURATION", help: "How long it stays on the screen; 2 s unless given")
    static let wait = Option("wait", help: "Wait until it has been shown and dismissed")

    package let question: AlertOptions
    private let queue: QueueChoice
    private let waits: Bool
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        question = try AlertOptions(
            arguments, dismissAfter: try arguments.value(Self.dismissAfter, DurationText.parse))
        queue = try QueueChoice(arguments)
        waits = arguments.has(Self.wait)
        isJSON = arguments.has(.json)
        guard waits || !question.isPlain else {
            throw UsageError("--plain is for --wait; without it notify shows nothing")
        }
        guard waits || question.waitFor == nil else {
            throw UsageError("--wait-for is for --wait; without it notify does not wait")
        }
    }

    package func runAtOnce(in context: Context) throws -> ExitCode? {
        try session(in: context).runAtOnce()
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await session(in: context).run()
    }

    private func session(in context: Context) -> AskSession {
        AskSession(
            verb: Self.name, question: question, queue: queue, waits: waits, isJSON: isJSON,
            context: context)
    }
}
