import AlertQueue
import Dispatch
import Linux
import Synchronization
import TextFormats

/// Reads lines from a descriptor, on a thread that may block.
struct LineInput: Sendable {
    let descriptor: Int32

    /// Passes on each line, one after the other, and then how the input has ended: `nil` for its
    /// end, or the number of an error; see errno(3).
    func read(
        _ body: @escaping @Sendable (LineSplitter.Line) -> Void,
        whenDone: @escaping @Sendable (Int32?) -> Void
    ) {
        // A queue of its own has a thread of its own while it is blocked.
        DispatchQueue(label: "alertq.mcp.input").async {
            whenDone(readAll(body))
        }
    }

    private func readAll(_ body: (LineSplitter.Line) -> Void) -> Int32? {
        var splitter = LineSplitter()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            do throws(LinuxError) {
                let count = try SharedDescriptor.read(descriptor, into: &buffer)
                guard count > 0 else {
                    splitter.finish(body)
                    return nil
                }
                splitter.add(buffer[..<count], body)
            } catch {
                return error.code
            }
        }
    }
}

/// Writes messages to the client, one a line, in the order in which they come.
///
/// A client that does not read blocks the writer's own thread, and no other.
final class LineWriter: Sendable {
    private let output: @Sendable (String) throws -> Void
    private let queue = DispatchQueue(label: "alertq.mcp.output")

    init(write: @escaping @Sendable (String) throws -> Void) {
        output = write
    }

    /// Writes a message, and returns once the system has it.
    func write(_ message: JSONValue) async throws {
        try await withCheckedThrowingContinuation { continuation in
            write(message) { continuation.resume(with: $0) }
        }
    }

    /// Writes a message later, and calls `done` once the system has it.
    func write(_ message: JSONValue, done: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        queue.async { done(Result { try self.send(message) }) }
    }

    /// Writes a message from a thread that may be blocked.
    func writeNow(_ message: JSONValue) throws {
        try queue.sync { try send(message) }
    }

    private func send(_ message: JSONValue) throws {
        try output(try message.text() + "\n")
    }
}

/// Where the replies to the requests of one line go: to the client, once all of them are there.
///
/// The reply to a single request is a line of its own. Those to a batch are one array, as JSON-RPC
/// 2.0 §6 has it; a request that gets no reply is missing there, and nothing is written if all do.
final class Replies: Sendable {
    private struct State {
        /// How many requests have got neither a reply nor none.
        var open: Int
        var replies: [JSONValue] = []
        /// Who waits until the line is written.
        var waiting: [CheckedContinuation<Void, any Error>] = []
    }

    let isBatch: Bool
    private let writer: LineWriter
    private let state: Mutex<State>

    /// The reply to a single message.
    init(_ writer: LineWriter) {
        self.writer = writer
        isBatch = false
        state = Mutex(State(open: 1))
    }

    /// - Parameter count: How many messages of the batch may get a reply.
    init(_ writer: LineWriter, ofBatch count: Int) {
        self.writer = writer
        isBatch = true
        state = Mutex(State(open: count))
    }

    /// Adds a reply, and returns once the system has the line with it.
    func write(_ reply: JSONValue) async throws {
        try await withCheckedThrowingContinuation { continuation in
            finish(add(reply, continuation))
        }
    }

    /// A request gets no reply.
    func skip() { finish(add(nil, nil)) }

    /// Adds a reply from a thread that may be blocked, and doesn't wait for those of others.
    func add(_ reply: JSONValue) throws {
        guard let (line, waiting) = add(reply, nil) else { return }
        let result = Result { try line.map(writer.writeNow) ?? () }
        for continuation in waiting { continuation.resume(with: result) }
        try result.get()
    }

    private typealias Line = (line: JSONValue?, waiting: [CheckedContinuation<Void, any Error>])

    /// The line, if this was all that was missing.
    private func add(
        _ reply: JSONValue?, _ continuation: CheckedContinuation<Void, any Error>?
    ) -> Line? {
        state.withLock { state in
            state.open -= 1
            if let reply { state.replies.append(reply) }
            if let continuation { state.waiting.append(continuation) }
            guard state.open == 0 else { return nil }
            let isArray = isBatch && !state.replies.isEmpty
            return (isArray ? .array(state.replies) : state.replies.first, state.waiting)
        }
    }

    private func finish(_ line: Line?) {
        guard let (line, waiting) = line, let line else { return }
        writer.write(line) { result in
            for continuation in waiting { continuation.resume(with: result) }
        }
    }
}
