import AlertCore
import FoundationEssentials
import TextFormats

/// A request of the API, whichever carrier has brought it.
package struct APIRequest: Sendable {
    package let method: String
    /// The parts of the path between its slashes.
    package let path: [String]
    private let query: [(name: String, value: String)]
    private let body: JSONValue?

    /// - Parameter target: The path and the query, such as `/v1/alerts?wait=60s`.
    /// - Throws: ``Problem`` for a target that is none, and for a parameter that comes twice.
    package init(method: String, target: String, body: JSONValue?) throws(Problem) {
        guard let parts = URLComponents(string: target), parts.scheme == nil, parts.host == nil,
            parts.fragment == nil, parts.path.hasPrefix("/")
        else { throw .badRequest("“\(SafeText.line(target))” is no path of this service") }
        self.method = method
        path = parts.path.split(separator: "/").map(String.init)
        query = try (parts.queryItems ?? []).map { item throws(Problem) in
            guard let value = item.value else {
                throw .badRequest(
                    "the parameter “\(SafeText.line(item.name))” has no value in UTF-8")
            }
            return (item.name, value)
        }
        self.body = body
        guard method != "GET" || body == nil else { throw .badRequest("GET has no body") }
        for (index, item) in query.enumerated()
        where query[..<index].contains(where: { $0.name == item.name }) {
            throw .badRequest("the parameter “\(SafeText.line(item.name))” comes twice")
        }
    }

    /// The same request with another value of a parameter.
    func target(setting name: String, to value: String) -> String {
        var parts = URLComponents()
        parts.path = "/" + path.joined(separator: "/")
        parts.queryItems = (query.filter { $0.name != name } + [(name, value)]).map {
            URLQueryItem(name: $0.name, value: $0.value)
        }
        return parts.string ?? parts.path
    }

    // MARK: - The query

    /// Refuses parameters that a route doesn't have.
    func allow(_ names: String...) throws(Problem) {
        for (name, _) in query where !names.contains(name) {
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
        guard let number = Int(text), (1...1000).contains(number) else {
            throw .badRequest("“limit” is not a number from 1 to 1000")
        }
        return number
    }

    func time(_ name: String) throws(Problem) -> Date? {
        guard let text = parameter(name) else { return nil }
        let format = Date.ISO8601FormatStyle()
        guard let date = Timestamp.date(text) ?? (try? format.parse(text)) else {
            throw .badRequest(
                "“\(name)” is not a time of RFC 3339, such as 2026-11-20T10:00:00Z")
        }
        return date
    }

    func isTrue(_ name: String) throws(Problem) -> Bool {
        switch parameter(name) {
        case "true": return true
        case "false", nil: return false
        default: throw .badRequest("“\(name)” is not true or false")
        }
    }

    func id(_ text: String) throws(Problem) -> Alert.ID {
        guard let id = Alert.ID(text), id > 0 else {
            throw .badRequest("“\(SafeText.line(text))” is not the number of an alert")
        }
        return id
    }

    // MARK: - The body

    /// The members of the body, of which a route knows these.
    func members(_ names: [String]) throws(Problem) -> JSONValue {
        let body = body ?? .object([])
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

    /// Whether a member is true.
    func isTrue(_ name: String) throws(Problem) -> Bool {
        guard let value = self[name] else { return false }
        guard case .bool(let isTrue) = value else {
            throw .badRequest("“\(name)” is not true or false")
        }
        return isTrue
    }
}
