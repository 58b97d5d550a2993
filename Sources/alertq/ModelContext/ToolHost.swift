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
