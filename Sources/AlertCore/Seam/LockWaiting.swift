/// What a store does whose calls may wait for a lock that another process keeps.
package protocol LockWaiting: Sendable {
    /// Stops this store from waiting for a lock that one other process keeps: this process is about
    /// to end. What is under way fails with ``AlertError/busy(_:)``.
    ///
    /// A lock that goes from one process to the next is still waited for.
    func prepareToEnd()
}
