import Synchronization

/// Tells the presentation loop to look again, and keeps its manager until it has looked, even if
/// nobody refers to that any more.
final class WakeUps: Sendable {
    private struct State {
        /// The names of the manager's presenters; `nil` while it does not present.
        var presenters: Set<String>?
        /// The manager, while its presentation loop has something to look at.
        var owner: AlertManager?
    }

    private let state = Mutex(State())
    private let signal = ChangeSignal()
    private let ends = ChangeSignal()

    /// How often the loop was told to look.
    var count: UInt64 { signal.count }

    /// Tells the loop to look.
    func wake() { signal.change() }

    /// Tells the loop of an alert that was just stored.
    func wake(keeping owner: AlertManager) {
        state.withLock { state in
            if state.presenters != nil { state.owner = owner }
            signal.change()
        }
    }

    /// Waits until the loop has to look again.
    nonisolated(nonsending) func wait(after seen: UInt64) async { await signal.wait(after: seen) }

    /// How often presenting has ended.
    var endCount: UInt64 { ends.count }

    /// Waits until presenting ends.
    func waitForEnd(after seen: UInt64) async { await ends.wait(after: seen) }

    /// Tells the loop to end.
    func end() {
        ends.change()
        wake()
    }

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

    /// Lets go of the manager, if nothing has come since the loop counted the wake-ups and looked.
    func releaseOwner(ifUnchangedSince seen: UInt64) {
        state.withLock { state in
            if signal.count == seen { state.owner = nil }
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
