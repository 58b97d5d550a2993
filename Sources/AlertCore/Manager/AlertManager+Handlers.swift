// Code that is registered by name for the responses of alerts that carry the name.
extension AlertManager {
    /// Registers code under a handler's name, and runs it for every uncollected response of an
    /// alert that carries the name: for existing responses now, for later ones as they come. The
    /// alert must have been asked by this process's account, unless that is root.
    ///
    /// The code runs at least once for a response, in one process at a time, concurrently with the
    /// queue, and must be idempotent. The oldest responses come first, but up to 32 handlers of a
    /// manager run at once, so they may finish in a different order; in this process an alert's
    /// closures run before its handler. The response is collected when the code returns. When it
    /// throws, it is tried again after a second, then after two, four and so on up to ten minutes.
    /// When its process dies, another one that has registered the name takes over within two
    /// seconds. Registering a name again replaces its code, and retries failed responses at once.
    ///
    /// ```swift
    /// try await manager.register(handler: "apply") { response in
    ///     if response.button?.id == "Apply" { try await deploy() }
    /// }
    /// ```
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` for an empty or oversized name,
    ///   ``AlertError/closed``.
    public func register(
        handler name: String, _ body: @escaping RegisteredHandler
    ) async throws(AlertError) {
        guard !isClosed else { throw .closed }
        try Text.check(name, "handler", limit: Alert.Limit.name)
        let position = store.position
        // In this order: a listener that finds no handler yet might stop at once.
        await handlers.register(name, body)
        await listener.listen(from: position.sequence)
    }
}
