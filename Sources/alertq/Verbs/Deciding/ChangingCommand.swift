import AlertQueue
import Glibc

/// A verb that changes the alerts that it names.
protocol ChangingCommand: NamingCommand {}

extension ChangingCommand {
    /// Changes each alert. With `--json` its line is printed, even if another process was faster.
    ///
    /// - Parameter sentence: What has happened, for a note on a terminal, or about one of several;
    ///   stdout carries results only.
    func change(
        in context: Context, noting sentence: (AlertRecord, Context) -> String = Self.ending,
        _ change: (AlertManager, Alert.ID) async throws -> AlertRecord
    ) async throws -> ExitCode {
        try await queue.open(with: alerts.ids.first, via: Self.name) { manager in
            try await forEach(manager, in: context) { id in
                do {
                    let record = try await RewriteNote.whileStoring(in: manager, context) {
                        try await change(manager, id)
                    }
                    if isJSON { try context.print(AlertJSON.line(record)) }
                    if context.errors.isTerminal || alerts.areSeveral {
                        context.note(sentence(record, context))
                    }
                    return .done
                } catch let error as AlertError where ExitCode(error) == .conflict {
                    if isJSON { try context.print(AlertJSON.line(try await manager.record(id))) }
                    throw error
                }
            }
        }
    }

    /// How an alert has ended, as a sentence.
    static func ending(_ record: AlertRecord, in context: Context) -> String {
        "alert \(record.id): \(record.ending(context.noteTime))"
    }
}

extension Resolution.Actor {
    /// The actor of this process: a person if it reads from its terminal, in the foreground, and
    /// otherwise a program; see tcgetpgrp(3).
    ///
    /// The process says so itself, as it does its uid.
    static var thisProcess: Resolution.Actor {
        // tcgetpgrp(3) fails for a terminal that is not the controlling one.
        isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() ? .person : .program
    }
}
