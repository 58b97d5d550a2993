import Synchronization

/// The calls in one manager that wait for responses, and the deadlines of their alerts.
///
/// Calls begin and end to wait on their own threads: from the manager's queue each would need a
/// thread to come back on.
actor WaitingAskers: QueueActor {
    /// How long a disk may fail before the calls that wait for an expiry get the error.
    private static let patience = Duration.seconds(5)

    /// The response that a call waits for.
    typealias Wait = OneShot<Result<AlertRecord, any Error>>

    private struct State {
        var waits: [Alert.ID: [Wait]] = [:]
        var isClosed = false
    }

    nonisolated let context: QueueContext
    private nonisolated let state = Mutex(State())
    private let alarm: Alarm
    private weak var manager: AlertManager?
    private var deadlines: [Alert.ID: ClockReading] = [:]
    /// The alerts whose expiries are being stored.
    private var expiring: Set<Alert.ID> = []
    /// When storing expiries began to fail.
    private var failingSince: ContinuousClock.Instant?
    /// How many resolutions the manager has seen.
    private nonisolated let resolutions = Atomic<UInt64>(0)

    init(_ context: QueueContext) {
        self.context = context
        alarm = Alarm(clock: context.clock)
    }

    func belong(to manager: AlertManager) { self.manager = manager }

    /// Whether no call waits.
    nonisolated var isEmpty: Bool { state.withLock { $0.waits.isEmpty } }

    /// How many calls wait for an alert.
    nonisolated func count(for id: Alert.ID) -> Int {
        state.withLock { $0.waits[id]?.count ?? 0 }
    }

    nonisolated var resolutionsSeen: UInt64 { resolutions.load(ordering: .acquiring) }

    /// Counts a resolution, even if no call waits for it: one may be about to.
    nonisolated func sawResolution() { resolutions.add(1, ordering: .releasing) }

    /// Whether the response may have come before anybody here waited for it.
    nonisolated func mayHaveMissed(_ asking: Asking) -> Bool {
        resolutionsSeen != asking.resolutionsBefore
    }

    /// Adds a call that waits for the response to an alert.
    ///
    /// It gets ``AlertError/closed``, or the reason, if the response is unavailable.
    nonisolated func add(_ wait: Wait, for id: Alert.ID) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.waits[id, default: []].append(wait) }
            return state.isClosed
        }
        if isClosed { wait.deliver(.failure(AlertError.closed)) }
    }

    /// Removes a call that no longer waits.
    nonisolated func remove(_ wait: Wait, for id: Alert.ID) {
        state.withLock { state in
            state.waits[id]?.removeAll { $0 === wait }
            if state.waits[id]?.isEmpty == true { state.waits[id] = nil }
        }
    }

    /// Delivers a response to the calls that wait for it.
    func settle(_ record: AlertRecord) {
        sawResolution()
        for wait in removeAll(for: record.id) { wait.deliver(.success(record)) }
    }

    /// Ends all waits for an alert.
    func fail(_ id: Alert.ID, with error: AlertError) {
        for wait in removeAll(for: id) { wait.deliver(.failure(error)) }
    }

    /// Ends all waits.
    func failAll(with error: AlertError) {
        for id in state.withLock({ Array($0.waits.keys) }) { fail(id, with: error) }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        alarm.cancel()
        failAll(with: .closed)
    }

    private func removeAll(for id: Alert.ID) -> [Wait] {
        deadlines[id] = nil
        return state.withLock { $0.waits.removeValue(forKey: id) } ?? []
    }
}

// MARK: - Deadlines

extension WaitingAskers {
    /// Applies a deadline for as long as calls wait for the alert.
    func keepDeadline(_ deadline: ClockReading, of id: Alert.ID) {
        deadlines[id] = deadline
        alarm.set(at: deadline) { [weak self] in await self?.expireOverdue() }
    }

    /// Stores the expiries that calls here wait for, each as an answer, which may use the space
    /// that is reserved for a full disk.
    ///
    /// It is also called each second, because the wall clock may have been set.
    func expireOverdue() async {
        let now = context.clock.now()
        deadlines = deadlines.filter { count(for: $0.key) > 0 }
        let overdue = deadlines.filter { now.isAtOrAfter($0.value) && !expiring.contains($0.key) }
            .keys.sorted()
        if let next = now.earliest(of: deadlines.values.filter { !now.isAtOrAfter($0) }) {
            alarm.set(at: next) { [weak self] in await self?.expireOverdue() }
        }
        guard !overdue.isEmpty else { return }
        expiring.formUnion(overdue)
        defer { expiring.subtract(overdue) }
        // Concurrently, so that they share transactions.
        let results = await withTaskGroup {
            [store = context.store, caller = context.caller] group in
            for id in overdue {
                group.addTask { () -> (Alert.ID, Result<AlertRecord, AlertError>) in
                    do throws(AlertError) {
                        return (id, .success(try await store.expire(id, by: caller)))
                    } catch {
                        return (id, .failure(error))
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var hasFailed = false
        for (id, result) in results {
            switch result {
            case .success(let record):
                if record.response != nil { await manager?.noteResolved(record) }
            case .failure(.inconsistent(let subject, let reason)):
                await manager?.refuse(id, .inconsistent(subject, reason))
            case .failure(let error):
                hasFailed = true
                giveUpWaiting(for: id, because: error)
            }
        }
        if !hasFailed { failingSince = nil }
    }

    /// Fails the calls that wait for an alert whose expiry can't be stored: they must not wait
    /// forever, nor treat it as expired.
    private func giveUpWaiting(for id: Alert.ID, because error: AlertError) {
        let since = failingSince ?? .now
        failingSince = since
        // The wait for a lock is already over.
        if case .storage = error, since.duration(to: .now) < Self.patience { return }
        if case .closed = error { return }
        fail(id, with: error)
    }
}
