/// A part of a manager, which runs on the manager's queue.
protocol QueueActor: Actor {
    nonisolated var context: QueueContext { get }
}

extension QueueActor {
    /// The manager's serial Dispatch queue; see SE-0392.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        context.executor.asUnownedSerialExecutor()
    }
}
