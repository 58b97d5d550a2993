import FoundationEssentials

/// A store that keeps a text index and files of its own, and can maintain them.
package protocol Maintenance: Sendable {
    /// Empties the search index, even if it is damaged, and adds the words of all responses to it,
    /// or as many as possible until its task is cancelled.
    nonisolated(nonsending) func rebuildTextIndex(
        _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError)

    /// Returns how many responses are not in the search index yet.
    nonisolated(nonsending) func unindexedCount() async throws(AlertError) -> Int

    /// Reads the whole search index, and throws if it is damaged.
    nonisolated(nonsending) func checkTextIndex() async throws(AlertError)

    /// Returns up to ten sentences about damage to the database file; none if it is intact.
    nonisolated(nonsending) func structuralDamage() async throws(AlertError) -> [String]
}
