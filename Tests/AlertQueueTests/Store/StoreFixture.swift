import AlertQueueTesting

@testable import AlertQueue

/// A store on a queue of its own, with a clock that a test moves.
struct StoreFixture: Sendable {
    let queue: TemporaryQueue
    let clock = ManualClock()
    let store: SQLiteAlertStore

    init() async throws {
        queue = try TemporaryQueue()
        store = try await queue.store(clock: clock)
    }
}

/// A suite, or what a suite uses, with a store of its own for each test.
protocol StoreSuite {
    var fixture: StoreFixture { get }
}

extension StoreSuite {
    var queue: TemporaryQueue { fixture.queue }
    var clock: ManualClock { fixture.clock }
    var store: SQLiteAlertStore { fixture.store }
}
