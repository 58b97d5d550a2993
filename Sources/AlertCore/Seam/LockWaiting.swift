/// A store whose calls may wait for a lock that another process holds.
package protocol LockWaiting: Sendable {
    /// Stops this store from waiting for a lock that one other process keeps holding, because this
    /// process is about to end. Calls that are waiting fail with ``AlertError/busy(_:)``.
    ///
    /// It still waits for a lock that passes from one process to the next.
    func prepareToEnd()
}
