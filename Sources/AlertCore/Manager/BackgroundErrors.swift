import Synchronization

/// Passes on errors for which no caller waits.
package final class BackgroundErrors: Sendable {
    private let handler = Mutex<@Sendable (BackgroundError) -> Void>(BackgroundError.log)

    package init() {}

    /// Sets the closure that receives them.
    func handle(with body: @escaping @Sendable (BackgroundError) -> Void) {
        handler.withLock { $0 = body }
    }

    /// Reports an error for which no caller waits.
    package func report(_ error: BackgroundError) {
        // Called outside of the lock: it may set another closure itself.
        let body = handler.withLock { $0 }
        body(error)
    }
}
