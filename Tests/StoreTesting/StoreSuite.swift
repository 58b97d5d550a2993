import AlertQueueTesting
import SQLiteStore

/// A suite, or a helper of one, with a new store for each test.
package protocol StoreSuite {
    var fixture: StoreFixture { get }
}

extension StoreSuite {
    package var queue: TemporaryQueue { fixture.queue }
    package var clock: ManualClock { fixture.clock }
    package var store: SQLiteAlertStore { fixture.store }
}
