import Synchronization

/// The delegates that were given with alerts, each held weakly until its alert has ended.
final class OwnDelegates: Sendable {
    /// A delegate, as long as somebody else refers to it.
    struct Reference: Sendable {
        weak let delegate: (any AlertManagerDelegate)?
    }

    private struct State {
        /// How many alerts are being stored whose delegates are not known by a number yet.
        var arriving = 0
        var byAlert: [Alert.ID: Reference] = [:]
    }

    private let state = Mutex(State())
    private let arrivals = ChangeSignal()

    /// The delegate of an alert; `nil` for one that was asked without.
    subscript(id: Alert.ID) -> Reference? { state.withLock { $0.byAlert[id] } }

    /// Stores an alert that has a delegate of its own.
    ///
    /// It may be on the screen before its number is known here: ``waitForArrivals()`` waits.
    ///
    /// - Parameter record: What was stored, or joined.
    nonisolated(nonsending) func storing<Stored>(
        with delegate: any AlertManagerDelegate,
        _ store: nonisolated(nonsending) () async throws(AlertError) -> Stored,
        record: (Stored) -> AlertRecord
    ) async throws(AlertError) -> Stored {
        state.withLock { $0.arriving += 1 }
        defer { arrivals.change() }
        do throws(AlertError) {
            let stored = try await store()
            let record = record(stored)
            state.withLock { state in
                state.arriving -= 1
                guard record.response == nil else { return }
                state.byAlert[record.id] = Reference(delegate: delegate)
            }
            return stored
        } catch {
            state.withLock { $0.arriving -= 1 }
            throw error
        }
    }

    /// Waits until the delegates of all alerts that are stored by now are known.
    nonisolated(nonsending) func waitForArrivals() async {
        while true {
            let seen = arrivals.count
            guard state.withLock({ $0.arriving > 0 }) else { return }
            await arrivals.wait(after: seen)
        }
    }

    /// Forgets the delegate of an alert that has ended.
    func remove(_ id: Alert.ID) { state.withLock { _ = $0.byAlert.removeValue(forKey: id) } }
}
