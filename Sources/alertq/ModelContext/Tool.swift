import AlertQueue

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

    var json: JSONValue {
        .object([
            ("name", .string(name)), ("title", .string(title)),
            ("description", .string(description)), ("inputSchema", input),
            ("outputSchema", output), ("annotations", hints),
        ])
    }
}
