import Synchronization

/// A box in which the writer's thread leaves a result for a task.
@usableFromInline package final class ResultBox<Value: Sendable>: Sendable {
    @usableFromInline let content = Mutex<Value?>(nil)

    @inlinable package init() {}

    /// Leaves a result, instead of that of an earlier attempt: a transaction may be repeated.
    @inlinable package func put(_ value: Value) { content.withLock { $0 = value } }

    /// The last result.
    @inlinable package var value: Value? { content.withLock { $0 } }
}
