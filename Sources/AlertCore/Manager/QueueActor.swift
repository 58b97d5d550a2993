/// A part of a manager, which runs where the manager does.
protocol QueueActor: Actor {
    nonisolated var context: QueueContext { get }
}

extension QueueActor {
    /// The manager's serial Dispatch queue; see SE-0392.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        context.executor.asUnownedSerialExecutor()
    }
}
