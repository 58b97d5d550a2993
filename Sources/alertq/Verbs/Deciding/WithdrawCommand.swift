import AlertQueue

/// `alertq withdraw ID`: takes an alert back, for its asker.
package struct WithdrawCommand: Command {
    package static let name = "withdraw"
    package static let abstract = "Take an alert back, because its question is of no use any more"
    package static let operands = ["ID"]
    package static let options = [Option.force]
    package static let discussion = [Option.forceDiscussion]

    private let action: AlertAction
    private let isForced: Bool

    package init(_ arguments: Arguments) throws {
        action = try AlertAction(arguments, verb: Self.name)
        isForced = arguments.has(.force)
    }

    package func run(in context: Context) async throws -> ExitCode {
        try await action.run(in: context, done: AlertAction.ending) { manager in
            try await manager.withdraw(action.id, .thisProcess(isForced: isForced))
        }
    }
}
