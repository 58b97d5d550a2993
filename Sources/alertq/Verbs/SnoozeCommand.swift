import AlertQueue

/// `alertq snooze ID`: puts an alert back for a time.
package struct SnoozeCommand: Command {
    package static let name = "snooze"
    package static let abstract = "Put an alert back for a time, after which it comes again"
    package static let operands = ["ID"]
    package static let options = [duration]

    static let duration = Option(
        "for", "DURATION", help: "How long; else the alert's own time, or 5 minutes")

    private let action: AlertAction
    private let duration: Duration?

    package init(_ arguments: Arguments) throws {
        action = try AlertAction(arguments, verb: Self.name)
        duration = try arguments.value(Self.duration, DurationText.parse)
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await action.run(in: context, done: Self.returning) { manager in
            try await manager.snooze(action.id, for: duration)
        }
    }

    private static func returning(_ record: AlertRecord) -> String {
        let moment = record.snoozedUntil.map { " at " + TimeText.local($0) } ?? ""
        return "alert \(record.id) comes again" + moment
    }
}
