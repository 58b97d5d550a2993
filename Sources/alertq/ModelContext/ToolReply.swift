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
