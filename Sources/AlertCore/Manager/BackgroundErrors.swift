import Synchronization

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
