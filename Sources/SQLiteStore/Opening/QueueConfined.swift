import AlertCore
import Dispatch
import Synchronization

/// A value that only code on one serial queue can access.
///
/// This is the package's single `@unchecked Sendable`. It is sound because `value` and `queue` are
/// private, `queue` is serial, and every access to `value` happens in a closure that runs on it.
final class QueueConfined<Value>: @unchecked Sendable {
    private let queue: DispatchQueue
    private var value: Value

    init(_ value: sending Value, label: String) {
        queue = DispatchQueue(label: label)
        self.value = value
    }

    /// Runs a closure on the queue later, while the caller continues.
    func async(_ body: @escaping @Sendable (inout Value) -> Void) {
        queue.async { body(&self.value) }
    }

    /// Runs a closure on the queue, and returns its result to a task that does not block a thread.
    nonisolated(nonsending) func run<Result: Sendable>(
        _ body: @escaping @Sendable (inout Value) throws(AlertError) -> Result
    ) async throws(AlertError) -> Result {
        try await result(body).get()
    }

    /// Runs a closure in the same way, and returns its result or its error.
    private nonisolated(nonsending) func result<Result: Sendable>(
        _ body: @escaping @Sendable (inout Value) throws(AlertError) -> Result
    ) async -> Swift.Result<Result, AlertError> {
        await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Swift.Result { () throws(AlertError) in
                        try body(&self.value)
                    })
            }
        }
    }

    /// Runs a closure on the queue; it can ask whether the calling task has been cancelled, which
    /// it can't see from the queue's thread.
    nonisolated(nonsending) func run<Result: Sendable>(
        untilCancelled body:
            @escaping @Sendable (inout Value, _ isCancelled: () -> Bool) throws(AlertError) ->
            Result
    ) async throws(AlertError) -> Result {
        let isCancelled = Mutex(false)
        let outcome = await withTaskCancellationHandler {
            await self.result { (value: inout Value) throws(AlertError) -> Result in
                try body(&value) { isCancelled.withLock { $0 } }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        return try outcome.get()
    }
}
