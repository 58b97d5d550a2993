// How a process that was asked to end hurries.
extension AlertManager {
    /// Stops this manager from waiting long for a lock that another process keeps: what is under way
    /// fails with ``AlertError/busy(_:)`` instead, and none of it is stored.
    package nonisolated func hurry() { store.hurry() }

    /// The process that keeps this one from writing just now, if there is one and it can be seen.
    package nonisolated var lockHolder: LinuxProcess? { QueueLocks(database: path).writer }
}
