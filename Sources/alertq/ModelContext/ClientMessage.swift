import AlertQueue

/// A message from a client: one JSON object on one line; see
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic#messages>.
enum ClientMessage: Sendable {
    struct Request: Sendable {
        let id: RequestID
        let method: String
        /// Always an object.
        let params: JSONValue
    }

    /// A line that is no message.
    struct Unreadable: Error {
        /// The id of what was probably a request.
        let id: RequestID?
        let error: ProtocolError
    }

    case request(Request)
    case notification(method: String, params: JSONValue)
    /// The reply to a request; this server sends none.
    case response

    /// Reads a line.
    init(_ line: [UInt8]) throws(Unreadable) {
        let message = try Self.object(line)
        let id = RequestID(message["id"])
        let hasID = message.members?.contains { $0.key == "id" } ?? false
        func refuse(_ code: ProtocolError.Code, _ reason: String) -> Unreadable {
            Unreadable(id: id, error: ProtocolError(code, reason))
        }
        guard message["jsonrpc"]?.string == "2.0" else {
            throw refuse(.invalidRequest, "“jsonrpc” is missing or not \"2.0\"")
        }
        guard let method = message["method"]?.string else {
            if message["method"] == nil, message["result"] != nil || message["error"] != nil {
                self = .response
                return
            }
            throw refuse(.invalidRequest, "“method” is missing or not a string")
        }
        let params = message["params"] ?? .object([])
        guard hasID else {
            self = .notification(method: method, params: params)
            return
        }
        guard let id else {
            throw refuse(.invalidRequest, "“id” is neither a string nor an integer")
        }
        guard params.members != nil else {
            throw refuse(.invalidParameters, "“params” is not an object: name the parameters")
        }
        self = .request(Request(id: id, method: method, params: params))
    }

    private static func object(_ line: [UInt8]) throws(Unreadable) -> JSONValue {
        func refuse(_ code: ProtocolError.Code, _ reason: String) -> Unreadable {
            Unreadable(id: nil, error: ProtocolError(code, reason))
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: line)
        } catch {
            throw refuse(
                .parse, "this line is not JSON: \(error); send one JSON object on each line")
        }
        switch value {
        case .object: return value
        case .array:
            throw refuse(
                .invalidRequest, "batches are not supported; send one JSON object on each line")
        default:
            throw refuse(.invalidRequest, "this line is not a JSON object")
        }
    }
}
