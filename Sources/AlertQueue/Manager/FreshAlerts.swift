import Synchronization

/// What this manager has asked since its presentation loop last looked into the database.
///
/// An idle loop that gets its alert from here saves a look into the database, which would take
/// longer than the commit. Until it has looked, the manager is kept, even if nobody refers to it
/// any more.
final class FreshAlerts: Sendable {
    private struct State {
        var alerts: [Enqueued] = []
        /// Whether there was more than is kept, or something that has to be looked up.
        var isIncomplete = false
        /// The names of the manager's presenters; `nil` while it does not present.
        var presenters: Set<String>?
        /// The manager, while its presentation loop has something to look at.
        var owner: AlertManager?
    }

    /// More than one means that the order has to be looked up anyway.
    private static let limit = 2
    private let state = Mutex(State())
    /// Tells the presentation loop to look again.
    private let pokes: ChangeSignal

    init(pokes: ChangeSignal) {
        self.pokes = pokes
    }

    /// Adds an alert that was just stored, and tells the loop; `nil` stands for one that has to be
    /// looked up.
    func put(_ alert: Enqueued?, of owner: AlertManager) {
        state.withLock { state in
            if let alert, state.alerts.count < Self.limit {
                state.alerts.append(alert)
            } else {
                state.isIncomplete = true
            }
            if state.presenters != nil { state.owner = owner }
            pokes.change()
        }
    }

    /// Takes out an alert that has its response.
    func remove(_ id: Alert.ID) {
        state.withLock { $0.alerts.removeAll { $0.record.id == id } }
    }

    /// Takes what was asked after an entry of the audit log; `nil` if that is not everything.
    func take(after sequence: Int64) -> [Enqueued]? {
        state.withLock { state in
            defer { (state.alerts, state.isIncomplete) = ([], false) }
            return state.isIncomplete ? nil : state.alerts.filter { $0.sequence > sequence }
        }
    }

    /// Forgets what a look into the database has seen by itself.
    func removeAll(upTo sequence: Int64) {
        state.withLock { $0.alerts.removeAll { $0.sequence <= sequence } }
    }
}

// MARK: - The presentation loop

extension FreshAlerts {
    /// Notes that a loop begins, and has yet to look.
    func beginPresenting(on presenters: [String], for owner: AlertManager) {
        state.withLock { state in
            state.presenters = Set(presenters)
            state.owner = owner
        }
    }

    func endPresenting() {
        state.withLock { state in
            state.presenters = nil
            state.owner = nil
        }
    }

    /// Lets go of the manager, if nothing has come since the loop counted the changes and looked.
    func releaseOwner(ifUnchangedSince seen: UInt64) {
        state.withLock { state in
            if pokes.count == seen { state.owner = nil }
        }
    }

    /// Whether one of the manager's own presenters may show an alert; `nil` stands for all of them.
    func mayBeShown(on wanted: [String]?) -> Bool {
        state.withLock { state in
            guard let presenters = state.presenters else { return false }
            return wanted.map { !presenters.isDisjoint(with: $0) } ?? true
        }
    }
}
