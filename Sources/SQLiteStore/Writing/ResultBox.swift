import AlertCore
import SQLite
import Synchronization

/// A box in which the writer's thread leaves a result for a task.
final class ResultBox<Value: Sendable>: Sendable {
    private let content = Mutex<Value?>(nil)

    /// Leaves a result, instead of that of an earlier attempt: a transaction may be repeated.
    func put(_ value: Value) { content.withLock { $0 = value } }

    /// The last result.
    var value: Value? { content.withLock { $0 } }
}
