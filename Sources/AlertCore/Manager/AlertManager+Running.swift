// Commands that an answer allows to run.
extension AlertManager {
    /// Uses an answer to start a command: marks it as collected, and logs the start.
    ///
    /// - Parameter allowsDefault: Whether a default button that was applied at the deadline is
    ///   enough.
    /// - Returns: Whether the command may start: the answer is a yes, and nobody has used it.
    /// - Throws: The errors of ``collect(_:)``; the command must not start then.
    package func startRun(
        _ id: Alert.ID, allowsDefault: Bool
    ) async throws(AlertError) -> Bool {
        try await store.commit(
            .run(id, .started(allowsDefault: allowsDefault)), by: context.caller
        ).isNew
    }

    /// Logs how a command ended that an answer allowed to start.
    ///
    /// - Throws: The errors of ``collect(_:)``.
    package func endRun(_ id: Alert.ID, _ end: RunStep) async throws(AlertError) {
        _ = try await store.commit(.run(id, end), by: context.caller)
    }
}
