// What a process does that was asked to end.
extension AlertManager {
    /// From now on nothing waits long for a lock that another process keeps; what is under way
    /// fails with ``AlertError/busy(_:)`` instead, and nothing of it is stored.
    package nonisolated func hurry() { store.hurry() }

    /// The process that keeps this one from writing just now, if there is one and it can be seen.
    package nonisolated var lockHolder: LinuxProcess? { QueueLocks(database: path).writer }
}
