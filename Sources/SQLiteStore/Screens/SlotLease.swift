import AlertCore
import Synchronization

/// A screen of this process, attached for as long as it has an entry in the slot file.
final class SlotLease: ScreenLease {
    private struct State {
        var screen: AttachedScreen
        /// The names of its presenters, even if the slot has no room for all of them.
        var presenters: [String]
        /// `nil` while the file can't be used.
        var entry: SlotEntry?
        var isReleased = false
        /// When the entry was last found to be gone.
        var lastLoss: ContinuousClock.Instant?
        /// The others as last read, and when; without a count they are to be read again.
        var seen: (others: ScreenRoster, count: UInt64?, at: ContinuousClock.Instant)?
    }

    private let store: SQLiteAlertStore
    private let state: Mutex<State>

    init(of screen: AttachedScreen, in store: SQLiteAlertStore) throws(AlertError) {
        let entry = try store.slot.attach(screen)
        state = Mutex(State(screen: screen, presenters: screen.presenters, entry: entry))
        self.store = store
        if let entry { store.noteAttached(entry) }
    }

    deinit { release() }

    nonisolated(nonsending) func lead() async -> Bool {
        state.withLock { state in
            guard !state.isReleased else { return false }
            var lead = state.entry?.lead() ?? .gone
            if case .gone = lead {
                attachAgain(&state)
                lead = state.entry?.lead() ?? .gone
            }
            if case .taken = lead { state.seen = nil }
            return lead.leads
        }
    }

    private func attachAgain(_ state: inout State) {
        let now = ContinuousClock.now
        // An obstacle may be gone in a second; each try wakes all others.
        if state.entry == nil, let last = state.lastLoss, last.duration(to: now) < .seconds(1) {
            return
        }
        state.lastLoss = now
        state.entry?.release()
        state.entry = try? store.slot.attach(state.screen)
        state.seen = nil
        if let entry = state.entry { store.noteAttached(entry) }
    }

    var isLeading: Bool { state.withLock { $0.entry?.leads ?? false } }

    var others: ScreenRoster? { state.withLock { others(&$0) } }

    nonisolated(nonsending) func lookAtOthers() async -> ScreenRoster? {
        state.withLock { state in
            state.seen?.count = nil
            return others(&state)
        }
    }

    /// After a second it is read again, for silences, and for new screens if inotify fails.
    private func others(_ state: inout State) -> ScreenRoster? {
        guard let entry = state.entry else { return nil }
        let count = store.slotChanges.count
        let now = ContinuousClock.now
        if let seen = state.seen, seen.count == count, seen.at.duration(to: now) < .seconds(1) {
            return seen.others
        }
        let others = entry.others
        let before = state.seen?.others
        state.seen = (others, count, now)
        // A screen that attached after the last ring does not know the current alert.
        if before?.all.map(\.asOffered) != others.all.map(\.asOffered), others.leader == nil,
            !others.followers.isEmpty
        {
            entry.ring()
        }
        return others
    }

    var changeCount: UInt64 { store.slotChanges.count }

    nonisolated(nonsending) func waitForChange(after count: UInt64) async {
        let before = state.withLock { $0.seen?.others }
        await store.slotChanges.wait(after: count)
        guard store.slotChanges.count != count else { return }
        // The close of a file is reported before its locks are free; see inotify(7).
        for milliseconds in [1, 2, 4, 8, 16] where before != nil {
            guard await lookAtOthers() == before else { return }
            // A cancelled wait is over; the caller checks its task itself.
            try? await Task.sleep(for: .milliseconds(milliseconds))
        }
    }

    nonisolated(nonsending) func show(
        _ alert: Alert.ID?, current: Alert.ID?, hasDelegate: Bool
    ) async -> Bool {
        state.withLock { state in
            (state.screen.alert, state.screen.hasDelegate) = (alert, hasDelegate)
            guard let entry = state.entry else { return false }
            let result = entry.show(alert, current: current, hasDelegate: hasDelegate)
            guard result == .written else { return result == .known }
            // Others wait for the current alert; what a follower shows is only read once a second.
            if let others = others(&state), others.leader == nil, !others.followers.isEmpty {
                entry.ring()
            }
            return true
        }
    }

    func offer(_ presenters: [String], isBusy: Bool) {
        state.withLock { state in
            guard state.presenters != presenters || state.screen.isBusy != isBusy else { return }
            state.presenters = presenters
            state.screen.offer(presenters, isBusy: isBusy)
            state.entry?.offer(presenters, isBusy: isBusy)
        }
    }

    func stepBack() {
        state.withLock { $0.entry?.stepBack() }
    }

    func release() {
        state.withLock { state in
            state.isReleased = true
            state.entry?.release()
            state.entry = nil
        }
    }
}
