import FoundationEssentials

/// What a store does for its health that keeps its texts in an index and in files of its own.
package protocol Maintenance: Sendable {
    /// Puts the words of all responses into the index that a search for text uses, or of as many
    /// as there are until its task is cancelled.
    nonisolated(nonsending) func indexTexts(
        _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError)

    /// How many responses are not in the index of words yet.
    nonisolated(nonsending) func unindexedCount() async throws(AlertError) -> Int

    /// Reads all of the index of words, and throws where it is damaged.
    nonisolated(nonsending) func checkTextIndex() async throws(AlertError)

    /// Throws the index of words away, whatever is wrong with it.
    nonisolated(nonsending) func emptyTextIndex() async throws(AlertError)

    /// Whether everything that was erased so far is gone from every file.
    nonisolated(nonsending) func isErasureComplete() async throws(AlertError) -> Bool

    /// What is wrong with the database file as such: ten sentences at most, none if it is whole.
    nonisolated(nonsending) func structuralDamage() async throws(AlertError) -> [String]
}
