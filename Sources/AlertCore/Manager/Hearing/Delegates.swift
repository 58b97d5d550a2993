import Synchronization

/// The delegates that are notified of a manager's screen and of its own alerts on other screens:
/// the manager's delegate, or for a single alert the delegate given with it, which is remembered
/// until the alert has ended. All are held weakly.
final class Delegates: Sendable {
    /// A weak reference to a delegate.
    private struct Reference: Sendable {
        weak let delegate: (any AlertManagerDelegate)?
    }

    private struct State {
        /// The alerts that are being stored and have no id yet, numbered in order of arrival.
        var arriving: Set<UInt64> = []
        var begun: UInt64 = 0
        /// The delegates of the alerts that this manager has asked.
        var byAlert: [Alert.ID: Reference] = [:]
        /// The alerts among them whose delegates know that they are on a screen.
        var presented: Set<Alert.ID> = []
        /// Those whose delegates know that they have left the screens, and wait again.
        var returned: Set<Alert.ID> = []

        mutating func forget(_ id: Alert.ID) {
            byAlert[id] = nil
            presented.remove(id)
            returned.remove(id)
        }
    }

    /// How many alerts are remembered; beyond twice that number, the oldest are forgotten.
    /// Otherwise those whose end this manager does not notice would stay forever.
    private static let memory = 10_000
    private let ofManager: Reference
    private let state = Mutex(State())
    private let arrivals = ChangeSignal()
    let calls = DelegateCalls()

    init(_ delegate: (any AlertManagerDelegate)?) {
        ofManager = Reference(delegate: delegate)
    }

    /// The manager's delegate.
    var managers: (any AlertManagerDelegate)? { ofManager.delegate }

    /// Whether the manager has a delegate of its own.
    var hasManagers: Bool { managers != nil }

    /// Whether a delegate wants to be notified of alerts that this manager has asked.
    var hasOwn: Bool {
        state.withLock { $0.byAlert.values.contains { $0.delegate != nil } }
    }

    /// The delegate of an alert, if this manager has asked it.
    func ofOwn(_ id: Alert.ID) -> (any AlertManagerDelegate)? {
        state.withLock { $0.byAlert[id] }?.delegate
    }

    /// The delegate that is notified of an alert.
    subscript(id: Alert.ID) -> (any AlertManagerDelegate)? {
        guard let own = state.withLock({ $0.byAlert[id] }) else { return ofManager.delegate }
        return own.delegate
    }

    /// Stores an alert that has a delegate of its own.
    ///
    /// It may appear on the screen before its id is known here: ``waitForArrivals()`` waits for
    /// that.
    nonisolated(nonsending) func storing(
        with delegate: any AlertManagerDelegate,
        _ store: nonisolated(nonsending) () async throws(AlertError) -> Asking
    ) async throws(AlertError) -> Asking {
        let number = state.withLock { state in
            state.begun += 1
            state.arriving.insert(state.begun)
            return state.begun
        }
        defer { arrivals.change() }
        do throws(AlertError) {
            let stored = try await store()
            let record = stored.receipt.record
            state.withLock { state in
                state.arriving.remove(number)
                guard record.response == nil else { return }
                state.byAlert[record.id] = Reference(delegate: delegate)
                guard state.byAlert.count > 2 * Self.memory else { return }
                let oldest = state.byAlert.keys.sorted().prefix(Self.memory)
                for id in oldest { state.forget(id) }
            }
            return stored
        } catch {
            state.withLock { _ = $0.arriving.remove(number) }
            throw error
        }
    }

    /// Waits until the delegates of all alerts that are currently being stored are known, or the
    /// task is cancelled; returns whether there were any.
    nonisolated(nonsending) func waitForArrivals() async -> Bool {
        let last = state.withLock { $0.begun }
        var hasWaited = false
        while true {
            let seen = arrivals.count
            guard state.withLock({ $0.arriving.contains { $0 <= last } }) else { return hasWaited }
            // A cancelled wait ends at once: this would run round and round on the manager's queue.
            if Task.isCancelled { return hasWaited }
            hasWaited = true
            await arrivals.wait(after: seen)
        }
    }

    /// Forgets the delegate of an alert that has ended.
    func remove(_ id: Alert.ID) { state.withLock { $0.forget(id) } }

    /// Records that an alert is on a screen, here or elsewhere; `false` if its delegate knows
    /// already. For another asker's alert, each appearance here counts.
    func beginsPresentation(of id: Alert.ID) -> Bool {
        state.withLock { state in
            state.returned.remove(id)
            return state.byAlert[id] == nil || state.presented.insert(id).inserted
        }
    }

    /// Records that an alert has left the screens; `false` if its delegate did not know of one.
    @discardableResult
    func endsPresentation(of id: Alert.ID) -> Bool {
        state.withLock { state in
            let wasPresented = state.presented.remove(id) != nil
            if wasPresented { state.returned.insert(id) }
            return wasPresented
        }
    }

    /// Whether an alert has left the screens since it was last on one, as its delegate knows.
    func hasReturned(_ id: Alert.ID) -> Bool { state.withLock { $0.returned.contains(id) } }
}
