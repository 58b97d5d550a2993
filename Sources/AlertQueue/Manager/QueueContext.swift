import Synchronization

/// What the parts of one manager share: its queue, its clock, the thread that it runs on, and those
/// who hear of what happens.
struct QueueContext: Sendable {
    let store: any AlertStore
    let clock: any AlertClock
    /// On whose behalf the manager acts; what a presenter does is done through that.
    let caller: Caller
    /// Where the manager and all its parts run.
    let executor = QueueExecutor(label: "alertq.manager")
    let delegates: Delegates
    let errors: BackgroundErrors
}

/// Passes errors on that no caller waits for.
package final class BackgroundErrors: Sendable {
    private let handler = Mutex<@Sendable (BackgroundError) -> Void>(BackgroundError.log)

    package init() {}

    /// Sets who hears of them.
    func handle(with body: @escaping @Sendable (BackgroundError) -> Void) {
        handler.withLock { $0 = body }
    }

    /// Tells of an error that no caller waits for.
    package func report(_ error: BackgroundError) {
        // Called outside of the lock: it may set another closure itself.
        let body = handler.withLock { $0 }
        body(error)
    }
}
