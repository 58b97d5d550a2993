import AlertQueue
import Linux
import Synchronization
import TextFormats

/// A server of the Model Context Protocol: reads messages, keeps track of calls, and replies.
///
/// It speaks the revisions with a handshake and those without, whichever the client does, and
/// knows nothing about what its tools are for. See
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic>.
final class ModelContextServer: Sendable {
    private let host: any ToolHost
    private let identity: ServerIdentity
    private let writer: LineWriter
    private let note: @Sendable (String) -> Void
    private let calls = CallsInProgress()
    /// What the handshake said; requests with metadata of their own don't need it.
    private let session = Mutex<RequestContext?>(nil)

    /// - Parameter note: Prints a line for the person who looks into the client's logs.
    init(
        host: any ToolHost, identity: ServerIdentity, writer: LineWriter,
        note: @escaping @Sendable (String) -> Void
    ) {
        self.host = host
        self.identity = identity
        self.writer = writer
        self.note = note
    }

    /// Handles a line from the client, on a thread that may be blocked while the client does not
    /// read. Calls go on after this returns.
    func receive(_ line: LineSplitter.Line) {
        guard case .whole(let bytes) = line else {
            let reason = "this line has more than \(LineSplitter.limit) bytes, and was discarded"
            return send(ProtocolError(.invalidRequest, reason).reply(to: nil), Replies(writer))
        }
        do throws(ClientMessage.Unreadable) {
            let json = try ClientMessage.json(bytes)
            if case .array(let elements) = json {
                try receive(batch: elements)
            } else {
                receive(.success(try ClientMessage(json)), Replies(writer))
            }
        } catch {
            receive(.failure(error), Replies(writer))
        }
    }

    /// Handles the messages of a batch, whose replies are one array.
    private func receive(batch elements: [JSONValue]) throws(ClientMessage.Unreadable) {
        func refuse(_ reason: String) -> ClientMessage.Unreadable {
            ClientMessage.Unreadable(id: nil, error: ProtocolError(.invalidRequest, reason))
        }
        guard session.withLock({ $0?.revision.hasBatches == true }) else {
            throw refuse(
                "batches are part of revision \(Revision.march2025.rawValue) alone; send one JSON "
                    + "object on each line")
        }
        guard (1...CallsInProgress.limit).contains(elements.count) else {
            throw refuse("a batch has 1 to \(CallsInProgress.limit) messages")
        }
        let messages = elements.map { element in
            Result { () throws(ClientMessage.Unreadable) in try ClientMessage(element) }
        }
        let replies = Replies(writer, ofBatch: messages.count { Self.isRepliedTo($0) })
        for message in messages { receive(message, replies) }
    }

    private static func isRepliedTo(
        _ message: Result<ClientMessage, ClientMessage.Unreadable>
    ) -> Bool {
        switch message {
        case .success(.request), .failure: true
        case .success: false
        }
    }

    private func receive(
        _ message: Result<ClientMessage, ClientMessage.Unreadable>, _ replies: Replies
    ) {
        switch message {
        case .success(.request(let request)): handle(request, replies)
        case .success(.notification(let method, let params)):
            handle(notification: method, params)
        case .success(.response): note("ignored a reply: this server sends no requests")
        case .failure(let error): send(error.error.reply(to: error.id), replies)
        }
    }

    /// Ends all calls, and returns once they have replied.
    func end() async { await calls.end() }

    private func send(_ reply: JSONValue, _ replies: Replies) {
        do {
            try replies.add(reply)
        } catch {
            note("a reply could not be written: \(error)")
        }
    }

    /// The reply with a result, in the form of the client's revision.
    private func reply(
        to id: RequestID, _ client: RequestContext?, type: String = "complete",
        _ members: [(key: String, value: JSONValue)]
    ) -> JSONValue {
        var result = members
        if client?.revision.isModern == true {
            result.insert(("resultType", .string(type)), at: 0)
            result.append(
                ("_meta", .object([("io.modelcontextprotocol/serverInfo", identity.json)])))
        }
        return .object([
            ("jsonrpc", .string("2.0")), ("id", id.json), ("result", .object(result)),
        ])
    }
}

// MARK: - Requests

extension ModelContextServer {
    private func handle(_ request: ClientMessage.Request, _ replies: Replies) {
        do throws(ProtocolError) {
            if request.method == "initialize" {
                return send(try initialize(request, isInBatch: replies.isBatch), replies)
            }
            let client = try context(of: request)
            switch request.method {
            case "server/discover": send(try discover(request, client), replies)
            case "ping": send(reply(to: request.id, client, []), replies)
            case "tools/list": send(list(request, client), replies)
            case "tools/call": try call(request, client, replies)
            case "tasks/get", "tasks/update", "tasks/cancel": try task(request, client, replies)
            default:
                throw ProtocolError(
                    .unknownMethod, "this server has no method “\(request.method.prefix(80))”")
            }
        } catch {
            send(error.reply(to: request.id), replies)
        }
    }

    /// Who sends a request: by its own metadata, or by the handshake before it.
    private func context(
        of request: ClientMessage.Request
    ) throws(ProtocolError) -> RequestContext {
        let meta = request.params["_meta"]
        if let context = try RequestContext(meta: meta) { return context }
        if let session = session.withLock({ $0 }) { return session.with(meta) }
        if request.method == "ping" { return .unknown }
        throw ProtocolError(
            .invalidParameters,
            "“\(request.method.prefix(80))” comes before “initialize”, and has no “_meta” with "
                + "“io.modelcontextprotocol/protocolVersion”; send one or the other")
    }

    private func initialize(
        _ request: ClientMessage.Request, isInBatch: Bool
    ) throws(ProtocolError) -> JSONValue {
        guard !isInBatch else {
            throw ProtocolError(.invalidRequest, "“initialize” can't be part of a batch")
        }
        let session = try RequestContext(handshake: request.params)
        self.session.withLock { $0 = session }
        return reply(
            to: request.id, session,
            [
                ("protocolVersion", .string(session.revision.rawValue)),
                ("capabilities", .object([("tools", .object([]))])),
                ("serverInfo", identity.json),
                ("instructions", .string(identity.instructions)),
            ])
    }

    private func discover(
        _ request: ClientMessage.Request, _ client: RequestContext
    ) throws(ProtocolError) -> JSONValue {
        guard client.revision.isModern else {
            throw ProtocolError(
                .unknownMethod,
                "“server/discover” does not exist in revision \(client.revision.rawValue)")
        }
        let capabilities = JSONValue.object([
            ("tools", .object([])),
            ("extensions", .object([(RequestContext.tasks, .object([]))])),
        ])
        return reply(
            to: request.id, client,
            [
                ("supportedVersions", .array(Revision.allCases.map { .string($0.rawValue) })),
                ("capabilities", capabilities),
                ("instructions", .string(identity.instructions)),
            ] + Self.caching)
    }

    private func list(
        _ request: ClientMessage.Request, _ client: RequestContext
    ) -> JSONValue {
        let tools = JSONValue.array(host.tools.map { $0.json(in: client.revision) })
        return reply(
            to: request.id, client,
            [("tools", tools)] + (client.revision.isModern ? Self.caching : []))
    }

    /// How long a client may keep a result that never changes while the server runs, and for whom.
    private static let caching: [(key: String, value: JSONValue)] = [
        ("ttlMs", .integer(3_600_000)), ("cacheScope", .string("public")),
    ]

    private func call(
        _ request: ClientMessage.Request, _ client: RequestContext, _ replies: Replies
    ) throws(ProtocolError) {
        let params = request.params
        let names = host.tools.map(\.name)
        guard let name = params["name"]?.string else {
            throw ProtocolError(
                .invalidParameters,
                "“name” is missing or not a string; it is one of: "
                    + names.joined(separator: ", "))
        }
        guard names.contains(where: name.isIdentical) else {
            throw ProtocolError(
                .invalidParameters,
                "there is no tool “\(name.prefix(80))”; there are: "
                    + names.joined(separator: ", "))
        }
        let arguments = params["arguments"] ?? .object([])
        guard arguments.members != nil else {
            throw ProtocolError(.invalidParameters, "“arguments” is not an object")
        }
        try start(request, name, arguments, client, replies) {
            [host] call throws(ProtocolError) in
            try await host.reply(to: call)
        }
    }

    private func task(
        _ request: ClientMessage.Request, _ client: RequestContext, _ replies: Replies
    ) throws(ProtocolError) {
        guard client.revision.isModern else {
            throw ProtocolError(
                .unknownMethod, "this server has no tasks in revision \(client.revision.rawValue)")
        }
        try client.requireTasks()
        guard let id = request.params["taskId"]?.string else {
            throw ProtocolError(.invalidParameters, "“taskId” is missing or not a string")
        }
        let method = request.method
        try start(request, method, .object([]), client, replies) {
            [host] _ throws(ProtocolError) in
            let reply = try await host.task(id, of: client)
            // Nothing is ever required from the client, so there is nothing to update.
            guard method != "tasks/get" else { return reply }
            await reply.finish(false)
            if method == "tasks/cancel" { try await host.cancelTask(id, of: client) }
            return ToolReply(content: .done)
        }
    }
}

// MARK: - Calls

extension ModelContextServer {
    private func start(
        _ request: ClientMessage.Request, _ name: String, _ arguments: JSONValue,
        _ client: RequestContext, _ replies: Replies,
        _ body: @escaping @Sendable (ToolCall) async throws(ProtocolError) -> ToolReply?
    ) throws(ProtocolError) {
        let call = ToolCall(
            id: request.id, name: name, arguments: arguments, client: client, replies: replies,
            writer: writer)
        try calls.add(call)
        call.start { await self.carryOut(call, request.method, body) }
    }

    private func carryOut(
        _ call: ToolCall, _ method: String,
        _ body: (ToolCall) async throws(ProtocolError) -> ToolReply?
    ) async {
        defer { calls.remove(call) }
        do {
            guard let reply = try await body(call) else { return call.replies.skip() }
            let message = try message(reply, to: call, method)
            calls.close(call)
            guard call.end != .cancelled, call.end != .unawaited else {
                call.replies.skip()
                return await reply.finish(false)
            }
            do {
                try await call.replies.write(message)
            } catch {
                note("the reply to request \(call.id) could not be written: \(error)")
                return await reply.finish(false)
            }
            await reply.finish(true)
        } catch {
            calls.close(call)
            let error = error as? ProtocolError ?? ProtocolError(.internalError, "\(error)")
            try? await call.replies.write(error.reply(to: call.id))
        }
    }

    private func message(
        _ content: ToolReply, to call: ToolCall, _ method: String
    ) throws -> JSONValue {
        let (id, client) = (call.id, call.client)
        switch content.content {
        case .result(let result):
            return reply(to: id, client, try result.members(in: client.revision))
        case .task(let task):
            let isNew = method == "tools/call"
            return reply(
                to: id, client, type: isNew ? "task" : "complete",
                try task.members(isNew: isNew, in: client.revision))
        case .done: return reply(to: id, client, [])
        }
    }
}

// MARK: - Notifications

extension ModelContextServer {
    private func handle(notification method: String, _ params: JSONValue) {
        // Others, such as notifications/initialized, change nothing.
        guard method == "notifications/cancelled", let id = RequestID(params["requestId"]) else {
            return
        }
        // It is in progress until what it did has been undone.
        guard let call = calls[id] else { return }
        call.end(ToolCall.End(reason: params["reason"]?.string, of: call.client))
    }
}

/// What a server says about itself.
struct ServerIdentity: Sendable {
    let name: String
    let version: String
    /// Advice for the model that is not about a single tool.
    let instructions: String

    var json: JSONValue {
        .object([("name", .string(name)), ("version", .string(version))])
    }
}
