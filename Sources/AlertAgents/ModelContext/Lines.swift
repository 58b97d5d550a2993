import AlertQueue
import Dispatch
import Linux

/// Divides a stream of bytes into lines, of which it keeps at most one in memory.
struct LineSplitter: Sendable {
    enum Line: Sendable, Equatable {
        case whole([UInt8])
        /// It was longer than the limit, and has been discarded.
        case tooLong
    }

    /// How long a line may be, in bytes; the longest alert takes a tenth of it.
    static let limit = 1 << 20

    private var rest: [UInt8] = []
    private var isTooLong = false

    /// Passes on the lines that end in these bytes; those without text are left out.
    mutating func add(_ bytes: ArraySlice<UInt8>, _ body: (Line) -> Void) {
        var bytes = bytes
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            keep(bytes[..<end])
            finish(body)
            bytes = bytes[(end + 1)...]
        }
        keep(bytes)
    }

    /// Passes on what follows the last line feed.
    mutating func finish(_ body: (Line) -> Void) {
        defer { (rest, isTooLong) = ([], false) }
        if isTooLong { return body(.tooLong) }
        let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")]
        if !rest.allSatisfy(blanks.contains) { body(.whole(rest)) }
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        isTooLong = rest.count + bytes.count > Self.limit
        if isTooLong { rest = [] } else { rest += bytes }
    }
}

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
            queue.async { continuation.resume(with: Result { try self.send(message) }) }
        }
    }

    /// Writes a message from a thread that may be blocked.
    func writeNow(_ message: JSONValue) throws {
        try queue.sync { try send(message) }
    }

    private func send(_ message: JSONValue) throws {
        try output(try message.text() + "\n")
    }
}
