import AlertCore
import Foundation
import Synchronization

/// A store that another process has opened, reached by lines of JSON.
///
/// Each commit is sent twice, as if its reply had been lost.
package final class PipedStore: AlertStore {
    fileprivate let process: StoreProcess
    private let number: Int
    private let lastPosition = Mutex(LogPosition(.start))
    private let isClosed = Mutex(false)
    private let ticking = Mutex<Task<Void, Never>?>(nil)

    package init(on process: StoreProcess, clock: any AlertClock) async throws(AlertError) {
        self.process = process
        number = process.add(clock)
        _ = try await call(.open, as: Nothing.self)
        let ticks = Task { [process, number] in
            while (try? await Task.sleep(for: .milliseconds(5))) != nil {
                process.sendClock(of: number)
            }
        }
        ticking.withLock { $0 = ticks }
    }

    deinit { ticking.withLock { $0 }?.cancel() }

    fileprivate func call<Value: Codable & Sendable>(
        _ call: StoreCall, as type: Value.Type
    ) async throws(AlertError) -> Value {
        guard let value = try await callForOptional(call, as: type) else {
            throw .storage(operation: "read a reply", "it has no value")
        }
        return value
    }

    private func callForOptional<Value: Codable & Sendable>(
        _ call: StoreCall, as type: Value.Type
    ) async throws(AlertError) -> Value? {
        guard !isClosed.withLock({ $0 }) else { throw .closed }
        let line = await withCheckedContinuation { continuation in
            process.call(call, of: number) { continuation.resume(returning: $0) }
        }
        let reply: StoreReply<Value>
        do {
            reply = try JSONDecoder().decode(StoreReply<Value>.self, from: line)
        } catch {
            throw .storage(
                operation: "read a reply", "\(error): \(String(decoding: line, as: UTF8.self))")
        }
        if let position = reply.position { lastPosition.withLock { $0 = position } }
        if let error = reply.error { throw error }
        return reply.value
    }

    package nonisolated(nonsending) func commit(
        _ changes: [Change], request: IdempotencyKey?, by caller: Caller, under epoch: Epoch?
    ) async throws(AlertError) -> [Result<Receipt, AlertError>] {
        let commit = StoreCall.commit(
            changes, request: request ?? IdempotencyKey(), by: caller, under: epoch)
        let first = try await call(commit, as: [ChangeResult].self).map(\.result)
        process.didCommit()
        // What had no effect is not remembered, and may have one when it is repeated.
        guard first.contains(where: { (try? $0.get())?.isNew == true }) else { return first }
        let again = try await call(commit, as: [ChangeResult].self).map(\.result)
        for (first, again) in zip(first, again) {
            guard case .success(let first) = first else { continue }
            let found = try again.get()
            guard found.record.id == first.record.id, found.isNew == first.isNew else {
                throw .inconsistent(first.record.id, "a repeated change gave \(found)")
            }
        }
        return first
    }

    package func post(_ entry: PostedEntry, by caller: Caller) {
        process.call(.post(entry, by: caller), of: number) { _ in }
    }

    package nonisolated(nonsending) func find(
        _ reference: AlertReference
    ) async throws(AlertError) -> Receipt {
        try await call(.find(reference), as: Receipt.self)
    }

    package nonisolated(nonsending) func next(
        _ query: ScreenQuery
    ) async throws(AlertError) -> Upcoming {
        try await call(.next(query), as: Upcoming.self)
    }

    package nonisolated(nonsending) func waiting(
        besides id: Alert.ID
    ) async throws(AlertError) -> WaitingAlerts {
        try await call(.waiting(besides: id), as: WaitingAlerts.self)
    }

    package nonisolated(nonsending) func pendingCount() async throws(AlertError) -> Int {
        try await call(.pendingCount, as: Int.self)
    }

    package nonisolated(nonsending) func page(
        _ query: RecordQuery
    ) async throws(AlertError) -> RecordPage {
        try await call(.page(query), as: RecordPage.self)
    }

    package nonisolated(nonsending) func statistics(
        _ query: StatisticsQuery, _ progress: @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AlertStatistics {
        guard !Task.isCancelled else { throw .cancelled("the count") }
        let statistics = try await call(.statistics(query), as: AlertStatistics.self)
        let asked = statistics.total.asked
        if asked > 0 { progress(asked, asked) }
        return statistics
    }

    package var position: LogPosition { lastPosition.withLock { $0 } }

    package nonisolated(nonsending) func entries(
        _ query: LogQuery
    ) async throws(AlertError) -> [AuditEntry] {
        try await call(.entries(query), as: [AuditEntry].self)
    }

    package nonisolated(nonsending) func news(
        after position: LogPosition, of scope: News.Scope
    ) async throws(AlertError) -> News {
        try await call(.news(after: position, of: scope), as: News.self)
    }

    package nonisolated(nonsending) func verify(
        expecting head: AuditHead?,
        _ progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) async throws(AlertError) -> AuditReport {
        guard !Task.isCancelled else { throw .cancelled("the verification") }
        let report = try await call(.verify(expecting: head), as: AuditReport.self)
        progress(Int(report.entries), Int(report.entries))
        return report
    }

    package nonisolated(nonsending) func attach(
        _ screen: AttachedScreen
    ) async throws(AlertError) -> any ScreenLease {
        PipedLease(try await attached(screen), of: screen, on: self)
    }

    fileprivate func attached(_ screen: AttachedScreen) async throws(AlertError) -> AttachedLease {
        try await call(.attach(screen), as: AttachedLease.self)
    }

    package nonisolated(nonsending) func screens() async -> ScreenRoster {
        (try? await call(.screens, as: ScreenRoster.self)) ?? ScreenRoster()
    }

    package nonisolated(nonsending) func claim(
        _ id: Alert.ID, for purpose: ClaimPurpose
    ) async throws(AlertError) -> (any Claim)? {
        try await callForOptional(.claim(id, for: purpose), as: Int.self)
            .map { PipedClaim(number: $0, store: self) }
    }

    fileprivate func send(_ call: StoreCall) { process.call(call, of: number) { _ in } }

    package nonisolated(nonsending) func close() async {
        _ = try? await call(.close, as: Nothing.self)
        isClosed.withLock { $0 = true }
        ticking.withLock { $0 }?.cancel()
        process.remove(number)
    }
}

/// A screen of a piped store, which is attached again when the server has been started again.
private final class PipedLease: ScreenLease {
    private let attached: Mutex<AttachedLease?>
    /// What was announced last.
    private let announced: Mutex<(screen: AttachedScreen, wantsLead: Bool)>
    private let store: PipedStore

    init(_ attached: AttachedLease, of screen: AttachedScreen, on store: PipedStore) {
        self.attached = Mutex(attached)
        announced = Mutex((screen, false))
        self.store = store
    }

    deinit { release() }

    var epoch: Epoch { attached.withLock { $0?.epoch } ?? Epoch(0) }

    nonisolated(nonsending) func announce(
        _ screen: AttachedScreen, wantsLead: Bool
    ) async -> LeaseState {
        announced.withLock { $0 = (screen, wantsLead) }
        for _ in 1...2 {
            guard let lease = attached.withLock({ $0 }) else { return .lost }
            do throws(AlertError) {
                return try await store.call(
                    .announce(lease: lease.number, screen, wantsLead: wantsLead),
                    as: LeaseState.self)
            } catch .detached {
                guard let again = try? await store.attached(screen) else { return .lost }
                attached.withLock { if $0 != nil { $0 = again } }
            } catch {
                return .lost
            }
        }
        return .lost
    }

    nonisolated(nonsending) func state(after seen: LeaseState) async -> LeaseState {
        let state = await state(seen)
        if state == .lost, seen == .lost { try? await Task.sleep(for: .seconds(1)) }
        return state
    }

    private nonisolated(nonsending) func state(_ seen: LeaseState) async -> LeaseState {
        guard let lease = attached.withLock({ $0 }) else { return .lost }
        do throws(AlertError) {
            return try await store.call(
                .leaseState(lease: lease.number, after: seen), as: LeaseState.self)
        } catch .detached where seen == .lost {
            let (screen, wantsLead) = announced.withLock { $0 }
            return await announce(screen, wantsLead: wantsLead)
        } catch {
            return .lost
        }
    }

    func release() {
        let lease = attached.withLock { attached in
            defer { attached = nil }
            return attached
        }
        if let lease { store.send(.release(lease: lease.number)) }
    }
}

private struct PipedClaim: Claim {
    let number: Int
    let store: PipedStore

    var descriptor: Int32? { nil }
    func end() { store.send(.endClaim(number)) }
}
