import AlertCore
import Synchronization

/// A screen of this process, attached for as long as it has an entry in the slot file.
final class SlotLease: ScreenLease {
    private struct State {
        /// `nil` while a process of an earlier version presents.
        var entry: SlotEntry?
        var isReleased = false
    }

    private let screen: SlotHolder
    private let store: SQLiteAlertStore
    private let state: Mutex<State>
    private let upkeep: TextIndexUpkeep

    init(of screen: SlotHolder, in store: SQLiteAlertStore) throws(AlertError) {
        state = Mutex(State(entry: try store.slot.attach(screen)))
        self.screen = screen
        self.store = store
        upkeep = TextIndexUpkeep(of: store)
    }

    deinit { release() }

    nonisolated(nonsending) func lead() async -> Bool {
        state.withLock { state in
            guard !state.isReleased else { return false }
            if state.entry?.isValid != true {
                state.entry?.release()
                // What is in the way now may not be in a second.
                state.entry = try? store.slot.attach(screen)
            }
            guard let entry = state.entry, entry.lead() else { return false }
            store.noteLead(of: entry)
            return true
        }
    }

    nonisolated(nonsending) func waitToLead() async { await store.waitForSlot() }

    var isLeading: Bool { state.withLock { $0.entry?.leads ?? false } }

    nonisolated(nonsending) func show(_ alert: Alert.ID?, hasDelegate: Bool) async -> Bool {
        upkeep.isPaused = alert != nil
        return state.withLock { $0.entry?.show(alert, hasDelegate: hasDelegate) ?? false }
    }

    func stepBack() {
        state.withLock { $0.entry?.stepBack() }
    }

    func release() {
        upkeep.stop()
        state.withLock { state in
            state.isReleased = true
            state.entry?.release()
            state.entry = nil
        }
    }
}
