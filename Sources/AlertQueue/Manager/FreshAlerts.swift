import Synchronization

/// What this manager has asked since its presentation loop last looked into the database.
///
/// An idle loop that gets its alert from here saves a look into the database, which would take
/// longer than the commit.
final class FreshAlerts: Sendable {
    private struct State {
        var alerts: [Enqueued] = []
        /// Whether there was more than is kept, or something that has to be looked up.
        var isIncomplete = false
    }

    /// More than one means that the order has to be looked up anyway.
    private static let limit = 2
    private let state = Mutex(State())

    /// Adds an alert that was just stored; `nil` stands for one that has to be looked up.
    func put(_ alert: Enqueued?) {
        state.withLock { state in
            guard let alert, state.alerts.count < Self.limit else {
                state.isIncomplete = true
                return
            }
            state.alerts.append(alert)
        }
    }

    /// Takes out an alert that has its response.
    func remove(_ id: Alert.ID) {
        state.withLock { $0.alerts.removeAll { $0.record.id == id } }
    }

    /// Takes what was asked after an entry of the audit log; `nil` if that is not everything.
    func take(after sequence: Int64) -> [Enqueued]? {
        state.withLock { state in
            defer { state = State() }
            return state.isIncomplete ? nil : state.alerts.filter { $0.sequence > sequence }
        }
    }

    /// Forgets what a look into the database has seen by itself.
    func removeAll(upTo sequence: Int64) {
        state.withLock { $0.alerts.removeAll { $0.sequence <= sequence } }
    }
}
