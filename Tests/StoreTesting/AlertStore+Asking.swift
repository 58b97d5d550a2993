import AlertCore

// Shorthands for what tests do with a store.
extension AlertStore {
    /// Asks with the identity of this process.
    @discardableResult
    package func ask(
        _ alert: Alert, source: String = "test", limit: Int = 10_000
    ) async throws -> AlertRecord {
        try await enqueue(
            Question(alert: alert, source: source, pendingLimit: limit), by: Caller(via: "test")
        ).record
    }

    @discardableResult
    package func answer(_ id: Alert.ID, _ button: Int, by caller: Caller = .ana) async throws
        -> AlertRecord
    {
        try await resolve(id, .choose(button: button), by: caller)
    }
}
