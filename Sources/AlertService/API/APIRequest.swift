import AlertCore
import FoundationEssentials
import Synchronization
import TextFormats

/// A request of the API, whichever carrier has brought it.
package struct APIRequest: Sendable {
    package let method: String
    /// The parts of the path between its slashes.
    package let path: [String]
    private let query: [(name: String, value: String)]
    private let body: Body
    private let form: Form

    /// A body that its reader takes, so that it isn't in memory while the request waits.
    private final class Body: Sendable {
        let isEmpty: Bool
        private let value: Mutex<JSONValue?>

        init(_ value: JSONValue?) {
            isEmpty = value == nil
            self.value = Mutex(value)
        }

        func take() -> JSONValue? {
            value.withLock { value in
                precondition(isEmpty || value != nil, "a body is read once")
                return value.take()
            }
        }
    }

    /// How a reply may look, which the carrier tells.
    struct Form: Sendable {
        /// Whether an alert is to be told in a word.
        var wantsText = false
        /// Whether it came over HTTP, and not as a line.
        var isHTTP = false
        /// What the client has seen of the log, by the head of the request.
        var lastEvent: String?
        /// Its own name for the request; see
        /// <https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/>.
        var idempotencyKey: String?
    }

    /// - Parameter target: The path and the query, such as `/v1/alerts?wait=60s`.
    /// - Throws: ``Problem`` for a target that is none, and for a parameter that comes twice.
    init(
        method: String, target: String, body: JSONValue?, form: Form = Form()
    ) throws(Problem) {
        self.form = form
        guard let parts = URLComponents(string: target), parts.scheme == nil, parts.host == nil,
            parts.fragment == nil, parts.path.hasPrefix("/")
        else { throw .badRequest("“\(SafeText.line(target))” is no path of this service") }
        self.method = method
        // A slash that is escaped divides nothing, and no route has one.
        guard !parts.percentEncodedPath.lowercased().contains("%2f") else {
            throw .noRoute(parts.percentEncodedPath)
        }
        path = parts.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            .map(String.init)
        query = try (parts.queryItems ?? []).map { item throws(Problem) in
            guard let value = item.value else {
                throw .badRequest(
                    "the parameter “\(SafeText.line(item.name))” has no value in UTF-8")
            }
            return (item.name, value)
        }
        self.body = Body(body)
        for (index, item) in query.enumerated()
        where query[..<index].contains(where: { $0.name == item.name }) {
            throw .badRequest("the parameter “\(SafeText.line(item.name))” comes twice")
        }
    }

    /// The same request with another value of a parameter; over HTTP from here.
    func target(setting name: String, to value: String) -> String {
        var parts = URLComponents()
        if !isHTTP { parts.path = "/" + path.joined(separator: "/") }
        parts.queryItems = (query.filter { $0.name != name } + [(name, value)]).map {
            URLQueryItem(name: $0.name, value: $0.value)
        }
        return parts.string ?? parts.path
    }

    // MARK: - The query

    /// Refuses parameters that a route doesn't have.
    func allow(_ names: [String]) throws(Problem) {
        for (name, _) in query where !names.contains(where: name.isIdentical) {
            guard !names.isEmpty else {
                throw .badRequest(
                    "the parameter “\(SafeText.line(name))” is not known; this route has none")
            }
            throw .unknown("parameter", name, known: names)
        }
    }

    func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// How long a reply may wait; `nil` to reply at once.
    func wait() throws(Problem) -> Duration? {
        guard let text = parameter("wait") else { return nil }
        do {
            return min(try DurationText.parse(text), Self.longestWait)
        } catch {
            throw .badRequest("“wait”: \(error)")
        }
    }

    /// Proxies end a connection that has been silent for a minute.
    private static let longestWait = Duration.seconds(55)

    func limit() throws(Problem) -> Int {
        guard let text = parameter("limit") else { return 50 }
        guard let number = Int(text), (1...1000).contains(number), "\(number)" == text else {
            throw .badRequest("“limit” is not a number from 1 to 1000")
        }
        return number
    }

    func time(_ name: String) throws(Problem) -> Date? {
        guard let text = parameter(name) else { return nil }
        guard let date = Timestamp.rfc3339(text) else {
            throw .badRequest(
                "“\(name)” is not a time of RFC 3339, such as 2026-11-20T10:00:00Z")
        }
        return date
    }

    func isTrue(_ name: String) throws(Problem) -> Bool {
        switch parameter(name) {
        case "true", "1": return true
        case "false", "0", nil: return false
        default: throw .badRequest("“\(name)” is not true or false")
        }
    }

    /// The asker that is named.
    func source() throws(Problem) -> String? {
        guard let text = parameter("source") else { return nil }
        guard (1...Alert.Limit.name).contains(text.utf8.count) else {
            throw .badRequest("“source” has not 1 to \(Alert.Limit.name) bytes")
        }
        return text
    }

    /// Whether a body came.
    var hasBody: Bool { !body.isEmpty }

    /// The alert that the path names.
    func id() throws(Problem) -> Alert.ID { try id(path.dropFirst(2).first ?? "") }

    func id(_ text: String) throws(Problem) -> Alert.ID {
        guard let id = Alert.ID(text), id > 0, "\(id)" == text else {
            throw .badRequest("“\(SafeText.line(text))” is not the number of an alert")
        }
        return id
    }

    /// Where an alert is: over HTTP from here, since a proxy may have put this path below another one.
    func location(of id: Alert.ID) -> String {
        guard isHTTP else { return "/v1/alerts/\(id)" }
        return path.count == 2 ? "alerts/\(id)" : "\(id)"
    }

    /// The entry of the log after which the client goes on; `nil` if it says none.
    func cursor() throws(Problem) -> AuditHead? {
        try parameter("after").map { text throws(Problem) in try cursor(text) }
    }

    /// The same for a stream, of which a browser says what it has had in the head.
    func streamCursor() throws(Problem) -> AuditHead? {
        let asked = try cursor()
        return try form.lastEvent.map { text throws(Problem) in try cursor(text) } ?? asked
    }

    /// A head that was kept elsewhere.
    func head() throws(Problem) -> AuditHead? {
        guard let text = parameter("head") else { return nil }
        guard let head = AuditHead(text) else {
            throw .badRequest("“\(SafeText.line(text))” is not a head, SEQUENCE:HASH")
        }
        return head
    }

    private func cursor(_ text: String) throws(Problem) -> AuditHead {
        guard text != "0" else { return .start }
        guard let head = AuditHead(text) else {
            throw .badRequest("“\(SafeText.line(text))” is no cursor, SEQUENCE:HASH, nor 0")
        }
        return head
    }

    /// Whether a response counts as taken once the reply has arrived.
    func isCollecting() throws(Problem) -> Bool {
        guard try isTrue("collect") else { return false }
        guard form.isHTTP else {
            throw .badRequest(
                "“collect” is for HTTP: on lines, POST …/collect once the response has arrived")
        }
        return true
    }

    /// The client's name for the request; `nil` if it gives none.
    func idempotencyKey() throws(Problem) -> IdempotencyKey? {
        guard let text = form.idempotencyKey else { return nil }
        // A string of RFC 8941 has quotes; most clients send none.
        let isQuoted = text.utf8.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let key = isQuoted ? String(text.dropFirst().dropLast()) : text
        guard (1...255).contains(key.utf8.count),
            key.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") })
        else {
            throw .badRequest(
                "“Idempotency-Key” is not 1 to 255 visible ASCII characters other than quotes, such "
                    + "as a UUID")
        }
        return IdempotencyKey(of: key)
    }

    var wantsText: Bool { form.wantsText }
    var isHTTP: Bool { form.isHTTP }

    // MARK: - The body

    /// The members of the body, of which a route knows these; it is read once.
    func members(_ names: [String]) throws(Problem) -> JSONValue {
        let body = body.take() ?? .object([])
        guard let members = body.members else { throw .badRequest("the body is no object of JSON") }
        for (name, _) in members where !names.contains(where: name.isIdentical) {
            throw .unknown("member", name, known: names)
        }
        return body
    }
}

extension JSONValue {
    /// The text of a member; `nil` if it is absent.
    func text(_ name: String) throws(Problem) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string else { throw .badRequest("“\(name)” is not a string") }
        return text
    }

    /// A length of time, whose bounds whoever uses it checks; `nil` if it is absent.
    func length(_ name: String) throws(Problem) -> Duration? {
        guard let value = self[name] else { return nil }
        guard let milliseconds = value.integer else {
            throw .badRequest("“\(name)” is not a whole number of milliseconds")
        }
        return .milliseconds(milliseconds)
    }

    /// Whether a member is true.
    func isTrue(_ name: String) throws(Problem) -> Bool {
        guard let value = self[name] else { return false }
        guard case .bool(let isTrue) = value else {
            throw .badRequest("“\(name)” is not true or false")
        }
        return isTrue
    }
}
