import AlertQueue

/// `alertq cancel ID`: cancels an alert, as the system does.
package struct CancelCommand: Command {
    package static let name = "cancel"
    package static let abstract = "Cancel an alert; its cancel button's action runs"
    package static let operands = ["ID"]
    package static let options = [Option.force]
    package static let discussion = [
        """
        It is recorded as cancelled by the system, and the ask that waits for it exits with 17. To \
        say no as a person, use answer; to take back what you asked yourself, withdraw.
        """,
        Option.forceDiscussion,
    ]

    private let action: AlertAction
    private let isForced: Bool

    package init(_ arguments: Arguments) throws {
        action = try AlertAction(arguments, verb: Self.name)
        isForced = arguments.has(.force)
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await action.run(in: context, done: AlertAction.ending) { manager in
            try await manager.cancel(action.id, .thisProcess(isForced: isForced))
        }
    }
}
