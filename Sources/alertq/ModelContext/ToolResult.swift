import AlertQueue

/// What a tool returns to the model; see
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result>.
struct ToolResult: Sendable {
    /// What happened, in a few sentences for the model.
    let summary: String
    /// The same for programs; always an object, to which the summary is added.
    let object: JSONValue
    /// Whether the tool could not do what it was asked to.
    private(set) var isError = false

    /// The members of the JSON result.
    ///
    /// Some clients pass on only the texts to the model, others only the structured content, so
    /// each has everything.
    func members() throws -> [(key: String, value: JSONValue)] {
        let structured = JSONValue.object(
            (object.members ?? []) + [("summary", .string(summary))])
        let texts = [summary, try object.text()].map { text in
            JSONValue.object([("type", .string("text")), ("text", .string(text))])
        }
        return [
            ("content", .array(texts)), ("structuredContent", structured),
            ("isError", .bool(isError)),
        ]
    }
}
