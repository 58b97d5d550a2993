import AlertCore

extension AlertManager {
    /// Opens a queue in memory, as a process of its own.
    ///
    /// ```swift
    /// let manager = try await AlertManager(InMemoryStore(), source: "backup")
    /// ```
    ///
    /// - Parameters:
    ///   - store: The queue, whose clock is also the manager's.
    ///   - source: The name under which alerts are asked, 1 to 256 bytes.
    ///   - presenters: The presenters that show alerts, all at once; with none, this manager only
    ///     asks and listens.
    ///   - delegate: The object that is notified of what happens on the screen; held weakly.
    /// - Throws: ``AlertQueue/AlertError/invalid(_:_:)`` for an invalid source or presenter's name.
    public init(
        _ store: InMemoryStore, source: String = "test", presenters: [any AlertPresenter] = [],
        delegate: (any AlertManagerDelegate)? = nil
    ) async throws(AlertError) {
        let caller = Caller(via: "library")
        try await self.init(
            store: store.another(keeper: caller), path: "memory", source: source, caller: caller,
            presenters: presenters, delegate: delegate, clock: store.clock)
    }
}
