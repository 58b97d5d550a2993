import AlertQueue
import Glibc

/// `alertq ask TITLE`: asks a question, waits, and prints the chosen button's id.
package struct AskCommand: Command {
    package static let name = "ask"
    package static let abstract = "Ask a question, wait, and print the chosen button's id"
    package static let operands = ["TITLE"]
    package static let options = [
        AlertOptions.message, button, cancel, destructive, sheet, any, AlertOptions.priority,
        AlertOptions.source, AlertOptions.key, AlertOptions.timeout, defaultButton,
        AlertOptions.info, AlertOptions.on, detach, AlertOptions.waitFor, AlertOptions.plain,
        Unattended.option, Unattended.afterOption,
    ]
    package static let discussion = [
        """
        Buttons appear in the order given, whichever option gives them. A label gets an id of its \
        own with ID=LABEL, if ID consists of letters, digits, “_”, “.” and “-”; a label that \
        contains “=” can be written with a “=” before it. Without any button there are OK and \
        Cancel.
        """,
        """
        Exit codes: 0 a button was chosen, 10 the cancel button was; 11 dismissed, 12 expired, \
        13 withdrawn, 17 cancelled by the system; 14 nobody to ask, 15 still waiting, 16 already \
        resolved or the key has other content; 64 usage, 65 bad data, 66 not found, 74 disk or \
        database error, 75 busy, 77 not permitted. An expiry with --default prints that button's \
        id and exits as if it had been chosen.
        """,
        """
        Interrupting it withdraws the alert, unless it has a key: then it stays, and the same \
        command joins it later. If another process keeps the queue's lock, the alert can't be \
        withdrawn: then it stays too, and this command says how to withdraw it. Signals within a \
        second of the first count as one; a later one ends it at once.
        """,
        Unattended.discussion, DateText.future,
    ]

    static let button = Option(
        "button", short: "b", "[ID=]LABEL", isRepeatable: true, help: "Add a button")
    static let cancel = Option(
        "cancel", "[ID=]LABEL", help: "Add the button that means no")
    static let destructive = Option(
        "destructive", "[ID=]LABEL", isRepeatable: true,
        help: "Add a button that destroys something")
    static let sheet = Option("sheet", help: "Show it as a list of actions")
    static let any = Option("any", help: "Allow several buttons of which none means no")
    static let defaultButton = Option(
        "default", "ID", .addedButton,
        help: "The button that is applied when the timeout has passed")
    static let detach = Option("detach", help: "Print the alert's id and don't wait")

    package let question: AlertOptions
    private let queue: QueueChoice
    private let isDetached: Bool
    private let isJSON: Bool

    package init(_ arguments: Arguments) throws {
        question = try AlertOptions(
            arguments, buttons: try Self.buttons(arguments),
            style: arguments.has(Self.sheet) ? .actionSheet : .alert,
            defaultButton: arguments[Self.defaultButton])
        queue = try QueueChoice(arguments)
        isDetached = arguments.has(Self.detach)
        isJSON = arguments.has(.json)
        guard !isDetached || !question.isPlain else {
            throw UsageError("--detach shows nothing, so --plain means nothing with it")
        }
        guard !isDetached || question.waitFor == nil else {
            throw UsageError("--detach does not wait, so --wait-for means nothing with it")
        }
        if isDetached, case .applyDefault(_?) = question.ifUnattended {
            throw UsageError(
                "--detach leaves nobody to look, so --unattended-after means nothing with it")
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
            verb: Self.name, question: question, queue: queue, waits: !isDetached, isJSON: isJSON,
            context: context)
    }

    private static func buttons(_ arguments: Arguments) throws(UsageError) -> [Alert.Button] {
        let buttons = arguments.occurrences.compactMap { occurrence -> Alert.Button? in
            switch occurrence.option {
            case button: ButtonText.parse(occurrence.value, role: nil)
            case cancel: ButtonText.parse(occurrence.value, role: .cancel)
            case destructive: ButtonText.parse(occurrence.value, role: .destructive)
            default: nil
            }
        }
        if buttons.isEmpty { return [Alert.Button("OK"), .cancel("Cancel")] }
        guard
            buttons.count == 1 || arguments.has(any)
                || buttons.contains(where: { $0.role == .cancel })
        else {
            throw UsageError(
                "none of the \(buttons.count) buttons means no, so `-b Yes -b No && prune` would "
                    + "prune on “No”: mark the one that means no with --cancel, or pass --any if "
                    + "every button is a yes")
        }
        return buttons
    }
}
