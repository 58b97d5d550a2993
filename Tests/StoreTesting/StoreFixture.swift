import AlertQueueTesting
import SQLiteStore

/// A store on a temporary queue, with a clock that a test moves.
package struct StoreFixture: Sendable {
    package let queue: TemporaryQueue
    package let clock = ManualClock()
    package let store: SQLiteAlertStore

    package init() async throws {
        queue = try TemporaryQueue()
        store = try await queue.store(clock: clock)
    }
}
