import AlertQueue

/// `alertq answer ID BUTTON`: answers an alert from anywhere.
package struct AnswerCommand: Command {
    package static let name = "answer"
    package static let abstract = "Answer an alert with the id or the label of a button"
    package static let operands = ["ID", "BUTTON"]
    package static let options = [isID, seen]
    package static let discussion = [
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

    static let isID = Option("id", help: "BUTTON is an id, never a label")

    static let seen = Option(
        "seen", "DIGEST", help: "Answer only what was seen, by the digest in its JSON")

    private let action: AlertAction
    private let button: String
    private let isID: Bool
    private let seen: String?

    package init(_ arguments: Arguments) throws {
        action = try AlertAction(arguments, verb: Self.name)
        button = arguments.operands[1]
        isID = arguments.has(Self.isID)
        seen = arguments[Self.seen]
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await action.run(in: context, done: AlertAction.ending) { manager in
            let alert = try await manager.record(action.id).alert
            let id = isID ? button : try Self.id(button, of: alert)
            return try await manager.answer(action.id, button: id, as: .thisProcess, seen: seen)
        }
    }

    /// The id that a word stands for: an id, or a label that only one button has, in whatever case
    /// where that is clear. A word that stands for nothing is left as it is: the queue refuses it.
    package static func id(_ word: String, of alert: Alert) throws(UsageError) -> String {
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
