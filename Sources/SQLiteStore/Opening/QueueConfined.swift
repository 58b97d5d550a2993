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
        let result: Swift.Result<Result, AlertError> = await withCheckedContinuation {
            continuation in
            queue.async {
                continuation.resume(
                    returning: Swift.Result { () throws(AlertError) in
                        try body(&self.value)
                    })
            }
        }
        return try result.get()
    }

    /// Runs a closure on the queue; it can ask whether the calling task has been cancelled.
    nonisolated(nonsending) func run<Result: Sendable>(
        untilCancelled body:
            @escaping @Sendable (inout Value, _ isCancelled: () -> Bool) throws(AlertError) ->
            Result
    ) async throws(AlertError) -> Result {
        try await withCancelCheck { isCancelled throws(AlertError) in
            try await run { (value: inout Value) throws(AlertError) in
                try body(&value, isCancelled)
            }
        }
    }
}

/// Runs a closure that can ask whether the calling task has been cancelled on any thread, where
/// that can't be seen otherwise.
nonisolated(nonsending) func withCancelCheck<Result: Sendable>(
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
