import AlertQueue
import TextFormats

/// `alertq notify TITLE`: adds an alert without buttons, and prints its id.
struct NotifyCommand: AskingCommand {
    static let name = "notify"
    static let abstract = "Show a notice that needs no answer, and print the alert's id"
    static let options: [Option<Self>] = [
        .message, .messageFrom, .priority, .source, .key(), .timeout,
        Option(
            "dismiss-after", .duration, \.question.dismissAfter,
            help: "How long it stays on the screen; 2 s by default"),
        .info, .on,
        Option("wait", \.waits, help: "Wait until it has been shown and dismissed"),
        .waitFor, .plain,
        .quiet(help: "Print nothing but errors, for example under cron"),
        Option(
            "if-unattended", .unattendedNotice, \.question.ifUnattended,
            help: "What to do if nobody is there to see it: wait, or fail with exit code 14"),
    ]
    static let discussion = [
        """
        It returns once the alert is stored. With --wait it prints no id, and exits with 0 when \
        the alert has been dismissed, 12 when it expired unseen, 13 when it was withdrawn, 17 when \
        the system cancelled it, 15 when --wait-for has passed, and 14 when there is nobody to \
        notify.
        """,
        DateText.future,
    ]

    var common = QueueOptions()
    var question = AlertOptions()
    private(set) var waits = false

    mutating func validate() throws {
        try question.validate()
        guard waits || !question.isPlain else {
            throw UsageError("--plain needs --wait; without it, notify shows nothing")
        }
        guard waits || question.waitFor == nil else {
            throw UsageError("--wait-for needs --wait; without it, notify does not wait")
        }
    }
}
