import AlertQueue

/// Why a request can't be carried out, as its client gets to know it.
///
/// The message says what is wrong, with which part, and what to do. Errors of a tool that a model
/// can correct are results instead: see <https://modelcontextprotocol.io/specification/2026-07-28>,
/// “Tools”, “Error Handling”.
struct ProtocolError: Error, Sendable {
    /// The codes of JSON-RPC 2.0 §5.1, and those that MCP adds.
    enum Code: Int64, Sendable {
        case parse = -32700
        case invalidRequest = -32600
        case unknownMethod = -32601
        case invalidParameters = -32602
        case internalError = -32603
        case missingCapability = -32021
        case unsupportedVersion = -32022
    }

    let code: Code
    let message: String
    private(set) var data: JSONValue?

    init(_ code: Code, _ message: String, data: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// The message that replies with this error; its id is null if the request has none that could
    /// be read.
    func reply(to id: RequestID?) -> JSONValue {
        var error: [(key: String, value: JSONValue)] = [
            ("code", .integer(code.rawValue)), ("message", .string(message)),
        ]
        if let data { error.append(("data", data)) }
        return .object([
            ("jsonrpc", .string("2.0")), ("id", id?.json ?? .null), ("error", .object(error)),
        ])
    }
}
