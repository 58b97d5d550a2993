import AlertQueue
import Synchronization
import TextFormats

/// A request that takes time, from its arrival to its reply.
final class ToolCall: Sendable {
    /// Why a call ends before it has a result.
    enum End: Sendable {
        /// The server is ending: what is known now is the result.
        case serverEnds
        /// The client has stopped waiting; no reply is due.
        case unawaited
        /// A person no longer wants what the client has asked for; no reply is due.
        case cancelled

        /// Whether the client no longer wants a reply.
        var isOfClient: Bool { self != .serverEnds }

        /// Why a client cancels a request, judged by the reason that it gives.
        ///
        /// The protocol has one notification for a client that has waited long enough, and for one
        /// whose user wants something else. Only the latter is worth losing a question for, and is
        /// believed if a person was seen to cause it.
        init(reason: String?, of client: RequestContext) {
            let isPerson = Self.reasonsOfPeople.contains { seen in
                client.clientName.map(seen.client.isIdentical) == true
                    && reason.map(seen.reason.isIdentical) == true
            }
            self = isPerson ? .cancelled : .unawaited
        }

        /// The reasons that clients were seen to give when a person cancelled.
        ///
        /// Not among them are what was seen of deadlines, which must never take a question back,
        /// and what means either: `SdkError: Request timed out` (claude-code 2.1.331 with
        /// `MCP_TOOL_TIMEOUT`), `timed out after 30s` and `caller cancelled` (the Python SDK 2.3.0,
        /// for a program's own deadline too), `McpError: MCP error -32001: Request timed out` and
        /// `AbortError: This operation was aborted` (the TypeScript SDK), `context deadline
        /// exceeded` (Go), `Cancelled by client` (chuk-mcp 0.9.4), and no reason at all.
        private static let reasonsOfPeople: [(client: String, reason: String)] = [
            // Claude Code 2.1.331: Escape or Ctrl-C in its terminal while the call waited; a person
            // who typed something else first made no difference.
            ("claude-code", "AbortError: user-cancel"),
            // Claude Code 2.1.331: the `interrupt` with which the programs around it pass on that a
            // person pressed their Stop.
            ("claude-code", "AbortError: remote-cancel"),
        ]
    }

    private struct State {
        var end: End?
        var task: Task<Void, Never>?
        /// Ends the wait that is under way, if one is.
        var endWait: (@Sendable () -> Void)?
    }

    let id: RequestID
    /// The tool's name.
    let name: String
    /// Always an object.
    let arguments: JSONValue
    let client: RequestContext
    /// Where its reply goes.
    let replies: Replies
    private let writer: LineWriter
    private let state = Mutex(State())

    init(
        id: RequestID, name: String, arguments: JSONValue, client: RequestContext,
        replies: Replies, writer: LineWriter
    ) {
        self.id = id
        self.name = name
        self.arguments = arguments
        self.client = client
        self.replies = replies
        self.writer = writer
    }

    /// Why it ends early; `nil` while it doesn't.
    var end: End? { state.withLock { $0.end } }

    /// Starts the work.
    func start(_ body: @escaping @Sendable () async -> Void) {
        let task = Task { await body() }
        state.withLock { state in
            state.task = task
            if state.end?.isOfClient == true { task.cancel() }
        }
    }

    /// Ends it early; only the first reason counts.
    ///
    /// At the server's end it goes on with everything but waiting.
    func end(_ reason: End) {
        let (task, endWait) = state.withLock { state in
            guard state.end == nil else { return (Task<Void, Never>?.none, state.endWait) }
            state.end = reason
            return (reason.isOfClient ? state.task : nil, state.endWait)
        }
        task?.cancel()
        endWait?()
    }

    /// Waits, until the call ends early at the latest; the wait is cancelled then.
    func waiting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let wait = Task(operation: body)
        let isEnding = state.withLock { state in
            state.endWait = { wait.cancel() }
            return state.end != nil
        }
        if isEnding { wait.cancel() }
        return try await wait.value
    }

    /// Waits until the work is done.
    func wait() async { await state.withLock { $0.task }?.value }

    /// Tells the client that the work goes on, if it wants to know.
    ///
    /// - Parameter progress: Grows from one notification to the next.
    func report(progress: Int64, of total: Int64, _ message: String) async {
        guard let token = client.progressToken, end == nil else { return }
        var params: [(key: String, value: JSONValue)] = [
            ("progressToken", token), ("progress", .integer(progress)), ("total", .integer(total)),
        ]
        if client.revision.hasHints { params.append(("message", .string(message))) }
        try? await writer.write(
            .object([
                ("jsonrpc", .string("2.0")), ("method", .string("notifications/progress")),
                ("params", .object(params)),
            ]))
    }
}

/// The calls that have no reply yet, by their ids, and those that have one but are not over.
final class CallsInProgress: Sendable {
    /// How many there may be at once, with those whose replies the client has yet to read.
    static let limit = 256

    private struct State {
        var open: [RequestID: ToolCall] = [:]
        /// It is too late to cancel these, and their ids may be used again.
        var closing: [ObjectIdentifier: ToolCall] = [:]
    }

    private let state = Mutex(State())

    /// The call with an id, unless its reply is on its way.
    subscript(id: RequestID) -> ToolCall? { state.withLock { $0.open[id] } }

    func add(_ call: ToolCall) throws(ProtocolError) {
        let refusal = state.withLock { state in
            let count = state.open.count + state.closing.count
            let refusal = Self.whyRefused(call.id, state.open, count: count)
            if refusal == nil { state.open[call.id] = call }
            return refusal
        }
        if let refusal { throw refusal }
    }

    /// From here on the call can't be cancelled: its reply is about to be written.
    func close(_ call: ToolCall) {
        state.withLock { state in
            if state.open[call.id] === call { state.open[call.id] = nil }
            state.closing[ObjectIdentifier(call)] = call
        }
    }

    /// The call is over.
    func remove(_ call: ToolCall) {
        state.withLock { state in
            if state.open[call.id] === call { state.open[call.id] = nil }
            state.closing[ObjectIdentifier(call)] = nil
        }
    }

    /// Ends the calls that have no reply yet, and returns once all calls are over.
    func end() async {
        let (open, closing) = state.withLock { (Array($0.open.values), Array($0.closing.values)) }
        for call in open { call.end(.serverEnds) }
        for call in open + closing { await call.wait() }
    }

    private static func whyRefused(
        _ id: RequestID, _ calls: [RequestID: ToolCall], count: Int
    ) -> ProtocolError? {
        if calls[id] != nil {
            return ProtocolError(
                .invalidRequest,
                "request \(id) is still in progress, so this one with the same id was not carried "
                    + "out; give each request its own id")
        }
        guard count >= limit else { return nil }
        return ProtocolError(
            .internalError, "\(limit) calls are in progress; try again when some have ended")
    }
}
