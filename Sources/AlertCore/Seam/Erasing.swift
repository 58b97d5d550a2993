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
}

extension Erasing {
    /// Erases the texts of alerts, in as many transactions as it takes.
    ///
    /// - Parameter slice: Erases the first of some alerts, in one transaction.
    package nonisolated(nonsending) func eraseTexts(
        of ids: [Alert.ID], _ report: inout PurgeReport,
        _ progress: @Sendable (PurgeProgress) -> Void,
        slice:
            nonisolated(nonsending) (
                ArraySlice<Alert.ID>
            ) async throws(AlertError) -> ErasedSlice
    ) async throws(AlertError) {
        var rest = ids[...]
        while !rest.isEmpty, !Task.isCancelled {
            let slice = try await slice(rest)
            rest = rest.dropFirst(slice.seen)
            report.erased += slice.erased
            report.contradicted += slice.contradicted
            progress(
                PurgeProgress(phase: .texts, done: ids.count - rest.count, total: ids.count))
        }
    }
}
