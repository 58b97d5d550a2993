import Linux

/// A store whose calls may wait for a lock that another process holds.
package protocol LockWaiting: Sendable {
    /// The process that prevents this one from writing now, if there is one and it is visible.
    var lockHolder: LockHolder? { get }

    /// Stops this store from waiting for a lock that one other process keeps holding, because this
    /// process is about to end. Calls that are waiting fail with ``AlertError/busy(_:)``.
    ///
    /// It still waits for a lock that passes from one process to the next.
    func prepareToEnd()
}

/// Another process that holds the lock that every write to a queue needs.
package struct LockHolder: Sendable {
    package let process: LinuxProcess
    /// Whether it is rewriting the database for a purge, which takes a while.
    package let isRewriting: Bool

    package init(process: LinuxProcess, isRewriting: Bool) {
        self.process = process
        self.isRewriting = isRewriting
    }
}
