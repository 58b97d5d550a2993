import AlertQueueTesting
import Synchronization

@testable import AlertCore

/// A queue in memory, as seen by another process, whose calls a test can hold or refuse.
final class GatedStore: AlertStore {
    /// A place in a call that the gate controls.
    enum Place: Sendable, Equatable {
        /// An alert has been stored, and its asker does not know that yet.
        case asked(Alert.ID)
        /// An alert is about to get its response.
        case resolving(Alert.ID)
        /// A response is about to be collected.
        case collecting(Alert.ID)
        /// The next alert is about to be looked up.
        case looking
        /// The next alert, or a single one, has been looked up, but the caller does not know that
        /// yet.
        case found(Alert.ID?)
        /// A screen waits for changes by other screens.
        case watching
        /// An alert is about to be leased.
        case leasing(LeasePurpose)
        /// A screen is about to be attached.
        case attaching
        /// The news up to an entry of the log has been handled, and more is waited for.
        case listening(after: Int64)
    }

    typealias Gate = @Sendable (Place) async throws(AlertError) -> Void

    private let store: InMemoryStore
    private let state = Mutex<Gate>({ _ in })
    /// Why this store can't store expiries.
    let trouble = Mutex<AlertError?>(nil)
    /// The alerts whose deadlines have passed for this store.
    let isOverdue = Mutex<Set<Alert.ID>>([])

    init(_ queue: InMemoryStore) {
        store = queue.another(keeper: Caller(via: "library"))
    }

    /// Called in each gated call; the call throws its errors.
    var gate: Gate {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Opens the queue with a manager, whose clock may differ from the store's.
    func manager(
        _ presenters: [any AlertPresenter] = [], delegate: (any AlertManagerDelegate)? = nil,
        clock: (any AlertClock)? = nil, turn: PresentationTurn? = nil
    ) async throws -> AlertManager {
        try await AlertManager(
            store: self, path: "memory", source: "test", caller: Caller(via: "library"),
            presenters: presenters, delegate: delegate, clock: clock ?? store.clock, turn: turn)
    }
}

// MARK: - Calls with a gate

extension GatedStore {
    nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        for change in changes {
            switch change {
            case .resolve(let id, _, _): try await gate(.resolving(id))
            case .collect(let id, _): try await gate(.collecting(id))
            case .ask, .snooze, .claim, .release, .run, .requestCancel: break
            }
        }
        let results = try await store.commit(
            changes, request: request, by: caller, under: epoch)
        for case (.ask, .success(let receipt)) in zip(changes, results) {
            try await gate(.asked(receipt.record.id))
        }
        return results
    }

    nonisolated(nonsending) func next(_ query: ScreenQuery) async throws(AlertError) -> Upcoming {
        try await gate(.looking)
        let next = try await store.next(query)
        try await gate(.found(next.record?.id))
        return next
    }

    nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        var found = try await store.find(reference)
        if isOverdue.withLock({ $0.contains(found.record.id) }) {
            found.record.isStored = false
            found.timeLeft = .seconds(-5)
        }
        try await gate(.found(found.record.id))
        return found
    }

    nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease {
        try await gate(.attaching)
        return GatedLease(lease: try await store.attach(screen)) { [self] in
            try? await gate(.watching)
        }
    }

    nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)? {
        try await gate(.leasing(purpose))
        return try await store.lease(id, for: purpose)
    }

    nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        try await gate(.listening(after: position.head.sequence))
        var news = try await store.news(after: position, of: scope)
        news.cannotExpire = trouble.withLock { $0 }
        return news
    }
}

// MARK: - The other calls

extension GatedStore {
    func post(_ entry: PostedEntry, by caller: Caller) { store.post(entry, by: caller) }

    nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts {
        try await store.waiting(besides: id)
    }

    nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await store.pendingCount()
    }

    nonisolated(nonsending) func page(_ query: RecordQuery) async throws(AlertError) -> RecordPage {
        try await store.page(query)
    }

    nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (Int, Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        try await store.statistics(query, progress)
    }

    var position: LogPosition { store.position }

    nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try await store.entries(query)
    }

    nonisolated(nonsending) func verify(
        expecting head: AuditHead?, _ progress: @escaping @Sendable (Int, Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        try await store.verify(expecting: head, progress)
    }

    nonisolated(nonsending) func screens() async -> ScreenRoster {
        await store.screens()
    }

    nonisolated(nonsending) func close() async { await store.close() }
}
