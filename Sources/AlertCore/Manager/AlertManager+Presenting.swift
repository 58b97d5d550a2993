// Presenting, and who presents.
extension AlertManager {
    /// Starts showing alerts, as soon as no other process shows any.
    ///
    /// A manager that was opened with presenters does so already.
    ///
    /// ```swift
    /// let manager = try await AlertManager.shared()
    /// try await manager.startPresenting([try TerminalPresenter()])
    /// ```
    ///
    /// - Parameter presenters: Who shows alerts, all of them at once, in place of those that the
    ///   manager had.
    /// - Throws: ``AlertError/invalid(_:_:)`` for none, or a name that is wrong or given twice;
    ///   ``AlertError/closed``.
    public func startPresenting(_ presenters: [any AlertPresenter]) async throws(AlertError) {
        guard !presenters.isEmpty else { throw .invalid("presenters", "are missing") }
        try Self.check(presenters)
        await stopPresenting()
        guard !isClosed else { throw .closed }
        await startPresenting(presenters, only: nil)
    }

    /// Starts showing alerts as soon as no other screen leads; `only` limits that to one alert.
    package func startPresenting(
        _ presenters: [any AlertPresenter], only: Alert.ID?
    ) async {
        guard !isClosed else { return }
        await presentation.start(presenters, only: only, for: self)
        await listener.listen(from: store.position.sequence)
    }

    /// Takes what is shown off the screen, lets other processes show alerts, and returns when that
    /// is done.
    ///
    /// ```swift
    /// await manager.stopPresenting()
    /// ```
    ///
    /// What was on the screen waits again. A delegate must not wait for this: the manager waits for
    /// the delegate.
    public func stopPresenting() async { await presentation.stop() }

    /// Waits until there is nothing left to show.
    ///
    /// - Throws: Why presenting has ended by itself, ``AlertError/incompatible(path:_:)``.
    package func presentedAll() async throws(AlertError) {
        await presentation.waitUntilIdle()
        if let error = presentation.failure.error { throw error }
    }

    /// Waits until presenting ends by itself, because the queue is no longer the one that was
    /// opened, and throws that; returns if the task is cancelled.
    package nonisolated func presentingFailed() async throws(AlertError) {
        try await presentation.failure.wait()
    }

    /// The screen that leads, in any process; `nil` if none does.
    package nonisolated func leadingScreen() async -> SlotHolder? { await store.leadingScreen() }
}
