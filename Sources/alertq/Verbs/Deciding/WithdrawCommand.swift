import AlertQueue

/// `alertq withdraw ID…`: takes alerts back, for its asker.
struct WithdrawCommand: RevokingCommand {
    static let name = "withdraw"
    static let abstract = "Take alerts back, because their questions no longer matter"
    static let operands: [Operand<Self>] = [Operand(.alertID, each: \.alerts.ids)]
    static let options: [Option<Self>] = [.force] + byKey
    static let discussion = [forceDiscussion, severalDiscussion]

    var common = QueueOptions()
    var alerts = NamedAlerts()
    var isForced = false

    func run(in context: Context) async throws -> ExitCode {
        try await change(in: context) { try await $0.withdraw($1, authority) }
    }
}
