import AlertQueue
import TextFormats

/// `alertq ask TITLE`: asks a question, waits, and prints the chosen button's id.
struct AskCommand: AskingCommand {
    static let name = "ask"
    static let abstract = "Ask a question, wait, and print the chosen button's id"
    static let options: [Option<Self>] = [
        .message, .messageFrom, .button, .cancel, .destructive,
        Option("sheet", \.question.isSheet, help: "Show the alert as a list of actions"),
        Option("any", \.allowsAny, help: "Allow several buttons without one that means no"),
        .field, .schema, .priority, .source, .key(), .replace, .timeout,
        .defaultButton,
        .valid(help: "Let an answer count for that long after it was given; then it is stale"),
        .info, .on,
        Option("detach", \.isDetached, help: "Print the alert's id and don't wait"),
        .waitFor, .plain, .quiet,
        .ifUnattended(
            help: """
                What to do if nobody is there to see it: wait; fail, with exit code 14; or \
                default, which applies --default
                """),
        .unattendedAfter,
    ]
    static let discussion = [
        """
        Buttons appear in the order given, whichever option adds them. ID=LABEL gives a button an \
        id of its own, if ID consists of letters, digits, “_”, “.” and “-”; to use a label that \
        contains “=”, put a “=” before it. Without any button option, the buttons are OK and \
        Cancel.
        """,
        """
        --field and --schema ask for up to 8 values beside the button. A schema is of an object, whose \
        properties are texts (with minLength, maxLength, pattern, format or multiline), numbers \
        (minimum, maximum), booleans, an option (a string with enum, or oneOf with titles) or several of \
        them (an array whose items have enum, or anyOf with titles). “required” names those that must \
        have a value; a --field need not. After the \
        button's id, each value is printed on a line of its own, as its field's id, a tab and the \
        value, and a note as a tab and its text; “\\\\”, “\\n”, “\\r” and “\\t” stand for a backslash, line \
        breaks and a tab in them, and “\\u” and four hexadecimal digits for another control \
        character. Don't ask for secrets: answers are kept, and can be read. For a \
        password, use systemd-ask-password.
        """,
        """
        Exit codes: \(exitCodes.map(ExitCode.list).joined(separator: "; ")). An expiry with \
        --default prints that button's id and exits as if it had been chosen.
        """,
        """
        With --replace, another question that waits under KEY is withdrawn as this one is asked, and \
        commands that wait for it exit with 13. If it has ended, this one is asked under the same \
        KEY, unless it has an answer that nobody has collected: then nothing is asked, and the exit \
        code is \(ExitCode.conflict.rawValue). The same question is joined, but asked again if its answer is stale or if it \
        ended without one.
        """,
        """
        An answer that is used longer after it was given than --valid says is stale: ask, wait and \
        collect print nothing, not even with --json, say so on stderr, and exit with 18. It is marked \
        as collected, and stays in the history. The button that means no never goes stale.
        """,
        """
        Interrupting this command withdraws the alert, unless it has a key: then the alert stays, \
        and the same command joins it later. If another process holds the queue's lock, the alert \
        can't be withdrawn: then it stays too, and this command prints how to withdraw it. Signals \
        within a second of the first count as one; a later one ends the command at once.
        """,
        """
        From cron, use --quiet: otherwise cron mails that the alert waits, and how to answer it. \
        With it, stderr gets errors alone; how an alert ended without an answer is then known only \
        from the exit code. stdout still carries the button's id, which cron mails unless it is \
        assigned to a variable or sent to /dev/null. A question on a terminal looks the same.
        """,
        Unattended.discussion, DateText.future,
    ]
    static let examples = [
        Example(
            #"alertq ask "Prune?" --destructive yes=Prune --cancel no=Keep && prune"#,
            "Ask, and run prune if the answer is yes"),
        Example(
            #"alertq ask "Reboot?" -b yes=Reboot --cancel no=Later --key r42 --detach"#,
            "Ask without waiting; the same key finds the answer later"),
        Example(
            #"df -h / | alertq ask "Is that enough?" -m - -b Yes --cancel No --timeout 1h"#,
            "Show a program's output with the question, for an hour"),
    ]

    private static let exitCodes: [[ExitCode]] = [
        [.done, .cancelButton], ExitCode.endsWithoutButton,
        [.unattended, .stillWaiting, .conflict, .stale],
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
            throw UsageError("--detach shows nothing, so it can't be combined with --plain")
        }
        guard !isDetached || question.waitFor == nil else {
            throw UsageError("--detach does not wait, so it can't be combined with --wait-for")
        }
        guard !isDetached || question.unattendedAfter == nil else {
            throw UsageError(
                "--detach does not stay to watch, so it can't be combined with --unattended-after")
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
