import Dispatch

/// Runs blocking code on a thread of its own, and stops it when the task is cancelled.
enum Blocking {
    /// Runs a closure, which must return soon after the switch is thrown.
    static func run<Result: Sendable>(
        _ label: String, _ body: @escaping @Sendable (StopSwitch) throws -> Result
    ) async throws -> Result {
        let stop = try StopSwitch()
        let queue = DispatchQueue(label: label)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    continuation.resume(with: Swift.Result { try body(stop) })
                }
            }
        } onCancel: {
            stop.stop()
        }
    }
}
