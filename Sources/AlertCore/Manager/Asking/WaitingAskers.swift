import Synchronization

/// The calls in one manager that wait for responses, and the deadlines of their alerts.
actor WaitingAskers: QueueActor {
    /// How long a disk may fail before the calls that wait for an expiry get the error.
    private static let patience = Duration.seconds(5)

    private typealias Waiter = CheckedContinuation<AlertRecord, any Error>

    nonisolated let context: QueueContext
    private let alarm: Alarm
    private weak var manager: AlertManager?
    private var waiters: [Alert.ID: [UInt64: Waiter]] = [:]
    private var lastNumber: UInt64 = 0
    private var deadlines: [Alert.ID: ClockReading] = [:]
    /// The alerts whose expiries are being stored.
    private var expiring: Set<Alert.ID> = []
    /// When storing expiries began to fail.
    private var failingSince: ContinuousClock.Instant?
    private var isClosed = false
    /// How many resolutions the manager has seen.
    private nonisolated let resolutions = Atomic<UInt64>(0)
    /// How many calls listen to the log, and are about to wait.
    private nonisolated let coming = Atomic<Int>(0)

    init(_ context: QueueContext) {
        self.context = context
        alarm = Alarm(clock: context.clock)
    }

    func belong(to manager: AlertManager) { self.manager = manager }

    /// Whether no call waits or is about to.
    var isEmpty: Bool { waiters.isEmpty && coming.load(ordering: .acquiring) == 0 }

    /// How many calls wait for an alert.
    func count(for id: Alert.ID) -> Int { waiters[id]?.count ?? 0 }

    nonisolated var resolutionsSeen: UInt64 { resolutions.load(ordering: .acquiring) }

    /// Counts a resolution, even if no call waits for it: one may be about to.
    nonisolated func sawResolution() { resolutions.add(1, ordering: .releasing) }

    /// Whether the response may have come before anybody here waited for it.
    nonisolated func mayHaveMissed(_ asking: Asking) -> Bool {
        resolutionsSeen != asking.resolutionsBefore
    }

    /// Announces that a call is about to wait, before it listens to the log.
    ///
    /// The manager may do other things between these steps: a task that prefers an executor
    /// (SE-0417) leaves the manager's queue whenever it passes from one actor to another. Without
    /// the announcement, the listener could find then that nothing depends on the log, and stop.
    nonisolated func willWait() { coming.add(1, ordering: .acquiringAndReleasing) }

    /// Waits for the response to what was asked; ``willWait()`` comes first.
    ///
    /// - Throws: `CancellationError` when the task is cancelled, ``AlertError/closed``, and the
    ///   reason if the response is unavailable.
    func response(to asking: Asking) async throws -> AlertRecord {
        let id = asking.receipt.record.id
        lastNumber += 1
        let number = lastNumber
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                coming.subtract(1, ordering: .acquiringAndReleasing)
                if isClosed {
                    continuation.resume(throwing: AlertError.closed)
                } else if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    waiters[id, default: [:]][number] = continuation
                    if let expiry = asking.receipt.expiry { keepDeadline(expiry, of: id) }
                    if mayHaveMissed(asking) { Task { await manager?.lookAgain(at: id) } }
                }
            }
        } onCancel: {
            Task { await self.stopWaiting(number, for: id) }
        }
    }

    /// Delivers a response to the calls that wait for it.
    func settle(_ record: AlertRecord) {
        sawResolution()
        for waiter in remove(record.id) { waiter.resume(returning: record) }
    }

    /// Ends all waits for an alert.
    func fail(_ id: Alert.ID, with error: AlertError) {
        for waiter in remove(id) { waiter.resume(throwing: error) }
    }

    /// Ends all waits.
    func failAll(with error: AlertError) {
        for id in Array(waiters.keys) { fail(id, with: error) }
    }

    func close() {
        isClosed = true
        alarm.cancel()
        failAll(with: .closed)
    }

    private func remove(_ id: Alert.ID) -> [Waiter] {
        deadlines[id] = nil
        return waiters.removeValue(forKey: id).map { Array($0.values) } ?? []
    }

    private func stopWaiting(_ number: UInt64, for id: Alert.ID) {
        let waiter = waiters[id]?.removeValue(forKey: number)
        if waiters[id]?.isEmpty == true { _ = remove(id) }
        waiter?.resume(throwing: CancellationError())
    }
}

// MARK: - Deadlines

extension WaitingAskers {
    private func keepDeadline(_ deadline: ClockReading, of id: Alert.ID) {
        deadlines[id] = deadline
        alarm.set(at: deadline) { [weak self] in await self?.expireOverdue() }
    }

    /// Stores the expiries that calls here wait for, each as an answer, which may use the space
    /// that is reserved for a full disk.
    ///
    /// It is also called each second, because the wall clock may have been set.
    func expireOverdue() async {
        let now = context.clock.now()
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
