import Synchronization

/// A box in which the writer's thread leaves a result for a task.
package final class ResultBox<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    package init() {}

    /// Leaves a result, instead of that of an earlier attempt: a transaction may be repeated.
    package func put(_ value: Value) { content.withLock { $0 = value } }

    /// The last result.
    package var value: Value? { content.withLock { $0 } }
}
