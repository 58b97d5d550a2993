import AlertCore
import Synchronization

/// A queue in memory, for tests, that follows the same rules as a queue in a file.
///
/// Each manager that opens it represents a process of its own, and closing the manager ends only
/// that process. The queue exists for as long as anything refers to it.
///
/// ```swift
/// let clock = ManualClock()
/// let store = InMemoryStore(clock: clock)
/// let screen = try await AlertManager(
///     store, presenters: [ScriptedPresenter { _ in .button(0) }])
/// let asker = try await AlertManager(store, source: "backup")
/// let response = try await asker.ask("Go on?", buttons: ["Yes", .cancel("No")])
/// precondition(response.button?.id == "Yes")
/// await screen.close()
/// ```
public final class InMemoryStore: Sendable {
    private let core: InMemoryCore
    package let clock: any AlertClock
    /// The caller on whose behalf it applies deadlines.
    private let keeper: Caller
    private let process: Int
    private let isClosed = Mutex(false)
    private let timekeeper: Timekeeper

    /// Creates an empty queue.
    ///
    /// - Parameter clock: The clock of the queue, and of every manager that opens it.
    public convenience init(clock: any AlertClock = .system) {
        self.init(InMemoryCore(), clock: clock, keeper: Caller(via: "deadline"))
    }

    /// Returns a closure that opens one new queue, each time as another process.
    ///
    /// - Parameter keeper: The caller on whose behalf deadlines are applied.
    package static func opening(
        keeper: Caller
    ) -> @Sendable (any AlertClock) -> InMemoryStore {
        let core = InMemoryCore()
        return { InMemoryStore(core, clock: $0, keeper: keeper) }
    }

    private init(_ core: InMemoryCore, clock: any AlertClock, keeper: Caller) {
        self.core = core
        self.clock = clock
        self.keeper = keeper
        process = core.open()
        timekeeper = Timekeeper(clock: clock)
        timekeeper.start { [weak self] () async throws(AlertError) in try self?.applyDeadlines() }
    }

    deinit { end() }

    /// The same queue, as another process sees it.
    ///
    /// - Parameter keeper: The caller on whose behalf that process applies deadlines.
    package func another(keeper: Caller) -> InMemoryStore {
        InMemoryStore(core, clock: clock, keeper: keeper)
    }

    private func end() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        guard !wasClosed else { return }
        timekeeper.stop()
        core.close(process)
    }

    private func checkOpen() throws(AlertError) {
        guard !isClosed.withLock({ $0 }) else { throw .closed }
    }

    private func read<Result: Sendable>(
        _ body: (InMemoryQueue) throws(AlertError) -> Result
    ) throws(AlertError) -> Result {
        try checkOpen()
        return try core.read(body)
    }

    private func write<Result: Sendable>(
        by caller: Caller,
        _ body: (InMemoryTransaction) throws(AlertError) -> Result
    ) throws(AlertError) -> Result {
        try checkOpen()
        return try core.write(
            at: clock.now(), by: caller, keeper: keeper, process: process, body)
    }

    /// Stores what is due; returns when something is due next, if anything is.
    private func applyDeadlines() throws(AlertError) -> ClockReading? {
        try write(by: keeper) { transaction throws(AlertError) in
            try transaction.applyDeadlines()
            return transaction.queue.nextDue(at: transaction.now)
        }
    }
}

// MARK: - The seam

extension InMemoryStore: AlertStore {
    package nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        let names = RequestedChange.names(of: changes, request, by: caller)
        let (results, due) = try write(by: caller) { transaction throws(AlertError) in
            if let epoch { try transaction.refuseIfOver(epoch, names) }
            let results = zip(changes, names).map(transaction.commit)
            return (results, transaction.due)
        }
        if let due { timekeeper.setAlarm(at: due) }
        return results
    }

    package func post(_ entry: PostedEntry, by caller: Caller) {
        // An entry posted to a closed store is lost, as in a process that has ended.
        try? write(by: caller) { $0.post(entry) }
    }

    package nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        var found = try read { queue throws(AlertError) in
            try queue.find(reference, at: clock.now())
        }
        found.record = asSeen([found.record])[0]
        if found.isOverdue { timekeeper.lookNow() }
        return found
    }

    package nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming {
        var upcoming = try write(by: keeper) { transaction throws(AlertError) in
            try transaction.applyDeadlines()
            return transaction.queue.next(query, at: transaction.now)
        }
        if let record = upcoming.record {
            upcoming.record = core.markingOrphans(in: [record], at: clock.now())[0]
        }
        return upcoming
    }

    package nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts {
        try read { $0.ready(besides: id) }
    }

    package nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try read { $0.pendingCount(at: clock.now()) }
    }

    package nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        var page = try read { queue throws(AlertError) in
            try queue.page(query, at: clock.now())
        }
        page.records = asSeen(page.records)
        return page
    }

    package nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        guard !Task.isCancelled else { throw .cancelled("the count") }
        let (statistics, total) = try read { queue in
            (queue.statistics(query), queue.alerts.count)
        }
        if total > 0 { progress(total, total) }
        return statistics
    }

    package var position: LogPosition { core.position() }

    package nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try read { queue throws(AlertError) in try queue.entries(query) }
    }

    package nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        let end = ContinuousClock.now + .seconds(1)
        while true {
            try checkOpen()
            let seen = core.changed.count
            var (news, isEmpty) = try core.news(after: position, of: scope, for: process)
            news.cannotExpire = timekeeper.trouble
            let left = ContinuousClock.now.duration(to: end)
            guard isEmpty, left > .zero, !Task.isCancelled else { return news }
            await core.changed.wait(after: seen, atMost: left)
        }
    }

    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        let queue = try read { $0 }
        return try InMemoryCheck.report(on: queue, at: clock.now(), expecting: head, progress)
    }

    package nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease {
        try checkOpen()
        guard let lease = InMemoryLease(of: screen, in: core, process: process) else {
            throw .tooManyScreens
        }
        return lease
    }

    package nonisolated(nonsending) func screens() async -> ScreenRoster {
        core.withScreens { $0.roster() }
    }

    package nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)? {
        try checkOpen()
        guard core.withScreens({ $0.lease(id, for: purpose) }) else { return nil }
        return ClosureLease { [core] in core.withScreens { $0.endLease(id, for: purpose) } }
    }

    package nonisolated(nonsending) func close() async { end() }

    /// The records, with what only the processes tell: which are on a screen, and which are
    /// orphaned.
    private func asSeen(_ records: [AlertRecord]) -> [AlertRecord] {
        let records = core.withScreens { $0.roster() }.states(of: records)
        return core.markingOrphans(in: records, at: clock.now())
    }
}
