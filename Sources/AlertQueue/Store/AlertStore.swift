import FoundationEssentials

/// Where alerts, responses and the audit log are kept: the seam between the manager and a database.
///
/// What every store promises:
///
/// * What it returned from a write is durable; a response and its audit entries are one
///   transaction.
/// * An alert gets at most one response, whoever races for it.
/// * At most one slot lease exists at a time, and it ends with its process.
/// * It runs on its caller's actor until it has to wait (SE-0461), so that a manager does not
///   change threads for each call.
/// * After each commit, by whatever process, ``waitForChange(after:)`` returns.
package protocol AlertStore: TextUpkeep {
    /// Stores an alert, or finds the one that its key belongs to.
    nonisolated(nonsending) func enqueue(_ question: Question) async throws(AlertError) -> Enqueued

    /// Gives an alert its response; the first one wins.
    ///
    /// - Throws: ``AlertError/notFound(_:)``, ``AlertError/alreadyResolved(_:)``,
    ///   ``AlertError/late(_:)``, ``AlertError/noSuchButton(_:button:known:)`` and
    ///   ``AlertError/notAsSeen(_:)`` among others.
    ///
    /// - Parameter seen: The digest of what was shown, which must be that of what was asked.
    nonisolated(nonsending) func resolve(
        _ id: Alert.ID, _ resolution: Resolution, seen: [UInt8]?, by caller: Caller
    ) async throws(AlertError) -> AlertRecord

    /// Stores the expiry of an alert if its deadline has passed, and returns its record either way.
    nonisolated(nonsending) func expire(_ id: Alert.ID) async throws(AlertError) -> AlertRecord

    /// What is due now, and what will be next.
    nonisolated(nonsending) func due() async throws(AlertError) -> Due

    /// Stores overdue expiries and ends snoozes that are over, in bounded batches.
    nonisolated(nonsending) func sweep(atMost batches: Int) async throws(AlertError)

    /// Stores a few overdue expiries in the room that is set aside for answers, where a sweep finds
    /// none.
    nonisolated(nonsending) func sweepInReserve() async throws(AlertError)

    /// Snoozes an alert; `nil` means for its own snooze time.
    nonisolated(nonsending) func snooze(
        _ id: Alert.ID, until end: Alert.Deadline?, by caller: Caller
    ) async throws(AlertError) -> AlertRecord

    /// Marks a response as taken by its asker, without waiting for the disk.
    func collect(_ id: Alert.ID, by caller: Caller)

    /// Marks a response as taken, and waits until that is durable; `false` if it already was.
    nonisolated(nonsending) func collectNow(_ id: Alert.ID, by caller: Caller)
        async throws(AlertError) -> Bool

    /// Records that an alert appeared, without waiting for the disk.
    func recordPresented(_ record: AlertRecord, at: ClockReading, by caller: Caller)

    /// Records that an alert left the screen without a result, without waiting for the disk.
    func recordReturned(_ record: AlertRecord, because reason: String, by caller: Caller)

    /// Asks the presenting process to cancel an alert, because its delegate may handle that.
    ///
    /// - Throws: ``AlertError/notYours(_:owner:)`` among others.
    nonisolated(nonsending) func requestCancel(
        _ id: Alert.ID, _ authority: Resolution.Authority, by caller: Caller
    ) async throws(AlertError)

    /// Whether another process wants an alert to be cancelled.
    nonisolated(nonsending) func isCancelRequested(_ id: Alert.ID) async throws(AlertError) -> Bool

    /// The alert to show next, among those that one of the presenters may show, but for some; if
    /// `prefersQuestions` and there is one, an alert with buttons.
    nonisolated(nonsending) func next(
        for presenters: [String], only: Alert.ID?, except: [Alert.ID], prefersQuestions: Bool
    ) async throws(AlertError) -> Upcoming

    /// How many alerts could be shown now, besides one.
    nonisolated(nonsending) func waiting(besides id: Alert.ID) async throws(AlertError)
        -> WaitingAlerts

    /// One alert, with its response if it has one.
    nonisolated(nonsending) func record(_ id: Alert.ID) async throws(AlertError) -> AlertRecord

    /// One alert as it is stored, with its deadline; an expiry that nobody has stored yet does not
    /// show.
    nonisolated(nonsending) func found(_ id: Alert.ID) async throws(AlertError) -> Enqueued

    /// The alert that a source of a caller's account asked with a key.
    nonisolated(nonsending) func record(
        key: String, source: String, of caller: Caller
    ) async throws(AlertError) -> AlertRecord

    /// What waits, in the order in which it will be shown, snoozed alerts last; `after` continues
    /// after that alert.
    nonisolated(nonsending) func pending(
        source: String?, after: Alert.ID?, limit: Int
    ) async throws(AlertError) -> [AlertRecord]

    /// How many alerts wait.
    nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int

    /// Responses, newest first; `after` continues after the response of that alert.
    nonisolated(nonsending) func history(
        _ filter: HistoryFilter, limit: Int, after: Alert.ID?
    ) async throws(AlertError) -> [AlertRecord]

    /// Counts what was asked from one time on and before another, and what became of it.
    ///
    /// It ends early when its task is cancelled. `progress` hears how many of how many alerts it
    /// has looked at.
    nonisolated(nonsending) func statistics(
        source: String?, since: Date?, until: Date?,
        _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics

    /// The alerts whose responses wait for a named handler, oldest first.
    nonisolated(nonsending) func uncollected(
        handler: String, after: Alert.ID, limit: Int
    ) async throws(AlertError) -> [Alert.ID]

    /// Responses that no asker has taken and no named handler waits for, oldest first, among the
    /// next ones behind a place; a bounded look, which may find none before the end.
    nonisolated(nonsending) func uncollected(
        _ filter: HistoryFilter, behind place: Int64, limit: Int
    ) async throws(AlertError) -> UncollectedPage

    /// Audit entries after a sequence number, oldest first.
    ///
    /// - Parameter isChecked: Whether an entry that was changed is an error.
    nonisolated(nonsending) func events(
        after sequence: Int64, limit: Int, isChecked: Bool
    ) async throws(AlertError) -> [AlertEvent]

    /// The newest audit entry that this process knows of, or 0: whatever it does from now on comes
    /// after that.
    var knownSequence: Int64 { get }

    /// Audit entries after a sequence number, oldest first, with their proofs.
    nonisolated(nonsending) func audit(
        after sequence: Int64, of id: Alert.ID?, limit: Int
    ) async throws(AlertError) -> [AuditEntry]

    /// The sequence number after which the last entries begin, of all or of one alert.
    nonisolated(nonsending) func auditPlace(
        beforeLast count: Int, of id: Alert.ID?
    ) async throws(AlertError) -> Int64

    /// The end of the audit log; `nil` while it is empty.
    nonisolated(nonsending) func auditHead() async throws(AlertError) -> AuditHead?

    /// Recomputes the chain, and compares alerts and responses with what it says of them.
    ///
    /// It ends early when its task is cancelled. `progress` hears how many of how many entries
    /// have been checked.
    nonisolated(nonsending) func verifyAudit(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport

    /// What is wrong with the database file as such: ten sentences at most, none if it is whole.
    nonisolated(nonsending) func structuralDamage() async throws(AlertError) -> [String]

    /// Tries to take the presentation slot; `nil` if another holder has it.
    func takeSlot(_ holder: SlotHolder) throws(AlertError) -> (any SlotLease)?

    /// Waits until the slot may have become free, or a second has passed.
    nonisolated(nonsending) func waitForSlot() async

    /// Who holds the slot, and what is on the screen; `nil` if it is free.
    func slotHolder() -> SlotHolder?

    /// Takes the right to run the named handler of an alert; `nil` if another process runs it.
    func takeHandlerTurn(_ id: Alert.ID) throws(AlertError) -> (any HandlerTurn)?

    /// A number that grows with each change that this process has noticed.
    var changeCount: UInt64 { get }

    /// Waits until ``changeCount`` differs from a number, or a second has passed.
    nonisolated(nonsending) func waitForChange(after count: UInt64) async

    /// A number that grows with each change that this process did not make itself, or that means
    /// more than whoever made it knows, such as the expiry of another alert.
    var newsCount: UInt64 { get }

    /// Waits until ``newsCount`` differs from a number, or a second has passed.
    nonisolated(nonsending) func waitForNews(after count: UInt64) async

    /// Whether nothing has happened after an entry of the audit log that counts as news.
    func isQuiet(since sequence: Int64) -> Bool

    /// The newest entry if nothing after an entry counts as news, else that entry itself.
    func endOfQuiet(after sequence: Int64) -> Int64

    /// Stops this store from waiting for a lock that one other process keeps: this process is about
    /// to end.
    ///
    /// A lock that goes from one process to the next is still waited for.
    func hurry()

    /// Whether ``close()`` has been called.
    var isClosed: Bool { get }

    /// Writes what has been recorded without waiting, and releases everything.
    nonisolated(nonsending) func close() async
}

extension AlertStore {
    package nonisolated(nonsending) func next(for presenters: [String], only: Alert.ID?)
        async throws(AlertError) -> Upcoming
    {
        try await next(for: presenters, only: only, except: [], prefersQuestions: false)
    }

    package nonisolated(nonsending) func resolve(
        _ id: Alert.ID, _ resolution: Resolution, by caller: Caller
    ) async throws(AlertError) -> AlertRecord {
        try await resolve(id, resolution, seen: nil, by: caller)
    }

    package nonisolated(nonsending) func snooze(
        _ id: Alert.ID, for duration: Duration?, by caller: Caller
    ) async throws(AlertError) -> AlertRecord {
        try await snooze(id, until: duration.map(Alert.Deadline.after), by: caller)
    }
}

/// A way for an alert to end.
package enum Resolution: Sendable, Hashable {
    /// Somebody or something chose the button with this index; `nil` closes an alert without
    /// buttons.
    case choose(button: Int?, Actor = .person)
    /// Somebody or something chose the button with this id.
    case chooseID(String, Actor = .person)
    /// The system cancels it; `handled` tells that a delegate has done what that needs.
    case cancel(handled: Bool, Authority = .own(.program))
    /// Its auto-dismiss timer fired.
    case dismiss
    /// The asker takes it back.
    case withdraw(Authority = .own(.program))
    /// Nobody was there to see it for so long as the asker gave: it expires now, and its default
    /// button is applied by policy.
    case expireUnattended

    /// Who acts.
    package enum Actor: Sendable, Hashable {
        /// A presenter that showed the alert took the choice, or a command in the foreground of its
        /// terminal.
        case person
        case program
    }

    /// By which right somebody ends what another account may have asked.
    package enum Authority: Sendable, Hashable {
        /// That of an account over its own alerts, and of root.
        case own(Actor)
        /// The caller used force: the alert may be another account's.
        case forced(Actor)
        /// That of whoever requested it before, as the log tells; for the screen that carries it
        /// out.
        case requested

        /// - Throws: ``AlertError/notYours(_:owner:)`` if the caller may not end the alert.
        func check(_ record: AlertRecord, _ caller: Caller) throws(AlertError) {
            let source = record.source
            guard case .own = self, !caller.isAsker(source), !caller.hasRight(over: source.uid)
            else { return }
            throw .notYours(record.id, owner: source.uid)
        }
    }
}

/// The next alert to show, and when to look again if there is none.
package struct Upcoming: Sendable {
    package var record: AlertRecord?
    package var expiry: ClockReading?
    /// What waits behind it.
    package var waiting = WaitingAlerts()
    /// Whether overdue alerts or finished snoozes wait to be swept first.
    package var needsSweep = false
    /// The alerts that would have come first, but are not what the log says.
    package var refused: [Alert.ID: AlertError] = [:]
    /// The newest audit entry when it was looked for.
    package var sequence: Int64
}

/// What time does to a queue.
package struct Due: Sendable {
    /// Whether a deadline has passed or a snooze is over, and that is not stored yet.
    package var isNow: Bool
    /// The earliest deadline or end of a snooze to come, of those that were set in this boot; `nil`
    /// for none, or the earliest moment. Moments, and what was set in an earlier boot, follow the
    /// wall clock, which may jump: that is found only by looking often.
    package var next: ClockReading?
}
