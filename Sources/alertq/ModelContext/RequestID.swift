import AlertQueue

/// What a client calls a request: a string or an integer; see
/// <https://www.jsonrpc.org/specification#request_object>.
enum RequestID: Sendable, Hashable {
    case text(String)
    case number(Int64)

    /// Fails for anything else, such as null and fractions, which MCP forbids.
    init?(_ value: JSONValue?) {
        if let text = value?.string {
            self = .text(text)
        } else if let number = value?.integer {
            self = .number(number)
        } else {
            return nil
        }
    }

    var json: JSONValue {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .integer(number)
        }
    }
}

extension RequestID: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text): "“\(text.prefix(80))”"
        case .number(let number): "\(number)"
        }
    }
}
