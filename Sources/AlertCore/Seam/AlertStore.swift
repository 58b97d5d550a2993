import FoundationEssentials

/// The storage of alerts, responses and the audit log: the seam between the manager and a database.
///
/// Every store guarantees the following:
///
/// * When a commit returns, its change is durable; a response and its audit entries are one
///   transaction. Posted entries are written soon, in order, and at the latest when the store closes.
/// * An alert gets at most one response, no matter how many callers race for it.
/// * If it was opened for writing, it stores expiries and ends snoozes by itself, even if it is never
///   called, on behalf of the caller for whom it was opened. While it can't, its news say why, as
///   those of a store that was opened for reading always do.
/// * At most one screen leads at a time; leases end with their process.
/// * It runs on its caller's actor until it has to wait (SE-0461), so that a manager does not
///   switch threads for each call.
/// * After each commit by any process, ``news(after:of:)`` returns.
///
/// Maintenance and administration have their own protocols, such as ``Maintenance``, which a store
/// may also adopt.
package protocol AlertStore: Sendable {
    /// Makes changes in one transaction, and returns once it is on disk, with what was posted before;
    /// each change is stored, or refused by itself.
    ///
    /// - Parameters:
    ///   - request: The caller's name for this call. A change that took effect in an earlier call
    ///     of the same principal and name is not made again: its receipt is returned, with the
    ///     record as it is now.
    ///   - epoch: The attachment of the screen that makes the changes, or the lease under which they
    ///     are made. What took effect while that lasted is found by its name afterwards, too.
    /// - Returns: For each change, in their order, its receipt, or the error that ``Change`` names.
    /// - Throws: An error with which nothing of any change is stored; ``AlertError/detached`` if
    ///   the attachment or the lease is over.
    nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>]

    /// Stores an entry, as of now, with one of the next commits, or soon, without waiting for that.
    func post(_ entry: PostedEntry, by caller: Caller)

    /// Returns one alert, with its response if it has one.
    ///
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/keyNotFound(_:)``, and
    ///   ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt

    /// Returns the alert to show next, once what is due is stored.
    nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming

    /// Returns how many alerts could be shown now, not counting one.
    nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts

    /// Returns how many alerts wait, snoozed ones included.
    nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int

    /// Returns some records, in the order of their query.
    nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage

    /// Counts the alerts that were asked and how they ended.
    ///
    /// It ends early when its task is cancelled. `progress` is called with the number of alerts
    /// examined and their total.
    nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics

    /// How far this process has seen the log grow: everything done from now on comes after that.
    var position: LogPosition { get }

    /// Returns entries of the audit log, oldest first, with their proofs.
    ///
    /// - Throws: ``AlertError/unknownCursor(_:end:)`` if the log doesn't have the one to continue
    ///   after.
    nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry]

    /// Returns what has happened after a position; if nothing has, waits until something does, for
    /// at most a second.
    ///
    /// - Throws: ``AlertError/closed``, ``AlertError/unknownCursor(_:end:)`` if the log doesn't have
    ///   the position's entry, and the errors of reading.
    nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News

    /// Recomputes the chain of the log, and compares alerts and responses with it.
    ///
    /// It ends early when its task is cancelled. `progress` is called with the number of entries
    /// checked and their total.
    ///
    /// - Parameter head: A head of the log that was kept elsewhere and must be part of it.
    nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport

    /// Attaches a screen, which may lead once no other screen does, or once the leading one has
    /// given no sign of life for five seconds.
    ///
    /// - Throws: ``AlertError/busy(_:)`` if 64 screens are already attached.
    nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease

    /// Returns the attached screens and what they show.
    nonisolated(nonsending) func screens() async -> ScreenRoster

    /// Takes a lease on an alert; `nil` for handling while any call has that lease.
    ///
    /// A waiting lease doesn't conflict with any other. Records say whether there is one:
    /// ``AlertRecord/isOrphaned``.
    nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)?

    /// On whose behalf the store carries out everything, whatever a caller says; `nil` if it takes
    /// callers at their word.
    var actingPrincipal: Principal? { get }

    /// As which process; `nil` if it takes callers at their word, or doesn't know.
    var actingProcess: ProcessIdentity? { get }

    /// Writes the posted entries and releases all resources; later calls throw ``AlertError/closed``.
    nonisolated(nonsending) func close() async
}

extension AlertStore {
    package var actingPrincipal: Principal? { nil }
    package var actingProcess: ProcessIdentity? { nil }
}
