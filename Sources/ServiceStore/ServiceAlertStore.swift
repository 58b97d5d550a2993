import AlertCore
import FoundationEssentials
import Synchronization

/// The queue of a service, over a connection that is made again whenever it breaks.
///
/// What the service promises is that of its own store; what is added here is that a lost connection
/// loses no change, and that what belonged to it (screens, leases) is known as lost.
package final class ServiceAlertStore: AlertStore {
    /// How long calls wait for a service that is away, if something else is done then.
    private static let shortPatience = Duration.seconds(1)

    fileprivate let connection: ServiceConnection
    private let leases: ServiceAlertLeases
    private let refusal: AlertError?
    private let lastPosition = Mutex(LogPosition(.start))
    /// On whose behalf the service carries out what is asked for here.
    package let principal: Principal
    /// The queue, as the service knows it.
    package let place: String

    private init(
        _ connection: ServiceConnection, _ leases: ServiceAlertLeases,
        _ greeting: ServiceConnection.Greeting, isReadOnly: Bool
    ) {
        self.connection = connection
        self.leases = leases
        (principal, place) = (greeting.opened.principal, greeting.opened.place)
        refusal = isReadOnly ? .openedForReading(place) : nil
        if let position = greeting.position { note(position) }
    }

    /// Connects to a service.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether nothing is written through this store.
    ///   - patience: How long a service that is away is waited for, now and by each call later.
    ///   - onAway: Called once if it is away for a second now.
    /// - Throws: ``AlertError/unreachable(_:)``, ``AlertError/notPermitted(path:_:)``, and
    ///   ``AlertError/incompatible(path:_:)`` for a service of another version.
    package static func open(
        _ location: ServiceLocation, isReadOnly: Bool,
        patience: Duration = ServiceConnection.patience,
        onAway: @escaping @Sendable (AlertError) -> Void = { _ in }
    ) async throws(AlertError) -> ServiceAlertStore {
        let leases = ServiceAlertLeases()
        let connection = ServiceConnection(
            to: location, saying: Opening(database: location.database, isReadOnly: isReadOnly),
            patience: patience, onAway: onAway
        ) { leases.loseAll() }
        do throws(AlertError) {
            return ServiceAlertStore(
                connection, leases, try await connection.open(), isReadOnly: isReadOnly)
        } catch {
            connection.close()
            throw error
        }
    }

    deinit { end() }

    /// Ends the connection at once.
    func end() { connection.close() }

    // MARK: - Calls

    fileprivate nonisolated(nonsending) func reply<Value: Codable & Sendable>(
        to call: StoreCall, on link: Int? = nil, within patience: Duration? = nil,
        as type: Value.Type
    ) async throws(AlertError) -> (value: Value?, link: Int) {
        let reply = try await connection.reply(to: call, on: link, within: patience)
        let (value, position) = try reply.value(type)
        if let position { note(position) }
        return (value, reply.link)
    }

    fileprivate nonisolated(nonsending) func value<Value: Codable & Sendable>(
        of call: StoreCall, on link: Int? = nil, within patience: Duration? = nil,
        as type: Value.Type
    ) async throws(AlertError) -> Value {
        let reply = try await reply(to: call, on: link, within: patience, as: type)
        guard let value = reply.value else {
            throw .storage(operation: "read a reply of the service", "it has no value")
        }
        return value
    }

    /// Replies come in any order.
    private func note(_ position: LogPosition) {
        lastPosition.withLock { last in
            if position.head.sequence >= last.head.sequence { last = position }
        }
    }

    // MARK: - The seam

    package var actingPrincipal: Principal? { principal }

    package var actingProcess: ProcessIdentity? { connection.opened?.process }

    package nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        if let refusal { throw refusal }
        guard !changes.isEmpty else {
            _ = try await value(of: .flush, as: Nothing.self)
            return []
        }
        let call = StoreCall.commit(
            changes, request: request ?? IdempotencyKey(), by: caller, under: epoch)
        return try await value(of: call, as: [ChangeResult].self).map(\.result)
    }

    package func post(_ entry: PostedEntry, by caller: Caller) {
        guard refusal == nil else { return }
        connection.call(.post(entry, by: caller)) { _ in }
    }

    package nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        try await value(of: .find(reference), as: Receipt.self)
    }

    package nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming {
        try await value(of: .next(query), as: Upcoming.self)
    }

    package nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts {
        try await value(of: .waiting(besides: id), as: WaitingAlerts.self)
    }

    package nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await value(of: .pendingCount, as: Int.self)
    }

    package nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        try await value(of: .page(query), as: RecordPage.self)
    }

    package nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        let statistics = try await value(of: .statistics(query), as: AlertStatistics.self)
        let asked = statistics.total.asked
        if asked > 0 { progress(asked, asked) }
        return statistics
    }

    package var position: LogPosition { lastPosition.withLock { $0 } }

    package nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try await value(of: .entries(query), as: [AuditEntry].self)
    }

    package nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        do throws(AlertError) {
            return try await value(
                of: .news(after: position, of: scope), within: Self.shortPatience, as: News.self)
        } catch .cancelled {
            return News(events: [], position: position, hasChanged: false)
        }
    }

    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        let report = try await value(of: .verify(expecting: head), as: AuditReport.self)
        progress(Int(report.entries), Int(report.entries))
        return report
    }

    package nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease {
        if let refusal { throw refusal }
        return ServiceScreenLease(try await attached(screen), of: screen, on: self)
    }

    fileprivate nonisolated(nonsending) func attached(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> ServiceScreenLease.Attached {
        let (lease, link) = try await reply(
            to: .attach(screen), within: Self.shortPatience, as: AttachedLease.self)
        guard let lease else { throw .detached }
        return ServiceScreenLease.Attached(lease: lease, link: link)
    }

    package nonisolated(nonsending) func screens() async -> ScreenRoster {
        let screens = try? await value(
            of: .screens, within: Self.shortPatience, as: ScreenRoster.self)
        return screens ?? ScreenRoster()
    }

    package nonisolated(nonsending) func lease(
        _ id: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> (any AlertLease)? {
        if let refusal { throw refusal }
        let (granted, link) = try await reply(
            to: .lease(id, for: purpose), as: GrantedLease.self)
        return granted.map { leases.add($0, on: link, of: connection) }
    }

    package nonisolated(nonsending) func close() async {
        if refusal == nil {
            _ = try? await value(of: .flush, within: Self.shortPatience, as: Nothing.self)
        }
        connection.close()
    }
}

extension ServiceAlertStore: LockWaiting {
    package var lockHolder: LockHolder? { nil }

    package func prepareToEnd() { connection.stopWaiting() }
}

extension ServiceConnection {
    /// Makes a call, and returns its reply.
    fileprivate nonisolated(nonsending) func reply(
        to call: StoreCall, on link: Int?, within patience: Duration?
    ) async throws(AlertError) -> Reply {
        let id = Mutex(Int?.none)
        let operation = call.cancellable
        let cancelIfStarted = { @Sendable [self] in
            if let operation, let number = id.withLock({ $0 }) { cancel(number, operation) }
        }
        return try await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let number = self.call(call, on: link, patience: patience) {
                    continuation.resume(returning: $0)
                }
                id.withLock { $0 = number }
                if Task.isCancelled { cancelIfStarted() }
            }
        } onCancel: {
            cancelIfStarted()
        }.get()
    }
}

extension StoreCall {
    /// What is given up when its task is cancelled; `nil` for what is not.
    fileprivate var cancellable: String? {
        switch self {
        case .statistics: "the count"
        case .verify: "the verification"
        case .news, .leaseState: "the wait"
        default: nil
        }
    }
}

/// A screen on a service, which is attached again when the connection or the service was lost.
private final class ServiceScreenLease: ScreenLease {
    struct Attached: Sendable {
        let lease: AttachedLease
        /// The connection to which it belongs.
        let link: Int

        func isSame(as other: Attached) -> Bool {
            lease.number == other.lease.number && link == other.link
        }
    }

    private struct State {
        /// `nil` once it is released.
        var attached: Attached?
        /// What was announced last.
        var screen: AttachedScreen
        var wantsLead = false
    }

    private let state: Mutex<State>
    private let store: ServiceAlertStore

    init(_ attached: Attached, of screen: AttachedScreen, on store: ServiceAlertStore) {
        state = Mutex(State(attached: attached, screen: screen))
        self.store = store
    }

    deinit { release() }

    var epoch: Epoch { state.withLock { $0.attached?.lease.epoch } ?? Epoch(0) }

    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState {
        state.withLock { ($0.screen, $0.wantsLead) = (screen, wantsLead) }
        return await announce()
    }

    private nonisolated(nonsending) func announce() async -> LeaseState {
        // Once more if it has to be attached again first.
        for _ in 1...2 {
            let (attached, screen, wantsLead) = state.withLock {
                ($0.attached, $0.screen, $0.wantsLead)
            }
            guard let attached else { return .lost }
            do throws(AlertError) {
                return try await store.value(
                    of: .announce(lease: attached.lease.number, screen, wantsLead: wantsLead),
                    on: attached.link, as: LeaseState.self)
            } catch .detached {
                guard await attachAgain(after: attached, screen) else { return .lost }
            } catch {
                return .lost
            }
        }
        return .lost
    }

    /// Attaches it again, unless another call has done so; returns whether it is attached.
    private nonisolated(nonsending) func attachAgain(
        after lost: Attached, _ screen: AttachedScreen
    ) async -> Bool {
        let isLost = state.withLock { $0.attached.map { $0.isSame(as: lost) } }
        guard isLost == true else { return isLost == false }
        guard let again = try? await store.attached(screen) else { return false }
        let (isTaken, isReleased) = state.withLock { state in
            guard let attached = state.attached else { return (false, true) }
            guard attached.isSame(as: lost) else { return (false, false) }
            state.attached = again
            return (true, false)
        }
        if !isTaken { release(again) }
        return !isReleased
    }

    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
        let state = await current(after: seen)
        if state == .lost, seen == .lost { try? await Task.sleep(for: .seconds(1)) }
        return state
    }

    private nonisolated(nonsending) func current(after seen: LeaseState) async -> LeaseState {
        guard let attached = state.withLock({ $0.attached }) else { return .lost }
        do throws(AlertError) {
            return try await store.value(
                of: .leaseState(lease: attached.lease.number, after: seen), on: attached.link,
                as: LeaseState.self)
        } catch .detached where seen == .lost {
            return await announce()
        } catch {
            return .lost
        }
    }

    func release() {
        let attached = state.withLock { state in
            defer { state.attached = nil }
            return state.attached
        }
        if let attached { release(attached) }
    }

    private func release(_ attached: Attached) {
        store.connection.call(.release(lease: attached.lease.number), on: attached.link) { _ in }
    }
}
