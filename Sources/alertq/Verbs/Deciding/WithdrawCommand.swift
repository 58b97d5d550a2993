import AlertQueue

/// `alertq withdraw ID`: takes an alert back, for its asker.
struct WithdrawCommand: RevokingCommand {
    static let name = "withdraw"
    static let abstract = "Take an alert back, because its question no longer matters"
    static let operands: [Operand<Self>] = [Operand(.alertID, \.$id)]
    static let options: [Option<Self>] = [.force]
    static let discussion = [forceDiscussion]

    var common = QueueOptions()
    @Required var id: Alert.ID
    var isForced = false

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context) { try await $0.withdraw(id, authority) }
    }
}
