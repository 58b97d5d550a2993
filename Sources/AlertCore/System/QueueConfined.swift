import Dispatch
import Synchronization

/// A value on a serial Dispatch queue of its own, for work that blocks its thread: tasks have few.
package actor QueueConfined<Value> {
    private let executor: QueueExecutor
    private var value: Value

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    package init(_ value: sending Value, label: String) {
        executor = QueueExecutor(label: label, target: nil)
        self.value = value
    }

    /// Runs a closure on the queue.
    package func run<Result: Sendable>(
        _ body: @Sendable (inout Value) throws(AlertError) -> Result
    ) throws(AlertError) -> Result {
        try body(&value)
    }
}

/// Runs a closure that can ask whether the calling task has been cancelled on any thread, where
/// that can't be seen otherwise.
package nonisolated(nonsending) func withCancelCheck<Result: Sendable>(
    _ body:
        nonisolated(nonsending) (
            _ isCancelled: @escaping @Sendable () -> Bool
        ) async throws(AlertError) -> Result
) async throws(AlertError) -> Result {
    let isCancelled = Mutex(false)
    let result: Swift.Result<Result, AlertError> = await withTaskCancellationHandler {
        do throws(AlertError) {
            return .success(try await body { isCancelled.withLock { $0 } })
        } catch {
            return .failure(error)
        }
    } onCancel: {
        isCancelled.withLock { $0 = true }
    }
    return try result.get()
}
