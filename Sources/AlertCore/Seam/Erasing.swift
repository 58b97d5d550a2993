import FoundationEssentials

/// What a store does that can erase old texts.
package protocol Erasing: Sendable {
    /// Erases the texts of alerts that the caller's account asked, or anybody if it is root, whose
    /// responses are older than a date, and were collected or need not be.
    ///
    /// It ends early when its task is cancelled, and the next one completes it.
    nonisolated(nonsending) func erase(
        before date: Date, by caller: Caller, progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> PurgeReport

    /// What such an erasure would do.
    nonisolated(nonsending) func erasable(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> PurgeReport
}
