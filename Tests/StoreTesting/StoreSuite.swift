import AlertQueueTesting
import SQLiteStore

/// A suite, or what a suite uses, with a store of its own for each test.
package protocol StoreSuite {
    var fixture: StoreFixture { get }
}

extension StoreSuite {
    package var queue: TemporaryQueue { fixture.queue }
    package var clock: ManualClock { fixture.clock }
    package var store: SQLiteAlertStore { fixture.store }
}
