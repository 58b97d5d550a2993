import AlertTables
import TestSupport

@testable import SQLiteStore

extension WriteQueue {
    /// Waits until as many callers wait for the next transaction; `false` if they never do.
    func hasWaiting(_ count: Int) async -> Bool {
        await eventually { state.withLock { $0.waiting.count { $0.kind != .posted } == count } }
    }
}
