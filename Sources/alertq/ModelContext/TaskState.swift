import AlertQueue
import FoundationEssentials

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
    let message: String
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
    func members(isNew: Bool) throws -> [(key: String, value: JSONValue)] {
        guard !isNew, case .completed(let result) = status else { return base }
        let inner = [("resultType", JSONValue.string("complete"))] + (try result.members())
        return base + [("result", .object(inner))]
    }
}
