import AlertCore
import Synchronization

/// A screen of this process, which leads for as long as it holds the presentation slot.
final class SlotLease: ScreenLease {
    private struct State {
        var hold: SlotHold?
        var isReleased = false
    }

    private let screen: SlotHolder
    private let store: SQLiteAlertStore
    private let state = Mutex(State())
    private let upkeep: TextIndexUpkeep

    init(of screen: SlotHolder, in store: SQLiteAlertStore) {
        self.screen = screen
        self.store = store
        upkeep = TextIndexUpkeep(of: store)
    }

    deinit { release() }

    nonisolated(nonsending) func lead() async -> Bool {
        state.withLock { state in
            guard !state.isReleased else { return false }
            if state.hold?.isValid == true { return true }
            state.hold?.release()
            // What is in the way now may not be in a second.
            state.hold = try? store.takeSlot(screen)
            return state.hold != nil
        }
    }

    nonisolated(nonsending) func waitToLead() async { await store.waitForSlot() }

    var isLeading: Bool { state.withLock { $0.hold?.isValid ?? false } }

    nonisolated(nonsending) func show(_ alert: Alert.ID?, hasDelegate: Bool) async -> Bool {
        upkeep.isPaused = alert != nil
        return state.withLock { $0.hold?.show(alert, hasDelegate: hasDelegate) ?? false }
    }

    func stepBack() {
        state.withLock { state in
            state.hold?.release()
            state.hold = nil
        }
    }

    func release() {
        upkeep.stop()
        state.withLock { state in
            state.isReleased = true
            state.hold?.release()
            state.hold = nil
        }
    }
}
