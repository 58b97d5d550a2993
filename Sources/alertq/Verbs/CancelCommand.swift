import AlertQueue

/// `alertq cancel ID`: cancels an alert, as the system does.
package struct CancelCommand: Command {
    package static let name = "cancel"
    package static let abstract = "Cancel an alert; its cancel button's action runs"
    package static let operands = ["ID"]
    package static let discussion = [
        """
        It is recorded as cancelled by the system, and the ask that waits for it exits with 17. To \
        say no as a person, use answer; to take back what you asked yourself, withdraw.
        """
    ]

    private let action: AlertAction

    package init(_ arguments: Arguments) throws {
        action = try AlertAction(arguments, verb: Self.name)
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await action.run(in: context, done: AlertAction.ending) { manager in
            try await manager.cancel(action.id)
        }
    }
}
