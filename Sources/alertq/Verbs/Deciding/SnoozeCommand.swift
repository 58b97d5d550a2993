import AlertQueue
import FoundationEssentials

/// `alertq snooze ID`: snoozes an alert.
package struct SnoozeCommand: Command {
    package static let name = "snooze"
    package static let abstract = "Snooze an alert, which comes again after a time"
    package static let operands = ["ID"]
    package static let options = [duration, .utc]

    static let duration = Option(
        "for", "TIME", help: "How long, or until when; else the alert's own time, or 5 minutes")
    package static let discussion = [
        """
        A snooze may last longer than the alert's deadline: then it expires without having been \
        shown again, and this command says so on a terminal, as list does.
        """,
        DateText.future,
    ]

    private let action: AlertAction
    private let end: Alert.Deadline?

    package init(_ arguments: Arguments) throws {
        action = try AlertAction(arguments, verb: Self.name)
        end = try arguments.value(Self.duration) { text throws(UsageError) in
            let end = try DateText.deadline(text, now: Date())
            guard end.distance(from: Date()) > .zero else {
                throw UsageError("“\(text)” has passed")
            }
            return end
        }
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await action.run(in: context, done: Self.returning) { manager in
            switch end {
            case .at(let date)?: try await manager.snooze(action.id, until: date)
            case .after(let duration)?: try await manager.snooze(action.id, for: duration)
            case nil: try await manager.snooze(action.id)
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

extension AlertRecord {
    /// Whether its deadline is before the end of its snooze.
    package var expiresBeforeSnoozeEnds: Bool {
        guard let expiresAt, let snoozedUntil else { return false }
        return expiresAt < snoozedUntil
    }
}
