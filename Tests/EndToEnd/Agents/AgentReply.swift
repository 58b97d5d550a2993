/// A message from the server to an agent's client.
struct AgentReply: Sendable {
    let object: [String: any Sendable]

    init(_ object: [String: any Sendable]) {
        self.object = object
    }

    var id: Int? { object["id"] as? Int }
    var method: String? { object["method"] as? String }
    var result: [String: any Sendable] { Self.members(object["result"]) }
    var error: [String: any Sendable] { Self.members(object["error"]) }
    var errorCode: Int? { error["code"] as? Int }

    /// The structured content of a tool's result, and its members.
    var content: [String: any Sendable] { Self.members(result["structuredContent"]) }
    var state: String? { content["state"] as? String }
    var alert: Int? { content["id"] as? Int }
    var outcome: String? { content["outcome"] as? String }
    var button: String? { content["button"] as? String }
    var reason: String? { content["reason"] as? String }
    var isError: Bool { result["isError"] as? Bool ?? false }
    var summary: String { content["summary"] as? String ?? "" }

    /// The texts of a tool's result.
    var texts: [String] {
        let blocks = result["content"] as? [[String: any Sendable]] ?? []
        return blocks.compactMap { $0["text"] as? String }
    }

    static func members(_ value: Any?) -> [String: any Sendable] {
        value as? [String: any Sendable] ?? [:]
    }
}
