import AlertCore
import TextFormats

/// A write to a queue in memory: its time, its caller and its process, and the queue meanwhile.
final class InMemoryTransaction {
    private(set) var queue: InMemoryQueue
    /// The screens and leases, which don't change meanwhile.
    let screens: InMemoryScreens
    let now: ClockReading
    var due: ClockReading?
    private let caller: Caller
    /// The caller on whose behalf the process applies deadlines.
    private let keeper: Caller
    /// The number of the store, which represents a process.
    let process: Int

    init(
        of queue: InMemoryQueue, _ screens: InMemoryScreens, at now: ClockReading,
        by caller: Caller, keeper: Caller, process: Int
    ) {
        self.queue = queue
        self.screens = screens
        self.now = now
        self.caller = caller
        self.keeper = keeper
        self.process = process
    }

    /// Makes a change, or refuses it before anything of it is stored.
    func commit(
        _ change: Change, named name: RequestedChange?
    ) -> Result<Receipt, AlertError> {
        do {
            try now.checkYear(of: "clock")
            return try make(change, nil, named: name, by: caller, keeper: keeper)
        } catch {
            return .failure(
                error as? AlertError
                    ?? .storage(operation: change.operation, String(describing: error)))
        }
    }

    /// Refuses changes under an attachment that is over.
    func refuseIfOver(_ epoch: Epoch, _ names: [RequestedChange?]) throws(AlertError) {
        let isOver = !screens.isAttached(Int(clamping: epoch.number))
        do {
            try refuseIfOver(isOver, names)
        } catch {
            throw error as? AlertError ?? .detached
        }
    }

    /// Stores a posted entry, unless its alert does not exist.
    func post(_ entry: PostedEntry) {
        guard Timestamp.plain.contains(now.wallMilliseconds) else { return }
        if case .presented(let record) = entry, queue.alert(record.id) == nil { return }
        // Nobody waits for the result, so a failure is ignored.
        try? store(entry, at: now, by: caller)
    }

    /// Stores all expiries that are due, and ends the snoozes that are over.
    ///
    /// - Throws: ``AlertError/invalid(_:_:)`` if something is due at a time that the log can't hold.
    func applyDeadlines() throws(AlertError) {
        let overdue = queue.waiting.filter { $0.isOverdue(at: now) }.map(\.stored)
        if !overdue.isEmpty { try now.checkYear(of: "clock") }
        for alert in overdue.sorted(by: { order(of: $0) < order(of: $1) }) {
            _ = try? expire(alert, by: keeper)
        }
        queue.endSnoozes(at: now)
    }

    /// The order in which expiries are stored: those of this boot by its clock, then those of other
    /// boots, then those given as moments, both by the wall clock.
    private func order(of alert: StoredAlert) -> (Int, Int64, Alert.ID) {
        let id = alert.record.id
        guard let expiry = alert.expiry else { return (3, 0, id) }
        if expiry.isOnWallClock { return (2, expiry.wallMilliseconds, id) }
        return expiry.boot == now.boot
            ? (0, expiry.bootMilliseconds, id) : (1, expiry.wallMilliseconds, id)
    }
}

extension InMemoryTransaction: QueueTransaction {
    var head: AuditHead { queue.log.head }

    func alert(_ id: Alert.ID) -> StoredAlert? { queue.alert(id)?.stored }

    func alert(key: String, source: String, of principal: Principal) -> StoredAlert? {
        queue.alert(key: key, source: source, of: principal)?.stored
    }

    func keyDigest(of id: Alert.ID) throws(AlertError) -> KeyDigest {
        try KeyDigest(asked: queue.log.last(.asked, of: id), of: id)
    }

    func cancelRequest(of id: Alert.ID) -> CancelRequest? { queue.cancelRequest(of: id) }

    func hasStartedRun(_ id: Alert.ID) -> Bool { queue.log.last(.ran, of: id) != nil }

    /// It has no backups.
    func wasRestored(after sequence: Int64) -> Bool { false }

    func isAwaited(_ id: Alert.ID) -> Bool { screens.isAwaited(id) }

    func pendingCounts(
        of principal: Principal, source: String
    ) -> (source: Int, principal: Int) {
        (
            queue.pending[SourceName(principal, source), default: 0],
            queue.pending[SourceName(principal, ""), default: 0]
        )
    }

    func made(_ change: RequestedChange) -> MadeChange? { queue.made(change, at: now) }

    func remember(_ change: RequestedChange, _ made: MadeChange) {
        queue.remember(change, made, at: now)
    }

    func nextID() -> Alert.ID { Int64(queue.alerts.count) + 1 }

    func insert(_ question: PreparedQuestion, as id: Alert.ID, expiry: ClockReading?) {
        queue.add(question.stored(id, at: now, expiry: expiry))
    }

    func update(_ record: AlertRecord, _ update: AlertUpdate) { queue.update(record.id, update) }

    func append(_ draft: AuditDraft, by caller: Caller, concernsOthers: Bool) {
        let entry = draft.entry(after: head, at: now, by: caller)
        queue.log.append(entry, by: process, concernsOthers: concernsOthers)
        queue.noteClaim(in: entry)
    }
}
