import AlertQueue
import FoundationEssentials
import TextFormats

/// A tool as clients and models see it; see
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool>.
struct Tool: Sendable {
    let name: String
    let title: String
    let description: String
    /// The JSON schema of its arguments.
    let input: JSONValue
    /// The JSON schema of its structured results.
    let output: JSONValue
    /// Hints about its effects.
    let hints: JSONValue

    /// The tool as a revision describes it.
    func json(in revision: Revision) -> JSONValue {
        var members: [(key: String, value: JSONValue)] = [
            ("name", .string(name)), ("description", .string(description)), ("inputSchema", input),
        ]
        if revision.hasHints { members.append(("annotations", hints)) }
        if revision.hasStructuredResults {
            members += [("title", .string(title)), ("outputSchema", output)]
        }
        return .object(members)
    }
}

/// What the protocol server offers to its clients.
protocol ToolHost: Sendable {
    /// In the order in which clients list them.
    var tools: [Tool] { get }

    /// Carries out a call of one of the tools; `nil` if its client no longer expects a reply.
    ///
    /// When the call's task is cancelled, ``ToolCall/end`` says why.
    func reply(to call: ToolCall) async throws(ProtocolError) -> ToolReply?

    /// The state of a task that this client's call created.
    func task(_ id: String, of client: RequestContext) async throws(ProtocolError) -> ToolReply

    /// Cancels a task that this client's call created, if it has not ended.
    func cancelTask(_ id: String, of client: RequestContext) async throws(ProtocolError)
}

/// The reply to a call, and what follows it.
struct ToolReply: Sendable {
    enum Content: Sendable {
        case result(ToolResult)
        case task(TaskState)
        /// Nothing but that it is done.
        case done
    }

    let content: Content
    /// Called once: after the reply has been written to the client, or when it won't be.
    private(set) var finish: @Sendable (_ isWritten: Bool) async -> Void = { _ in }
}

/// What a tool returns to the model; see
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>.
struct ToolResult: Sendable {
    /// What happened, in a few sentences for the model.
    let summary: String
    /// The same for programs; always an object, to which the summary is added.
    let object: JSONValue
    /// Whether the tool could not do what it was asked to.
    private(set) var isError = false

    /// The members of the JSON result, as a revision has them.
    ///
    /// Some clients pass on only the texts to the model, others only the structured content, so
    /// each has everything.
    func members(in revision: Revision) throws -> [(key: String, value: JSONValue)] {
        let texts = [summary, try object.text()].map { text in
            JSONValue.object([("type", .string("text")), ("text", .string(text))])
        }
        var members: [(key: String, value: JSONValue)] = [("content", .array(texts))]
        if revision.hasStructuredResults {
            let structured = (object.members ?? []) + [("summary", .string(summary))]
            members.append(("structuredContent", .object(structured)))
        }
        return members + [("isError", .bool(isError))]
    }
}

/// A call that goes on after its reply; see
/// <https://github.com/modelcontextprotocol/ext-tasks>, “Tasks”.
struct TaskState: Sendable {
    enum Status: Sendable {
        case working
        case completed(ToolResult)
        case cancelled
    }

    let id: String
    let status: Status
    var message: String
    let createdAt: Date
    let updatedAt: Date
    /// How long after its creation it may be forgotten; `nil` means never.
    let lifetime: Duration?

    /// How often a client should look, in milliseconds.
    private static let pollIntervalMilliseconds: Int64 = 2000

    /// The members of the JSON object, without a result.
    private var base: [(key: String, value: JSONValue)] {
        let word =
            switch status {
            case .working: "working"
            case .completed: "completed"
            case .cancelled: "cancelled"
            }
        return [
            ("taskId", .string(id)), ("status", .string(word)),
            ("statusMessage", .string(message)),
            ("createdAt", .string(Timestamp.text(createdAt))),
            ("lastUpdatedAt", .string(Timestamp.text(updatedAt))),
            ("ttlMs", .optional(lifetime?.milliseconds)),
            ("pollIntervalMs", .integer(Self.pollIntervalMilliseconds)),
        ]
    }

    /// The members of a JSON result: of the call that creates the task, or of `tasks/get`, which
    /// has the task's own result.
    func members(
        isNew: Bool, in revision: Revision
    ) throws -> [(key: String, value: JSONValue)] {
        guard !isNew, case .completed(let result) = status else { return base }
        let inner =
            [("resultType", JSONValue.string("complete"))] + (try result.members(in: revision))
        return base + [("result", .object(inner))]
    }
}
