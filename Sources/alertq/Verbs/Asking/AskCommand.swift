import AlertQueue

/// `alertq ask TITLE`: asks a question, waits, and prints the chosen button's id.
struct AskCommand: AskingCommand {
    static let name = "ask"
    static let abstract = "Ask a question, wait, and print the chosen button's id"
    static let options: [Option<Self>] = [
        .message,
        Option(
            "button", short: "b", .newButton(), each: \.question.buttons, help: "Add a button"),
        Option(
            "cancel", .newButton(.cancel), each: \.question.buttons, isRepeatable: false,
            help: "Add the button that means no"),
        Option(
            "destructive", .newButton(.destructive), each: \.question.buttons,
            help: "Add a button that destroys something"),
        Option("sheet", \.question.isSheet, help: "Show it as a list of actions"),
        Option("any", \.allowsAny, help: "Allow several buttons of which none means no"),
        .priority, .source, .key, .timeout,
        Option(
            "default", .text("ID", .addedButton), \.question.defaultButton,
            help: "The button that is applied when the timeout has passed"),
        .info, .on,
        Option("detach", \.isDetached, help: "Print the alert's id and don't wait"),
        .waitFor, .plain,
        Option(
            "if-unattended", .word, \.question.ifUnattended,
            help: """
                What to do when nobody is there to see it: wait, fail with exit 14, or default, \
                which applies --default
                """),
        Option(
            "unattended-after", .duration, \.question.unattendedAfter,
            help: "Apply --default once nobody has been there for so long, before --timeout"),
    ]
    static let discussion = [
        """
        Buttons appear in the order given, whichever option gives them. A label gets an id of its \
        own with ID=LABEL, if ID consists of letters, digits, “_”, “.” and “-”; a label that \
        contains “=” can be written with a “=” before it. Without any button there are OK and \
        Cancel.
        """,
        """
        Exit codes: \(exitCodes.map(ExitCode.list).joined(separator: "; ")). An expiry with \
        --default prints that button's id and exits as if it had been chosen.
        """,
        """
        Interrupting it withdraws the alert, unless it has a key: then it stays, and the same \
        command joins it later. If another process keeps the queue's lock, the alert can't be \
        withdrawn: then it stays too, and this command says how to withdraw it. Signals within a \
        second of the first count as one; a later one ends it at once.
        """,
        Unattended.discussion, DateText.future,
    ]

    private static let exitCodes: [[ExitCode]] = [
        [.done, .cancelButton], ExitCode.endsWithoutButton,
        [.unattended, .stillWaiting, .conflict],
        [.usage, .badData, .notFound, .inputOutput, .busy, .notPermitted],
    ]

    var common = QueueOptions()
    var question = AlertOptions()
    var waits: Bool { !isDetached }
    private var isDetached = false
    private var allowsAny = false

    mutating func validate() throws {
        try checkButtons()
        if question.buttons.isEmpty { question.buttons = [Alert.Button("OK"), .cancel("Cancel")] }
        try question.validate()
        guard !isDetached || !question.isPlain else {
            throw UsageError("--detach shows nothing, so --plain means nothing with it")
        }
        guard !isDetached || question.waitFor == nil else {
            throw UsageError("--detach does not wait, so --wait-for means nothing with it")
        }
        guard !isDetached || question.unattendedAfter == nil else {
            throw UsageError(
                "--detach leaves nobody to look, so --unattended-after means nothing with it")
        }
    }

    private func checkButtons() throws(UsageError) {
        let buttons = question.buttons
        guard
            buttons.count <= 1 || allowsAny || buttons.contains(where: { $0.role == .cancel })
        else {
            throw UsageError(
                "none of the \(buttons.count) buttons means no, so `-b Yes -b No && prune` would "
                    + "prune on “No”: mark the one that means no with --cancel, or pass --any if "
                    + "every button is a yes")
        }
    }
}
