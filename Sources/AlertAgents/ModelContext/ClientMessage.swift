import AlertQueue
import TextFormats

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

    /// Reads a message, which a line contains or an element of a batch is.
    init(_ message: JSONValue) throws(Unreadable) {
        guard message.members != nil else {
            throw Unreadable(
                id: nil, error: ProtocolError(.invalidRequest, "a message is a JSON object"))
        }
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

    /// Reads a line as JSON: a message, or a batch of them.
    ///
    /// - Throws: ``Unreadable``, with the id of a request that only careless programs write so.
    static func json(_ line: [UInt8]) throws(Unreadable) -> JSONValue {
        // Some libraries begin what they write with a byte order mark.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        do throws(JSONError) {
            return try JSONValue(parsing: line.starts(with: mark) ? Array(line.dropFirst(3)) : line)
        } catch {
            let careless = try? JSONValue.tolerant(parsing: line).value
            let ids = (careless?.members ?? []).filter { $0.key.isIdentical(to: "id") }
            throw Unreadable(
                id: ids.count == 1 ? RequestID(ids[0].value) : nil,
                error: ProtocolError(
                    .parse, "this line is not JSON: \(error); send one JSON object on each line"))
        }
    }
}

/// What a client calls a request: a string or an integer; see
/// <https://www.jsonrpc.org/specification#request_object>.
///
/// Two texts are equal only if their bytes are.
enum RequestID: Sendable {
    case text(String)
    case number(Int64)

    /// Fails for anything else, such as null and fractions, which MCP forbids.
    init?(_ value: JSONValue?) {
        if let text = value?.string {
            self = .text(text)
        } else if let number = value?.wholeNumber {
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

extension RequestID: Hashable {
    static func == (left: RequestID, right: RequestID) -> Bool {
        switch (left, right) {
        case (.text(let left), .text(let right)): left.isIdentical(to: right)
        case (.number(let left), .number(let right)): left == right
        case (.text, _), (.number, _): false
        }
    }

    func hash(into hasher: inout Hasher) {
        switch self {
        case .text(let text): hasher.combine(text)
        case .number(let number): hasher.combine(number)
        }
    }
}

extension JSONValue {
    /// An integer, also if it is written as JavaScript and Lua never would: `5.0` for 5.
    var wholeNumber: Int64? {
        guard case .number(let digits) = self else { return integer }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) else {
            return integer
        }
        return Int64(parts[0])
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
