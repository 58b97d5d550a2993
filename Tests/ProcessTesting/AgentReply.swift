import Foundation

/// A message from the server to an agent's client.
package struct AgentReply: Sendable {
    package let object: [String: any Sendable]

    package init(_ object: [String: any Sendable]) {
        self.object = object
    }

    package var id: Int? { object["id"] as? Int }
    package var method: String? { object["method"] as? String }
    package var result: [String: any Sendable] { Self.members(object["result"]) }
    package var error: [String: any Sendable] { Self.members(object["error"]) }
    package var errorCode: Int? { error["code"] as? Int }

    /// The structured content of a tool's result, and its members; where a revision has none, what
    /// the texts say.
    package var content: [String: any Sendable] {
        if let content = result["structuredContent"] { return Self.members(content) }
        guard texts.count == 2 else { return [:] }
        let object = try? JSONSerialization.jsonObject(with: Data(texts[1].utf8))
        return Self.members(object).merging(["summary": texts[0]]) { $1 }
    }
    package var state: String? { content["state"] as? String }
    package var alert: Int? { content["id"] as? Int }
    package var outcome: String? { content["outcome"] as? String }
    package var button: String? { content["button"] as? String }
    package var reason: String? { content["reason"] as? String }
    package var isError: Bool { result["isError"] as? Bool ?? false }
    package var summary: String { content["summary"] as? String ?? "" }

    /// The texts of a tool's result.
    package var texts: [String] {
        let blocks = result["content"] as? [[String: any Sendable]] ?? []
        return blocks.compactMap { $0["text"] as? String }
    }

    package static func members(_ value: Any?) -> [String: any Sendable] {
        value as? [String: any Sendable] ?? [:]
    }
}
