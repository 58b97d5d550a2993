import AlertCore
import FoundationEssentials
import Linux
import TextFormats

/// Why a line from a client is not carried out, and the reply to it.
struct LineRefusal: Error {
    private let id: Int
    private let status: Int
    private let reason: String
    /// Whether the line is one of the store's protocol, and not of the API.
    private let isStoreCall: Bool

    /// It was discarded unread, so that its number isn't known.
    static let tooLong = LineRefusal(
        id: 0, status: 413, reason: "has more than \(LineSplitter.limit) bytes", isStoreCall: false)

    /// - Parameter reason: What is wrong with the request.
    init(of request: ServiceRequest, _ reason: String) {
        self.init(id: request.id, status: 400, reason: reason, isStoreCall: true)
    }

    fileprivate init(of line: [UInt8], _ error: any Error) {
        // What can be read of it: a client would wait for ever for the reply to its number.
        let request = try? JSONValue.tolerant(parsing: line).value
        self.init(
            id: request?["id"]?.integer.flatMap(Int.init(exactly:)) ?? 0, status: 400,
            reason: Self.reason(of: line, error),
            isStoreCall: request?["path"]?.string.map(ServiceRequest.isStores) ?? false)
    }

    private init(id: Int, status: Int, reason: String, isStoreCall: Bool) {
        (self.id, self.status, self.reason, self.isStoreCall) = (id, status, reason, isStoreCall)
    }

    private static func reason(of line: [UInt8], _ error: any Error) -> String {
        let request: JSONValue
        do throws(JSONError) {
            request = try JSONValue(parsing: line)
        } catch {
            return #"can't be read: \#(error); a line is an object, such as "#
                + #"{"id":1,"method":"GET","path":"/v1/health"}"#
        }
        guard request["id"]?.integer.flatMap(Int.init(exactly:)) != nil else {
            return "has no whole number as “id”"
        }
        for name in ["method", "path"] where request[name]?.string == nil {
            return "has no text as “\(name)”"
        }
        return "has a body that can't be read: " + ((error as? DecodingError)?.reason ?? "\(error)")
    }

    var error: AlertError { .invalid("request", reason) }

    var reply: [UInt8] {
        guard !isStoreCall else {
            return ServiceReply<Nothing>(id: id, status: status, value: nil, error: error).line
        }
        let detail = "the request \(reason)"
        let problem =
            status == 413
            ? Problem(413, "too-large", code: 65, detail) : .badRequest(detail)
        return problem.reply.line(id)
    }
}

extension ServiceRequest {
    /// Reads a line of a client.
    init(line: [UInt8]) throws(LineRefusal) {
        do {
            self = try JSONDecoder().decode(ServiceRequest.self, from: Data(line))
        } catch {
            throw LineRefusal(of: line, error)
        }
    }
}

extension DecodingError {
    /// What is wrong, and where.
    var reason: String {
        let (context, missing): (Context, String?) =
            switch self {
            case .keyNotFound(let key, let context): (context, key.stringValue)
            case .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                (context, nil)
            @unknown default: (Context(codingPath: [], debugDescription: "\(self)"), nil)
            }
        let path: String = context.codingPath.map { key in
            key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)"
        }.joined()
        let place = path.drop { $0 == "." }
        if let missing {
            return "“\(place.isEmpty ? "" : place + ".")\(missing)” is missing"
        }
        return (place.isEmpty ? "" : "“\(place)”: ") + context.debugDescription
    }
}
