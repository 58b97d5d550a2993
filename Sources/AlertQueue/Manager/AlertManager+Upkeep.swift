// What keeps a queue fit: its index of words, and the erasure of old texts.
extension AlertManager {
    /// How long a presenter waits between two looks at the index.
    private static let upkeepPause = Duration.seconds(30)
    /// How many responses make it worth while.
    private static let upkeepWorth = 100

    /// Gets everything ready for a search by ``HistoryFilter/text``.
    ///
    /// A search does this itself, and so does every presenter now and then. The first search in a
    /// queue of a million responses takes the better part of a minute: call this before it to tell
    /// somebody how far it has come. When the task is cancelled, nothing that is done is lost.
    ///
    /// - Parameter progress: Hears how many of how many responses are done.
    /// - Throws: ``AlertError/busy(_:)``, ``AlertError/storage(operation:_:)``,
    ///   ``AlertError/closed``.
    public func prepareTextSearch(
        progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws(AlertError) {
        try await store.indexTexts(progress)
    }

    /// Builds the index of words anew.
    package func rebuildTextIndex(
        progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) {
        try await store.emptyTextIndex()
        try await store.indexTexts(progress)
    }

    /// Reads all of the index of words.
    ///
    /// - Throws: ``AlertError/storage(operation:_:)`` where it is damaged.
    package func checkTextIndex() async throws(AlertError) {
        try await store.checkTextIndex()
    }

    /// How many responses are not in the index of words yet.
    package func unindexedCount() async throws(AlertError) -> Int {
        try await store.unindexedCount()
    }

    /// Indexes what has come since, a little at a time, for as long as this manager presents: so
    /// that a search later need not wait for it.
    func keepTextIndex() async {
        while wantsToPresent, !Task.isCancelled {
            // Cancelled when presenting ends.
            try? await Task.sleep(for: Self.upkeepPause)
            // What can't be done now is done by a search.
            guard var left = try? await store.unindexedCount(), left >= Self.upkeepWorth else {
                continue
            }
            while left > 0, wantsToPresent, !Task.isCancelled, showing == nil {
                left = (try? await store.indexSomeTexts()) ?? 0
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
