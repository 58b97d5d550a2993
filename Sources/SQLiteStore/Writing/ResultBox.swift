import AlertCore
import SQLite
import Synchronization

/// A box in which the writer's thread leaves a result for a task.
final class ResultBox<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func put(_ value: Value) { self.value.withLock { $0 = value } }
    func take() -> Value? { value.withLock { $0 } }
}
