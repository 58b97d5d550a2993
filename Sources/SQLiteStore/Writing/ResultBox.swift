import AlertCore
import SQLite
import Synchronization

/// A result that the writer's thread puts down and a task picks up.
final class ResultBox<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func put(_ value: Value) { self.value.withLock { $0 = value } }
    func take() -> Value? { value.withLock { $0 } }
}
