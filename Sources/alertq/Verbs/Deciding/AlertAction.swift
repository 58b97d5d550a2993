import AlertQueue

/// What the verbs that change one alert by its id have in common.
package struct AlertAction: Sendable {
    private let queue: QueueChoice
    private let verb: String
    private let isJSON: Bool
    package let id: Alert.ID

    package init(_ arguments: Arguments, verb: String) throws {
        queue = try QueueChoice(arguments)
        id = try arguments.alertID()
        isJSON = arguments.has(.json)
        self.verb = verb
    }

    /// Changes the alert. With `--json` its line is printed, also when somebody was faster.
    ///
    /// `done` says on a terminal what has happened; stdout carries results only.
    package func run(
        in context: Context, done: (AlertRecord, Context) -> String,
        _ change: (AlertManager) async throws -> AlertRecord
    ) async throws -> ExitCode {
        try await queue.open(with: id, via: verb) { manager in
            do {
                let record = try await change(manager)
                if isJSON { try context.print(AlertJSON.line(record)) }
                if context.errors.isTerminal { context.note(done(record, context)) }
                return .done
            } catch let error as AlertError where ExitCode(error) == .conflict {
                if isJSON { try context.print(AlertJSON.line(try await manager.record(id))) }
                throw error
            }
        }
    }

    /// How an alert has ended, as a sentence.
    package static func ending(_ record: AlertRecord, in context: Context) -> String {
        "alert \(record.id): "
            + (Ending(record)?.text(context.noteTime) ?? record.state.rawValue)
    }
}
