import AlertPresenters
import AlertQueue
import Glibc
import TextFormats

/// `alertq run -- COMMAND [ARG…]`: asks whether a command may run, and runs it after a yes.
struct RunCommand: AskingCommand {
    static let name = "run"
    static let abstract = "Ask whether a command may run, and run it after a yes"
    static let operands: [Operand<Self>] = [
        Operand(.text("COMMAND", .program), \.$program), Operand(.text("ARG", .file), each: \.rest),
    ]
    static let options: [Option<Self>] = [
        Option("title", .text("TEXT"), \.title, help: "The question (default: “Run COMMAND?”)"),
        Option(
            "message", short: "m", .text("TEXT"), \.question.message,
            help: "A text that the question shows after the command"),
        .button, .cancel, .destructive, .priority, .source,
        .key(
            help: "Ask only once with KEY: its answer runs the command once, and no other time"),
        .timeout, .defaultButton,
        Option(
            "allow-default", \.allowsDefault,
            help: "Let --default run the command; otherwise only a chosen button does"),
        Option(
            "only-person", \.onlyPerson,
            help: "Let a program say no, but only a person say yes"),
        .valid(
            help: "How long after it was given an answer runs the command; then it asks again "
                + "(default: 15m)"),
        .info, .on, .waitFor, .plain, .quiet,
        .ifUnattended(
            help: "What to do if nobody is there to see it: wait, fail, or apply --default"),
        .unattendedAfter,
    ]
    static let discussion = [
        """
        The question shows the command with every argument quoted, the program's file, the \
        directory, the user and the host. Without button options, its buttons are Run and Don't \
        run; every button runs the command, except the one that means no. Options end at COMMAND.
        """,
        """
        An answer runs the command once: a yes is marked as used, and the start is logged, before \
        the command starts. If this process is killed while it waits, the same command line joins \
        the alert or uses its answer; a command, directory, user or host that differs in a byte \
        asks anew, and so does the same command once its answer has been used, or is older than --valid \
        says, or was given before the queue was restored from a backup; with --key, it isn't \
        run then. Interrupting this \
        command withdraws the alert that it asked; the alert stays if it has a --key, or if this \
        command joined it.
        """,
        """
        The command gets the standard streams, and the signals INT, TERM, HUP, QUIT, USR1, USR2, \
        ALRM and TSTP; $ALERTQ_ALERT has the alert's id, and $ALERTQ_BUTTON the chosen button's. \
        The exit code is the command's, or the command's signal ends this process. If the command \
        was not run, it is \(ExitCode.notRun.rawValue), and stderr says why; with --json, so does \
        an object on stdout with “ran”, which is false, “reason”, “message” and “alert”, except \
        after a usage error. A signal that comes before the command ends this process.
        """,
        Unattended.discussion, DateText.future,
    ]
    static let examples = [
        Example(
            "alertq run -- prune --older-than 30d",
            "Show the command, and run it once a person approves"),
        Example(
            #"alertq run -m "Before the release" --timeout 2h -- deploy 42"#,
            "Say why, and give up after two hours"),
    ]
    static let endsOptionsAtOperand = true
    static let failure: ExitCode? = .notRun

    var common = QueueOptions()
    var question = AlertOptions()
    var waits: Bool { true }
    private var title: String?
    private var allowsDefault = false
    private var onlyPerson = false
    @Required private var program: String
    private var rest: [String] = []

    private var words: [String] { [program] + rest }

    mutating func validate() throws {
        guard !question.readsMessage else {
            throw UsageError("--message - would take the standard input from the command")
        }
        guard !program.isEmpty else { throw UsageError("COMMAND is empty") }
        guard !allowsDefault || !onlyPerson else {
            throw UsageError("--allow-default can't be combined with --only-person")
        }
        addButtons()
        question.title = title ?? Self.title(for: words)
        question.validFor = question.validFor ?? .seconds(15 * 60)
        try question.validate()
        let standard = question.buttons.first { $0.id == question.defaultButton }
        guard standard == nil || standard?.role == .cancel || allowsDefault else {
            throw UsageError("--default \(standard?.id ?? "") runs nothing without --allow-default")
        }
    }

    /// Adds the buttons that no option has added: one that means yes, and one that means no.
    private mutating func addButtons() {
        let buttons = question.buttons
        if buttons.allSatisfy({ $0.role == .cancel }) {
            question.buttons.insert(Alert.Button("Run", id: "run"), at: 0)
        }
        if !buttons.contains(where: { $0.role == .cancel }) {
            question.buttons.append(.cancel("Don't run", id: "no"))
        }
    }

    private static func title(for words: [String]) -> String {
        let command = ShellText.line(words)
        return "Run \(command.count > 60 ? command.prefix(59) + "…" : command)?"
    }

    func runAtOnce(in context: Context) throws -> ExitCode? { nil }

    func run(in context: Context) async throws -> ExitCode {
        // A run prints its own object, and no alert.
        let session = AskSession(
            verb: Self.name, question: question, queue: queue, waits: true, isJSON: false,
            context: context.with(isQuiet: question.isQuiet))
        return try await RunSession(
            session: session, words: words, allowsDefault: allowsDefault, onlyPerson: onlyPerson,
            isJSON: isJSON
        ).run()
    }
}
