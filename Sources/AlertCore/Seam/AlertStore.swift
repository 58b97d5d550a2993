import FoundationEssentials

/// Where alerts, responses and the audit log are kept: the seam between the manager and a database.
///
/// What every store promises:
///
/// * What it returned from a commit is durable; a response and its audit entries are one
///   transaction. What it was posted is written soon, in order, and at the latest when it closes.
/// * An alert gets at most one response, whoever races for it.
/// * It stores expiries and ends snoozes by itself, also where nobody calls it: those of the
///   caller for whom it was opened.
/// * At most one screen leads at a time; a lease and a handler's turn end with their process.
/// * It runs on its caller's actor until it has to wait (SE-0461), so that a manager does not
///   change threads for each call.
/// * After each commit, by whatever process, ``news(after:of:)`` returns.
///
/// Maintenance and administration are protocols of their own, ``Maintenance`` and others, which a
/// store may adopt besides.
package protocol AlertStore: Sendable {
    /// Stores a change, and returns once it is on disk.
    ///
    /// - Throws: What ``Change`` says; nothing of the change is stored then.
    nonisolated(nonsending) func commit(
        _ change: Change, by caller: Caller
    ) async throws(AlertError) -> Receipt

    /// Stores a note along with the next commit, or soon, without waiting for that.
    func post(_ note: Note, by caller: Caller)

    /// One alert, with its response if it has one.
    ///
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/keyNotFound(_:)``, and
    ///   ``AlertError/inconsistent(_:_:)`` if the log contradicts it.
    nonisolated(nonsending) func find(
        _ reference: Reference
    ) async throws(AlertError) -> Receipt

    /// The alert to show next.
    nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming

    /// How many alerts could be shown now, besides one.
    nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts

    /// How many alerts wait, snoozed ones included.
    nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int

    /// Some records, in the order of their query.
    nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage

    /// Counts what was asked, and what became of it.
    ///
    /// It ends early when its task is cancelled. `progress` hears how many of how many alerts it
    /// has looked at.
    nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics

    /// How far this process has seen the log grow: whatever is done from now on comes after that.
    var position: LogPosition { get }

    /// Entries of the audit log, oldest first, with their proofs.
    nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry]

    /// What has happened after a position; where that is nothing, it waits until something does,
    /// for a second at most.
    ///
    /// - Throws: ``AlertError/closed``, and what reading throws.
    nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News

    /// Recomputes the chain of the log, and compares alerts and responses with what it says.
    ///
    /// It ends early when its task is cancelled. `progress` hears how many of how many entries
    /// have been checked.
    ///
    /// - Parameter head: An end of the log that was kept elsewhere and must be part of it.
    nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport

    /// Attaches a screen, which may lead once no other one does, or once the one that does has
    /// given no sign of life for five seconds.
    ///
    /// - Throws: ``AlertError/busy(_:)`` where 64 screens are attached already.
    nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease

    /// The screens that are attached, and what they show.
    nonisolated(nonsending) func screens() async -> ScreenRoster

    /// Takes the right to run the named handler of an alert; `nil` if another process has it.
    nonisolated(nonsending) func takeHandlerTurn(
        _ id: Alert.ID
    ) async throws(AlertError) -> (any HandlerTurn)?

    /// Writes what has been posted, and releases everything; whatever is called from then on
    /// throws ``AlertError/closed``.
    nonisolated(nonsending) func close() async
}
