import Foundation

/// Messages of coding agents to their hooks: those of the documentation, and recorded ones.
package enum HookSample {
    /// The names of those of the documentation.
    package static let all = [
        "claude-pre-tool-use", "claude-permission-request", "claude-write",
        "codex-permission-request", "codex-pre-tool-use",
    ]

    /// The agent that has sent one.
    package static func agent(_ name: String) -> String {
        String(name.prefix { $0 != "-" })
    }

    package static func bytes(_ name: String) throws -> [UInt8] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = tests.appending(path: "AlertAgentsTests/Hooks/\(name).json")
        return Array(try Data(contentsOf: file))
    }

    /// A request with some of its members replaced, or removed where the value is `nil`.
    package static func bytes(
        _ name: String, with members: [String: (any Sendable)?]
    ) throws -> [UInt8] {
        let object = try JSONSerialization.jsonObject(with: Data(bytes(name)))
        var request = object as? [String: Any] ?? [:]
        for (member, value) in members { request[member] = value }
        return Array(try JSONSerialization.data(withJSONObject: request))
    }
}
