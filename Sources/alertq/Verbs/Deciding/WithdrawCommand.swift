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
        var results: [Alert.ID: Result<AlertRecord, AlertError>] = [:]
        return try await change(in: context) { manager, id in
            if results.isEmpty, alerts.ids.count > 1 {
                let all = try await manager.withdraw(alerts.ids, authority)
                results = Dictionary(uniqueKeysWithValues: zip(alerts.ids, all))
            }
            if let result = results[id] { return try result.get() }
            return try await manager.withdraw(id, authority)
        }
    }
}
