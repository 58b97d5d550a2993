import AlertCore
import TextFormats

/// The contents of a queue in memory: a value without clocks, locks or waits, which is also the
/// model that other stores are compared with. ``InMemoryTransaction`` changes it.
struct InMemoryQueue {
    /// All alerts, from id 1.
    private(set) var alerts: [InMemoryAlert] = []
    /// The alerts that have a response, in the order in which the responses were stored.
    private(set) var resolved: [Alert.ID] = []
    var log = InMemoryLog()
    private(set) var turns = InMemoryTurns()
    /// How many snoozes have ended, which the log doesn't record.
    private(set) var awakened: UInt64 = 0
    /// The alerts that wait, in ascending order.
    private var waitingIDs: [Alert.ID] = []
    /// The alert that has each key: of several, the one that no other has replaced.
    private var keys: [KeyName: Alert.ID] = [:]
    /// How many alerts of each source wait; a principal is the source without a name.
    private(set) var pending: [SourceName: Int] = [:]

    /// The changes with names that have taken effect, and when.
    private var requests: [RequestedChange: (made: MadeChange, milliseconds: Int64)] = [:]

    func alert(_ id: Alert.ID) -> InMemoryAlert? {
        id > 0 && id <= alerts.count ? alerts[Int(id) - 1] : nil
    }

    func alert(key: String, source: String, of principal: Principal) -> InMemoryAlert? {
        let name = KeyName(SourceName(principal, source), key)
        return keys[name].flatMap(alert)
    }

    /// The alerts that wait, snoozed and overdue ones included, in ascending order.
    var waiting: [InMemoryAlert] { waitingIDs.compactMap(alert) }
}

// MARK: - Writing

extension InMemoryQueue {
    func made(_ change: RequestedChange, at now: ClockReading) -> MadeChange? {
        guard let (made, then) = requests[change],
            now.wallMilliseconds.subtractingBounded(then) <= RequestedChange.lifetime
        else { return nil }
        return made
    }

    mutating func remember(_ change: RequestedChange, _ made: MadeChange, at now: ClockReading) {
        requests[change] = (made, now.wallMilliseconds)
    }

    /// Adds a new alert, whose ask the next entry records.
    mutating func add(_ stored: StoredAlert) {
        let alert = InMemoryAlert(stored, entry: log.head.sequence + 1)
        alerts.append(alert)
        waitingIDs.append(alert.id)
        if let key = alert.alert.key { keys[KeyName(alert.sourceName, key)] = alert.id }
        changePending(of: alert, by: 1)
    }

    /// Stores what has happened to an alert that exists.
    mutating func update(_ id: Alert.ID, _ update: AlertUpdate) {
        guard var alert = alert(id) else { return }
        switch update {
        case .presented(let moment):
            alert.presentedMilliseconds = moment.wallMilliseconds
            turns.note(alert, entry: log.head.sequence)
        case .snoozed(let until, let isRequeued):
            alert.snoozes += 1
            alert.snoozedUntil = until
            if isRequeued { alert.queuedSequence = log.head.sequence }
        case .resolved(let response, let givenAt):
            alert.snoozedUntil = nil
            alert.response = response
            alert.givenAt = givenAt
            alert.resolvedSequence = log.head.sequence
            resolved.append(id)
            waitingIDs.remove(at: waitingIDs.partitionIndex { $0 >= id })
            changePending(of: alert, by: -1)
        case .superseded(let successor): alert.response?.supersededBy = successor
        case .collected(let moment, let isStale):
            let date = Timestamp.date(milliseconds: moment.wallMilliseconds)
            alert.response = alert.response?.collected(at: date)
            alert.response?.isStale = isStale
        }
        alerts[Int(id) - 1] = alert
    }

    /// Stores who deals with an alert, if an entry says that.
    mutating func noteClaim(in entry: AuditEntry) {
        guard let id = entry.event.alertID, entry.saysWhoDeals else { return }
        alerts[Int(id) - 1].claim = entry.claim
    }

    /// Ends the snoozes that are over.
    mutating func endSnoozes(at now: ClockReading) {
        for alert in waiting where alert.snoozedUntil.map(now.isAtOrAfter) ?? false {
            alerts[Int(alert.id) - 1].snoozedUntil = nil
            awakened += 1
        }
    }

    private mutating func changePending(of alert: InMemoryAlert, by difference: Int) {
        pending[alert.sourceName, default: 0] += difference
        pending[SourceName(alert.source.principal, ""), default: 0] += difference
    }
}

extension [Int64] {
    /// The index of the first element that is beyond a limit, in an array in ascending order.
    fileprivate func partitionIndex(where isBeyond: (Int64) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
