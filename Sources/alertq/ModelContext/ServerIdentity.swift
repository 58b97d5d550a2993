import AlertQueue

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
