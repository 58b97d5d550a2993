import AlertQueue
import SQLiteStore
import StoreTesting
import Synchronization

@testable import AlertCore

/// A store with one fault, to show that the contract's checks find it.
final class WrongStore: AlertStore {
    enum Fault: String, CaseIterable {
        /// A note is lost.
        case dropsNotes
        /// A note is written twice.
        case repeatsPostedEntries
        /// A second answer gets a receipt as if it had won.
        case answersTwice
        /// The loser's error has a response other than the winner's.
        case namesNoWinner
        /// A late answer counts.
        case takesLateAnswers
        /// Authority is not checked.
        case asksNoRight
        /// Digests are not compared.
        case looksAtNoDigest
        /// Every ask with a known key is reported as new.
        case keysAreAlwaysNew
        /// A question never takes the place of another one.
        case neverReplaces
        /// Any response is joined that nobody has taken.
        case reusesEverything
        /// No answer goes stale.
        case keepsAnswersFresh
        /// Only the first page of a list is right.
        case repeatsPages
        /// There is never any news.
        case hearsNothing
        /// The news don't say that expiries can't be stored.
        case concealsTrouble
        /// A store's own changes are news for itself.
        case hearsItself
        /// Every screen leads.
        case everybodyLeads
        /// No screen learns which alert is current.
        case nothingIsCurrent
        /// A screen that can't show anything now still counts.
        case screensOfferAll
        /// Two stores have the turn of one handler.
        case handlersShareTurns
        /// Waiting leases are forgotten.
        case nobodyIsSeenWaiting
        /// A withdrawal of orphans takes back what somebody waits for.
        case takesBackWhatIsAwaited
        /// Whether an asker waits is not stored.
        case forgetsAskers
        /// Snoozed alerts are shown.
        case showsSnoozed
        /// The last entry of the log is left out.
        case hidesLastEntry
        /// A closed store still works.
        case neverCloses
        /// Limits are not enforced.
        case hasNoBounds
        /// A change with a name is made again.
        case forgetsRequests
        /// A screen that was lost can still make changes.
        case looksAtNoEpoch
    }

    let store: any AlertStore
    let fault: Fault

    init(_ store: any AlertStore, _ fault: Fault) {
        self.store = store
        self.fault = fault
    }

    nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        let request = fault == .forgetsRequests ? nil : request
        let epoch = fault == .looksAtNoEpoch ? nil : epoch
        guard changes.count == 1, request == nil, epoch == nil, let change = changes.first else {
            return try await store.commit(changes, request: request, by: caller, under: epoch)
        }
        do throws(AlertError) {
            return [.success(try await commitOne(change, by: caller))]
        } catch {
            return [.failure(error)]
        }
    }

    private nonisolated(nonsending) func commitOne(
        _ change: Change, by caller: Caller
    ) async throws(AlertError) -> Receipt {
        switch (fault, change) {
        case (.answersTwice, .resolve(let id, _, _)):
            do {
                return try await store.commit(change, by: caller)
            } catch .alreadyResolved {
                return try await store.find(.id(id))
            }
        case (.namesNoWinner, .resolve):
            do {
                return try await store.commit(change, by: caller)
            } catch .alreadyResolved(let response) {
                throw .alreadyResolved(response.collected(at: response.resolvedAt))
            }
        case (.takesLateAnswers, .resolve(let id, _, _)):
            do {
                return try await store.commit(change, by: caller)
            } catch .late {
                return try await store.find(.id(id))
            }
        case (.asksNoRight, .resolve(let id, .withdraw, let seen)):
            return try await store.commit(
                .resolve(id, .withdraw(.forced(.program)), seen: seen), by: caller)
        case (.takesBackWhatIsAwaited, .resolve(let id, .withdraw(let by, let reason, true), _)):
            return try await store.commit(
                .resolve(id, .withdraw(by, because: reason)), by: caller)
        case (.looksAtNoDigest, .resolve(let id, let resolution, _)):
            return try await store.commit(.resolve(id, resolution), by: caller)
        case (.hasNoBounds, .ask(var question)):
            question.pendingLimit = .max
            question.principalLimit = .max
            return try await store.commit(.ask(question), by: caller)
        case (.forgetsAskers, .ask(var question)):
            question.isAwaited = false
            return try await store.commit(.ask(question), by: caller)
        case (.neverReplaces, .ask(var question)):
            if question.join == .replacing { question.join = .same }
            return try await store.commit(.ask(question), by: caller)
        case (.reusesEverything, .ask(var question)):
            if case .numbered = question.join {
                question.join = .numbered(Question.Reuse(byDefault: true))
            }
            return try await store.commit(.ask(question), by: caller)
        case (.keysAreAlwaysNew, .ask):
            var receipt = try await store.commit(change, by: caller)
            receipt.isNew = true
            return receipt
        default:
            return try await store.commit(change, by: caller)
        }
    }

    func post(_ entry: PostedEntry, by caller: Caller) {
        guard fault != .dropsNotes else { return }
        if fault == .repeatsPostedEntries { store.post(entry, by: caller) }
        store.post(entry, by: caller)
    }

    nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        var receipt = try await store.find(reference)
        if fault == .keepsAnswersFresh { receipt.record.response?.isStale = false }
        return receipt
    }

    nonisolated(nonsending) func next(_ query: ScreenQuery) async throws(AlertError) -> Upcoming {
        let next = try await store.next(query)
        guard fault == .showsSnoozed, next.record == nil, query.own.isEmpty else { return next }
        return Upcoming(record: try await store.pending(limit: 1).first)
    }

    nonisolated(nonsending) func waiting(besides id: Alert.ID) async throws(AlertError)
        -> WaitingAlerts
    {
        try await store.waiting(besides: id)
    }

    nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await store.pendingCount()
    }

    nonisolated(nonsending) func page(_ query: RecordQuery) async throws(AlertError) -> RecordPage {
        var query = query
        if fault == .repeatsPages, query.limit < 100 { query.after = nil }
        return try await store.page(query)
    }

    nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (Int, Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        try await store.statistics(query, progress)
    }

    var position: LogPosition { store.position }

    nonisolated(nonsending) func entries(_ query: LogQuery) async throws(AlertError) -> [AuditEntry]
    {
        let entries = try await store.entries(query)
        return fault == .hidesLastEntry ? entries.dropLast() : entries
    }

    nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        var news = try await store.news(
            after: position, of: fault == .hearsItself ? .everybody : scope)
        if fault == .concealsTrouble { news.cannotExpire = nil }
        guard fault == .hearsNothing else { return news }
        return News(events: [], position: news.position, hasChanged: false)
    }

    nonisolated(nonsending) func verify(
        expecting head: AuditHead?, _ progress: @escaping @Sendable (Int, Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        try await store.verify(expecting: head, progress)
    }

    nonisolated(nonsending) func attach(_ screen: AttachedScreen) async throws(AlertError)
        -> any ScreenLease
    {
        let lease = try await store.attach(screen)
        return switch fault {
        case .everybodyLeads, .nothingIsCurrent, .screensOfferAll: WrongLease(fault, lease)
        default: lease
        }
    }

    nonisolated(nonsending) func screens() async -> ScreenRoster {
        await store.screens()
    }

    nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)? {
        if fault == .nobodyIsSeenWaiting, purpose == .waiting { return NoTurn() }
        let turn = try await store.lease(id, for: purpose)
        return fault == .handlersShareTurns ? turn ?? NoTurn() : turn
    }

    nonisolated(nonsending) func close() async {
        if fault != .neverCloses { await store.close() }
    }
}

private final class WrongLease: ScreenLease {
    let fault: WrongStore.Fault
    let lease: any ScreenLease

    init(_ fault: WrongStore.Fault, _ lease: any ScreenLease) {
        self.fault = fault
        self.lease = lease
    }

    var epoch: Epoch { lease.epoch }

    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState {
        var screen = screen
        if fault == .nothingIsCurrent { screen.current = nil }
        if fault == .screensOfferAll { screen.offer(["web", "terminal"], isBusy: false) }
        return wrong(await lease.announce(screen, wantsLead: wantsLead))
    }

    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
        wrong(await lease.state(after: seen))
    }

    private func wrong(_ state: LeaseState) -> LeaseState {
        guard fault == .everybodyLeads, let others = state.others else { return state }
        return .leading(others)
    }

    func release() { lease.release() }
}

private struct NoTurn: AlertLease {
    var descriptor: Int32? { nil }
    func end() {}
}
