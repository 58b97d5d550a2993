import FoundationEssentials

/// A store that can erase old texts.
package protocol Erasing: Sendable {
    /// The time by which its responses are dated, which is not this machine's on a server.
    var time: ClockReading { get }

    /// Erases the texts of alerts whose responses are older than a date and were collected or need
    /// not be: those that the caller's account asked, or for root those of all accounts of its
    /// machine.
    ///
    /// It ends early when its task is cancelled; the next erasure completes it.
    ///
    /// - Parameter rewritesFile: Whether the file is rewritten, without which erased texts may
    ///   still be in it.
    nonisolated(nonsending) func erase(
        before date: Date, by caller: Caller, rewritesFile: Bool,
        progress: @Sendable (PurgeProgress) -> Void
    ) async throws(AlertError) -> PurgeReport

    /// Reports what such an erasure would do.
    nonisolated(nonsending) func erasable(
        before date: Date, by caller: Caller
    ) async throws(AlertError) -> PurgeReport

    /// Returns whether nothing is left of all that was erased so far, in no file or table.
    nonisolated(nonsending) func isErasureComplete() async throws(AlertError) -> Bool
}
