import Synchronization

/// Calls delegates in order, in one queue per alert, without making the caller wait.
final class DelegateCalls: Sendable {
    private struct Last {
        let number: UInt64
        let task: Task<Void, Never>
    }

    private struct State {
        var number: UInt64 = 0
        var last: [Alert.ID: Last] = [:]
    }

    private let state = Mutex(State())

    /// Runs a call after all earlier ones for the same alert.
    func add(for id: Alert.ID, _ call: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.number += 1
            let (number, previous) = (state.number, state.last[id]?.task)
            let task = Task { [weak self] in
                await previous?.value
                await call()
                self?.end(number, for: id)
            }
            state.last[id] = Last(number: number, task: task)
        }
    }

    /// Waits for the calls added so far for an alert.
    nonisolated(nonsending) func wait(for id: Alert.ID) async {
        await state.withLock { $0.last[id]?.task }?.value
    }

    /// Waits for all calls added so far.
    nonisolated(nonsending) func waitForAll() async {
        for last in state.withLock({ Array($0.last.values) }) { await last.task.value }
    }

    private func end(_ number: UInt64, for id: Alert.ID) {
        state.withLock { state in
            if state.last[id]?.number == number { state.last[id] = nil }
        }
    }
}
