import Synchronization

/// Wakes the presentation loop to look again, and keeps its manager alive until it has looked, even
/// if nothing else references it.
final class WakeUps: Sendable {
    private struct State {
        /// The names of the manager's presenters; `nil` while it does not present.
        var presenters: [String]?
        /// The manager, while its presentation loop has something to look at.
        var owner: AlertManager?
    }

    private let state = Mutex(State())
    private let signal = ChangeSignal()
    private let ends = ChangeSignal()

    /// How often the loop was woken.
    var count: UInt64 { signal.count }

    /// Wakes the loop.
    func wake() { signal.change() }

    /// Wakes the loop for an alert that was just stored.
    func wake(keeping owner: AlertManager) {
        state.withLock { state in
            if state.presenters != nil { state.owner = owner }
            signal.change()
        }
    }

    /// Waits until the loop must look again.
    nonisolated(nonsending) func wait(after seen: UInt64) async { await signal.wait(after: seen) }

    /// How often presenting has ended.
    var endCount: UInt64 { ends.count }

    /// Waits until presenting ends.
    func waitForEnd(after seen: UInt64) async { await ends.wait(after: seen) }

    /// Ends the loop.
    func end() {
        ends.change()
        wake()
    }

    /// Records that a loop begins and has yet to look.
    func beginPresenting(on presenters: [String], for owner: AlertManager) {
        state.withLock { state in
            state.presenters = presenters
            state.owner = owner
        }
    }

    func endPresenting() {
        state.withLock { state in
            state.presenters = nil
            state.owner = nil
        }
    }

    /// Releases the manager if nothing has come since the loop counted the wake-ups and looked.
    func releaseOwner(ifUnchangedSince seen: UInt64) {
        state.withLock { state in
            if signal.count == seen { state.owner = nil }
        }
    }

    /// Whether one of the manager's own presenters may show an alert; `nil` means all presenters.
    func mayBeShown(on wanted: [String]?) -> Bool {
        state.withLock { state in
            guard let presenters = state.presenters else { return false }
            return wanted?.hasIdentical(of: presenters) ?? true
        }
    }
}
