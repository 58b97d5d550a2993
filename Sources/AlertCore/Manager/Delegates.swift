import Synchronization

/// The delegates that are notified of a manager's screen and of its own alerts on other screens:
/// the manager's delegate, or for a single alert the delegate given with it, which is remembered
/// until the alert has ended. All are held weakly.
final class Delegates: Sendable {
    private struct WeakDelegate: Sendable {
        weak let delegate: (any AlertManagerDelegate)?
    }

    /// An alert that this manager has asked.
    private struct Own {
        let weak: WeakDelegate
        var place = Place.waiting
    }

    /// Where an alert is, as its delegate knows.
    private enum Place {
        case waiting
        /// On a screen, here or elsewhere.
        case presented
        /// It has left the screens.
        case returned
    }

    private struct State {
        /// The alerts that are being stored and have no id yet, numbered in order of arrival.
        var arriving: Set<UInt64> = []
        var begun: UInt64 = 0
        var own: [Alert.ID: Own] = [:]
    }

    /// How many alerts are remembered; beyond twice that number, the oldest are forgotten.
    /// Otherwise those whose end this manager does not notice would stay forever.
    private static let memory = 10_000
    private let weakOfManager: WeakDelegate
    private let state = Mutex(State())
    private let arrivals = ChangeSignal()

    init(_ delegate: (any AlertManagerDelegate)?) {
        weakOfManager = WeakDelegate(delegate: delegate)
    }

    /// The manager's delegate.
    var ofManager: (any AlertManagerDelegate)? { weakOfManager.delegate }

    /// Whether a delegate wants to be notified of alerts that this manager has asked.
    var hasOwn: Bool {
        state.withLock { $0.own.values.contains { $0.weak.delegate != nil } }
    }

    /// The delegate of an alert, if this manager has asked it.
    func ofOwn(_ id: Alert.ID) -> (any AlertManagerDelegate)? {
        state.withLock { $0.own[id] }?.weak.delegate
    }

    /// The delegate that is notified of an alert.
    subscript(id: Alert.ID) -> (any AlertManagerDelegate)? {
        guard let own = state.withLock({ $0.own[id] }) else { return ofManager }
        return own.weak.delegate
    }

    /// Remembers the delegate of an alert that is about to be stored.
    ///
    /// It may appear on the screen before its id is known here: ``waitForArrivals()`` waits for
    /// that.
    nonisolated(nonsending) func remembering(
        _ delegate: any AlertManagerDelegate,
        _ store: nonisolated(nonsending) () async throws(AlertError) -> PendingQuestion
    ) async throws(AlertError) -> PendingQuestion {
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
                state.own[record.id] = Own(weak: WeakDelegate(delegate: delegate))
                guard state.own.count > 2 * Self.memory else { return }
                for id in state.own.keys.sorted().prefix(Self.memory) { state.own[id] = nil }
            }
            return stored
        } catch {
            state.withLock { _ = $0.arriving.remove(number) }
            throw error
        }
    }

    /// Waits until the delegates of all alerts that are currently being stored are known, or the
    /// task is cancelled.
    nonisolated(nonsending) func waitForArrivals() async {
        let last = state.withLock { $0.begun }
        while true {
            let seen = arrivals.count
            guard state.withLock({ $0.arriving.contains { $0 <= last } }) else { return }
            // A cancelled wait ends at once: this would run round and round on the manager's queue.
            if Task.isCancelled { return }
            await arrivals.wait(after: seen)
        }
    }

    /// Forgets the delegate of an alert that has ended.
    func remove(_ id: Alert.ID) { state.withLock { $0.own[id] = nil } }

    /// Records that an alert is on a screen, here or elsewhere; `false` if its delegate knows
    /// already. For another asker's alert, each appearance here counts.
    func beginsPresentation(of id: Alert.ID) -> Bool {
        state.withLock { state in
            guard let own = state.own[id] else { return true }
            state.own[id]?.place = .presented
            return own.place != .presented
        }
    }

    /// Records that an alert has left the screens; `false` if its delegate did not know of one.
    @discardableResult
    func endsPresentation(of id: Alert.ID) -> Bool {
        state.withLock { state in
            guard state.own[id]?.place == .presented else { return false }
            state.own[id]?.place = .returned
            return true
        }
    }

    /// Whether an alert has left the screens since it was last on one, as its delegate knows.
    func hasReturned(_ id: Alert.ID) -> Bool { state.withLock { $0.own[id]?.place == .returned } }
}
