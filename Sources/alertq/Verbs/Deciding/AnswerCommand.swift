import AlertQueue

/// `alertq answer ID BUTTON`: answers an alert from anywhere.
struct AnswerCommand: ChangingCommand {
    static let name = "answer"
    static let abstract = "Answer an alert with the id or the label of a button"
    static let operands: [Operand<Self>] = [
        Operand(.alertID, \.$id), Operand(.text("BUTTON", .button), \.$button),
    ]
    static let options: [Option<Self>] = [
        Option("id", \.isID, help: "BUTTON is an id, never a label"),
        Option(
            "seen", .text("DIGEST"), \.seen,
            help: "Answer only what was seen, by the digest in its JSON"),
    ]
    static let discussion = [
        """
        The first answer wins: if the alert has been resolved already, nothing changes and the \
        exit code is 16. Case does not matter where only one button can be meant.
        """,
        """
        With --seen the answer is taken only if the alert asks what was seen: DIGEST is the “seen” \
        of the JSON that was shown. Otherwise the exit code is 16, or 65 for a word that is no \
        digest.
        """,
        """
        With --id the word is an id and never a label: alerts of earlier versions may have a \
        button whose id is another button's label.
        """,
        """
        The answer is recorded as a person's if this command reads from its terminal, in the \
        foreground. Without a terminal, with a file or a pipe on its standard input, or in the \
        background, as a script or a scheduled job runs it, it is a program's.
        """,
    ]

    var common = QueueOptions()
    @Required var id: Alert.ID
    @Required private var button: String
    private var isID = false
    private var seen: String?

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context) { manager in
            let alert = try await manager.record(id).alert
            let button = isID ? button : try Self.id(button, of: alert)
            return try await manager.answer(id, button: button, as: .thisProcess, seen: seen)
        }
    }

    /// The id that a word stands for: an id, or a label that only one button has, in whatever case
    /// where that is clear. A word that stands for nothing is left as it is: the queue refuses it.
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
