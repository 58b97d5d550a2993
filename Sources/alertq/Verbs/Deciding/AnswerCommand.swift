import AlertQueue
import TextFormats

/// `alertq answer ID… BUTTON`: answers alerts from anywhere.
struct AnswerCommand: ChangingCommand {
    static let name = "answer"
    static let abstract = "Answer alerts with the id or the label of a button"
    static let operands: [Operand<Self>] = [
        Operand(.alertID, each: \.alerts.ids), Operand(.text("BUTTON", .button), \.$button),
    ]
    static let options: [Option<Self>] =
        [
            Option("id", \.isID, help: "BUTTON is an id, never a label"),
            Option(
                "seen", .text("DIGEST"), \.seen,
                help: "Answer only if DIGEST is that of the alert, as its JSON shows it"),
            Option(
                "set", .named("ID=VALUE", .fieldValue), each: \.typed,
                help: "Give a field of the alert a value"),
            Option("note", .text("TEXT"), \.note, help: "Say something along with the answer"),
        ] + byKey
    static let discussion = [
        """
        The first answer wins: if the alert has been resolved already, nothing changes and the \
        exit code is 16. Case does not matter if only one button matches.
        """,
        """
        The last argument is the button. \(severalDiscussion)
        """,
        """
        With --seen, the answer is accepted only if the alert asks what was seen: DIGEST is the \
        “seen” of the JSON that was shown. Otherwise the exit code is 16, or 65 if DIGEST is not a \
        digest.
        """,
        """
        Each --set gives one of the fields of the question a value; for a list, once for each option. \
        A field without a value has the one that it was asked with. A value that does not fit its \
        field is refused with exit code 65, and so is an answer without one that is required, unless \
        it is the cancel button.
        """,
        """
        With --id, BUTTON is an id and never a label.
        """,
        """
        The answer is recorded as a person's if this command runs in the foreground of its \
        terminal and reads from it. Without a terminal, with a file or a pipe as its standard \
        input, or in the background, it is recorded as a program's.
        """,
    ]
    static let examples = [
        Example(
            "alertq answer 42 yes",
            "Choose the button yes of alert 42"),
        Example(
            #"alertq answer --key reboot-42 no --note "not before Monday""#,
            "Answer the question with a key, and say why"),
        Example(
            "alertq answer 42 yes --set name=nas-2026 --set days=Sat --set days=Sun",
            "Fill in its fields; a list takes one --set for each option"),
    ]

    var common = QueueOptions()
    var alerts = NamedAlerts(forms: ("ID and BUTTON", "--key KEY and BUTTON"))
    @Required private var button: String
    private var isID = false
    private var seen: String?
    private var typed: [NamedText] = []
    private var note: String?

    mutating func validate() throws {
        try alerts.check(for: queue)
        guard seen == nil || !alerts.areSeveral else {
            throw UsageError("--seen is for one alert, and can't be combined with several")
        }
    }

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context) { manager, id in
            let record = try await manager.record(id)
            let alert = record.alert
            // How it has ended comes before what is wrong with an answer that it can't get any more.
            if record.response != nil {
                _ = try await manager.settled(record)
                return try await manager.answer(id, button: button, as: .thisProcess)
            }
            let button = isID ? button : try Self.id(button, of: alert)
            let values = try NamedText.values(typed, for: alert)
            do {
                return try await manager.answer(
                    id, button: button, as: .thisProcess, seen: seen,
                    input: Alert.Input(values: values, note: note))
            } catch let error as AlertError {
                let field = alert.fields.first { "\($0.missingValue)" == "\(error)" }
                guard let field else { throw error }
                let example = "--set \(field.id)=" + ShellText.quoted(field.example)
                throw CommandError(.badData, "\(error); to give it: \(example)")
            }
        }
    }

    /// The id that a word means: an id, or a label that only one button has, ignoring case where
    /// that is unambiguous. A word that matches nothing is returned as it is, and the queue refuses
    /// it.
    static func id(_ word: String, of alert: Alert) throws(UsageError) -> String {
        if let button = alert.button(named: word) { return button.id }
        let ids = alert.buttons.filter { $0.title == word }.map(\.id)
        guard ids.isEmpty else {
            throw UsageError(
                "the label “\(word)” is on several buttons; use an id: "
                    + ids.joined(separator: ", "))
        }
        return word
    }
}
