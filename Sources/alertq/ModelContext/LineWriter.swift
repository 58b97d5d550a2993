import AlertQueue
import Dispatch

/// Writes messages to the client, one a line, in the order in which they come.
///
/// A client that does not read blocks the writer's own thread, and no other.
final class LineWriter: Sendable {
    private let output: Output
    private let queue = DispatchQueue(label: "alertq.mcp.output")

    init(_ output: Output) {
        self.output = output
    }

    /// Writes a message, and returns once the system has it.
    func write(_ message: JSONValue) async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.send(message) }) }
        }
    }

    /// Writes a message from a thread that may be blocked.
    func writeNow(_ message: JSONValue) throws {
        try queue.sync { try send(message) }
    }

    private func send(_ message: JSONValue) throws {
        try output.write(try message.text() + "\n")
    }
}
