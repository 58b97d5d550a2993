import AlertQueue

/// A verb that returns responses to alerts that were asked before: `collect` and `wait`.
protocol CollectingCommand: Command where Common == QueueOptions {
    /// How long it waits for a response.
    var waitFor: Alert.Deadline? { get set }
}

extension CollectingCommand {
    /// Waits for the first response to some alerts, and shows none of them.
    func end(
        of records: [AlertRecord], _ manager: AlertManager, within limit: Duration?,
        _ signals: SignalWatch, in context: Context
    ) async throws -> AlertWait.End {
        let wait = AlertWait(
            manager: manager, records: records, context: context,
            limit: limit, terminal: nil, signals: signals)
        return try await wait.end()
    }
}

extension Option where Target: CollectingCommand {
    static var waitFor: Option {
        Option(
            "wait-for", .deadline, \.waitFor,
            help: "Wait for the response for a duration, or until a time")
    }
}
