import AlertQueue
import Dispatch
import Synchronization

/// Writes messages to the client, one a line, in the order in which they come.
///
/// A client that does not read blocks the writer's own thread, and no other.
final class LineWriter: Sendable {
    private let output: Output
    private let queue = DispatchQueue(label: "alertq.mcp.output")
    private let hasFailed = Atomic<Bool>(false)

    init(_ output: Output) {
        self.output = output
    }

    /// Whether a message could not be written, because the client has gone.
    var isBroken: Bool { hasFailed.load(ordering: .acquiring) }

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
        let line = try message.text() + "\n"
        do {
            try output.write(line)
        } catch {
            hasFailed.store(true, ordering: .releasing)
            throw error
        }
    }
}
