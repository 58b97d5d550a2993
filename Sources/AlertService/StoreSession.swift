import AlertCore
import FoundationEssentials
import Synchronization

/// What one client does with the store of a service: its calls, and the screens and leases that end
/// with its connection.
final class StoreSession: Sendable {
    /// After this time without a sign of life of a client, its screen is considered absent, as one of
    /// a process that is stopped: the store knows only that the service lives.
    private static let patience = Duration.milliseconds(3500)

    /// How many of its own entries a session remembers: whoever never asks for news needs none.
    private static let ownLimit = 1000
    /// How many records or entries a page may have.
    private static let pageLimit = 10_000

    private struct HeldScreen {
        let lease: any ScreenLease
        /// The attachment that the client knows.
        let epoch: Epoch
        /// How many calls wait for its state.
        var waiting = 0
        var lastSign = ContinuousClock.now
    }

    private struct HeldLease {
        let lease: any AlertLease
        let epoch: Epoch?
        /// Called when it is over.
        var onEnd: [OneShot<Nothing>] = []

        func end() {
            lease.end()
            for waiting in onEnd { waiting.deliver(Nothing()) }
        }
    }

    private struct State {
        var lastNumber = 0
        var screens: [Int: HeldScreen] = [:]
        var leases: [Int: HeldLease] = [:]
        /// The entries of this client's own changes, and what it has posted: no news for it.
        var own: [AuditHead] = []
        var posted: [Posted] = []
        var isOver = false
    }

    private struct Posted: Equatable {
        let kind: AlertEvent.Kind
        let alert: Alert.ID
    }

    private let store: any AlertStore
    private let peer: Peer
    private let state = Mutex(State())

    init(_ store: any AlertStore, for peer: Peer) {
        self.store = store
        self.peer = peer
    }

    /// Releases the client's screens and leases.
    func end() {
        let (screens, leases) = state.withLock { state in
            defer { (state.screens, state.leases, state.isOver) = ([:], [:], true) }
            return (state.screens.values.map(\.lease), state.leases.values.map { $0 })
        }
        for screen in screens { screen.release() }
        for lease in leases { lease.end() }
    }

    /// Releases the screens of a client that has been silent for too long; it attaches them again.
    func releaseSilent() {
        let now = ContinuousClock.now
        let silent = state.withLock { state in
            let silent = state.screens.filter { _, lease in
                lease.waiting == 0 && lease.lastSign.duration(to: now) > Self.patience
            }
            for number in silent.keys { state.screens[number] = nil }
            return silent.values.map(\.lease)
        }
        for lease in silent { lease.release() }
    }

    // MARK: - Calls

    /// The reply to a call, as a line; `nil` if it failed because the client is gone, or the service
    /// ends: then the client asks the next one.
    func reply(to call: StoreCall, id: Int) async -> [UInt8]? {
        do throws(AlertError) {
            return try await run(call, id)
        } catch {
            return state.withLock { $0.isOver } ? nil : line(id, Nothing?.none, error)
        }
    }

    private func line<Value: Codable & Sendable>(
        _ id: Int, _ value: Value?, _ error: AlertError? = nil
    ) -> [UInt8] {
        ServiceReply(id: id, position: store.position, value: value, error: error).line
    }

    private func run(_ call: StoreCall, _ id: Int) async throws(AlertError) -> [UInt8] {
        switch call {
        case .commit(let changes, let request, let caller, let epoch):
            return line(id, try await commit(changes, request, by: caller, under: epoch))
        case .post(let entry, let caller):
            try await post(entry, by: peer.stamp(caller))
            return line(id, Nothing())
        case .find(let reference): return line(id, try await store.find(reference))
        case .next(let query): return line(id, try await store.next(query))
        case .waiting(let alert): return line(id, try await store.waiting(besides: alert))
        case .pendingCount: return line(id, try await store.pendingCount())
        case .page(var query):
            query.limit = Self.limit(query.limit)
            return line(id, try await store.page(query))
        case .statistics(let query):
            return line(id, try await store.statistics(query) { _, _ in })
        case .entries(var query):
            query.limit = Self.limit(query.limit)
            return line(id, try await store.entries(query))
        case .news(let position, let scope):
            return line(id, try await news(after: position, of: scope))
        case .verify(let head): return line(id, try await store.verify(expecting: head))
        case .attach(let screen): return line(id, try await attach(screen))
        case .announce(let number, let screen, let wantsLead):
            let lease = try lease(number)
            let state = await lease.announce(peer.stamp(screen), wantsLead: wantsLead)
            return line(id, checked(state, of: number))
        case .leaseState(let number, let seen):
            let lease = try lease(number, waiting: 1)
            defer { _ = try? self.lease(number, waiting: -1) }
            return line(id, checked(await lease.state(after: seen), of: number))
        case .release(let number):
            state.withLock { $0.screens.removeValue(forKey: number) }?.lease.release()
            return line(id, Nothing())
        case .screens: return line(id, await store.screens())
        case .lease(let alert, let purpose):
            return line(id, try await lease(alert, for: purpose))
        case .waitForLeaseEnd(let number):
            await waitForLeaseEnd(number)
            return line(id, Nothing())
        case .endLease(let number):
            state.withLock { $0.leases.removeValue(forKey: number) }?.end()
            return line(id, Nothing())
        case .flush:
            _ = try await store.commit([], by: Caller(via: "serve"))
            return line(id, Nothing())
        }
    }

    /// The page limit of a client, within what is allowed.
    private static func limit(_ limit: Int) -> Int { min(max(limit, 1), pageLimit) }

    // MARK: - Changes

    private func commit(
        _ changes: [Change], _ request: IdempotencyKey, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [ChangeResult] {
        let changes = try changes.map { change throws(AlertError) in
            guard case .ask(var question) = change else { return change }
            // A client has checked this; one that has not is none of ours.
            try Text.check(question.source, "source", limit: Alert.Limit.name)
            if !peer.actsForOthers { try question.alert.validate() }
            // A client may lower these limits, never raise them.
            question.pendingLimit = min(question.pendingLimit, Alert.Limit.pendingPerSource)
            question.principalLimit = min(
                question.principalLimit, Alert.Limit.pendingPerPrincipal)
            return .ask(question)
        }
        // The epoch that the client knows is its session's: the store's lease may have none.
        let lease = epoch.flatMap { epoch in
            state.withLock { $0.leases.values.first { $0.epoch == epoch } }
        }
        let results = try await store.commit(
            changes, request: request, by: peer.stamp(caller),
            under: lease == nil ? epoch : lease?.lease.epoch)
        let heads = results.compactMap { result in
            (try? result.get()).flatMap { $0.isNew ? $0.head : nil }
        }
        state.withLock { state in
            state.own = (state.own + heads).suffix(Self.ownLimit)
        }
        return results.map(ChangeResult.init)
    }

    /// Posts an entry about an alert as the store has it: what a client says of the alert is not
    /// logged.
    private func post(_ entry: PostedEntry, by caller: Caller) async throws(AlertError) {
        let posted: Posted
        switch entry {
        case .presented(let record):
            store.post(.presented(try await known(record)), by: caller)
            posted = Posted(kind: .presented, alert: record.id)
        case .returned(let record, let why):
            store.post(.returned(try await known(record), because: why), by: caller)
            posted = Posted(kind: .returned, alert: record.id)
        case .collected(let id):
            store.post(entry, by: caller)
            posted = Posted(kind: .collected, alert: id)
        }
        state.withLock { $0.posted = ($0.posted + [posted]).suffix(Self.ownLimit) }
    }

    private func known(_ record: AlertRecord) async throws(AlertError) -> AlertRecord {
        peer.actsForOthers ? record : try await store.record(record.id)
    }

    // MARK: - News

    private func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        var news = try await store.news(after: position, of: scope)
        guard case .others = scope else { return news }
        state.withLock { state in
            news.events.removeAll { event in
                if state.own.contains(event.cursor) { return true }
                guard let alert = event.alertID,
                    let index = state.posted.firstIndex(
                        of: Posted(kind: event.kind, alert: alert))
                else { return false }
                state.posted.remove(at: index)
                return true
            }
            // Those that came before will not be read again.
            state.own.removeAll { $0.sequence <= news.position.head.sequence }
        }
        return news
    }

    // MARK: - Screens and leases

    /// Keeps something that ends with the connection, under a new number; `nil` if that has ended.
    private func keep(_ body: (inout State, _ number: Int) -> Void) -> Int? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            state.lastNumber += 1
            body(&state, state.lastNumber)
            return state.lastNumber
        }
    }

    private func attach(_ screen: AttachedScreen) async throws(AlertError) -> AttachedLease {
        let lease = try await store.attach(peer.stamp(screen))
        let epoch = lease.epoch
        let number = keep { $0.screens[$1] = HeldScreen(lease: lease, epoch: epoch) }
        guard let number else {
            lease.release()
            throw .detached
        }
        return AttachedLease(number: number, epoch: epoch)
    }

    /// A state as the client may have it: a screen that the store has lost, or attached again by
    /// itself, is attached again by the client, who knows the attachment then.
    private func checked(_ found: LeaseState, of number: Int) -> LeaseState {
        let lost = state.withLock { state -> HeldScreen? in
            guard let lease = state.screens[number] else { return nil }
            guard found == .lost || lease.lease.epoch != lease.epoch else { return nil }
            return state.screens.removeValue(forKey: number)
        }
        lost?.lease.release()
        return lost == nil ? found : .lost
    }

    /// A screen of the client, which gives a sign of life by that.
    ///
    /// - Parameter waiting: How many calls more wait for its state.
    private func lease(
        _ number: Int, waiting: Int = 0
    ) throws(AlertError) -> any ScreenLease {
        let lease = state.withLock { state in
            state.screens[number]?.waiting += waiting
            state.screens[number]?.lastSign = .now
            return state.screens[number]?.lease
        }
        guard let lease else { throw .detached }
        return lease
    }

    private func lease(
        _ alert: Alert.ID, for purpose: LeasePurpose
    ) async throws(AlertError) -> GrantedLease? {
        guard let lease = try await store.lease(alert, for: purpose) else { return nil }
        // Here a lease can be lost while its process lives: with the connection.
        let epoch = lease.epoch ?? (purpose == .handling ? Epoch() : nil)
        let number = keep { $0.leases[$1] = HeldLease(lease: lease, epoch: epoch) }
        guard let number else {
            lease.end()
            throw .detached
        }
        lease.whenLost { [weak self] in
            self?.state.withLock { $0.leases.removeValue(forKey: number) }?.end()
        }
        return GrantedLease(number: number, epoch: epoch)
    }

    /// Waits until a lease is over.
    private func waitForLeaseEnd(_ number: Int) async {
        let end = OneShot<Nothing>()
        let isHeld = state.withLock { state in
            state.leases[number]?.onEnd.append(end)
            return state.leases[number] != nil
        }
        if isHeld { _ = await end.value() }
    }
}

extension ServiceReply {
    /// The line, with its end.
    var line: [UInt8] {
        do {
            var line = try JSONEncoder().encode(self)
            line.append(UInt8(ascii: "\n"))
            return Array(line)
        } catch {
            let error = AlertError.storage(operation: "write a reply as JSON", "\(error)")
            return ServiceReply<Nothing>(id: id, value: nil, error: error).line
        }
    }
}
