import AlertQueue
import FoundationEssentials
import TextFormats

/// `alertq snooze ID…`: snoozes alerts.
struct SnoozeCommand: ChangingCommand {
    static let name = "snooze"
    static let abstract = "Snooze alerts, so that they come again after a time"
    static let operands: [Operand<Self>] = [
        Operand(
            .alertID.advising { text in
                (try? DateText.deadline(text, now: Date())).map { _ in
                    "for how long, or until when, is said with --for " + ShellText.quoted(text)
                }
            }, each: \.alerts.ids)
    ]
    static let options: [Option<Self>] =
        [
            Option(
                "for",
                .deadline.requiring(orElse: "has passed") { $0.distance(from: Date()) > .zero },
                \.end, help: "How long, or until when (default: the alert's own time, or 5 minutes)"
            ),
            .utc,
        ] + byKey
    static let discussion = [
        """
        If the snooze lasts longer than the alert's deadline, the alert expires without being \
        shown again; on a terminal, this command says so, as list does.
        """,
        severalDiscussion, DateText.future,
    ]

    var common = QueueOptions()
    var alerts = NamedAlerts()
    private var end: Alert.Deadline?

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context, noting: Self.returning) { manager, id in
            switch end {
            case .at(let date)?: try await manager.snooze(id, until: date)
            case .after(let duration)?: try await manager.snooze(id, for: duration)
            case nil: try await manager.snooze(id)
            }
        }
    }

    private static func returning(_ record: AlertRecord, in context: Context) -> String {
        let text = { (date: Date) in LocalTime.text(date, context.noteTime) }
        let moment = record.snoozedUntil.map { " at " + text($0) } ?? ""
        let end = record.expiresBeforeSnoozeEnds ? record.expiresAt : nil
        let warning = end.map { ", but it expires at " + text($0) } ?? ""
        return "alert \(record.id) comes again" + moment + warning
    }
}
