import AlertCore
import HTTP
import TextFormats

/// A reply of the API.
package struct APIReply: Sendable {
    enum Content: Sendable {
        case json(JSONValue)
        /// A text, and its media type.
        case text(String, type: String)
        /// Entries of the log, as they come.
        case events(HTTPStream)
    }

    /// See RFC 9110 §15.
    package var status: Int
    package var headers: [(name: String, value: String)] = []
    var content: Content
    /// The alert whose response the client has taken once this has arrived.
    var collected: Alert.ID?

    init(_ status: Int, _ body: JSONValue, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = headers
        content = .json(body)
    }

    init(_ status: Int, text: String, as type: String) {
        self.status = status
        content = .text(text, type: type)
    }

    init(_ status: Int, following stream: HTTPStream) {
        self.status = status
        content = .events(stream)
    }
}

extension APIReply {
    /// The reply to a request that came as a line.
    func line(_ id: Int) -> [UInt8] {
        let body: JSONValue =
            switch content {
            case .json(let value): value
            case .text(let text, _): .string(text)
            case .events: .null
            }
        let members: [(String, JSONValue)] = [
            ("id", .integer(Int64(id))), ("status", .integer(Int64(status))),
            ("headers", .object(headers.map { ($0.name, .string($0.value)) })), ("body", body),
        ]
        return Array(JSONValue.object(members).line.utf8)
    }
}

extension JSONValue {
    /// The value with the end of its line.
    var line: String { ((try? text()) ?? "null") + "\n" }
}

/// Why a request was not carried out, as problem details; see RFC 9457.
package struct Problem: Error, Sendable {
    package let status: Int
    /// What kind of problem it is, which stays the same: the last part of its `type`.
    private let kind: String
    /// What is wrong, with which part, and what to do.
    package let detail: String
    /// The exit code that the command would have.
    private let code: Int32
    private var retryAfter: Int?
    /// The methods that a route has.
    private var allowed: [String]?
    /// What else programs may want to know.
    private var members: [(String, JSONValue)] = []

    init(_ status: Int, _ kind: String, code: Int32, _ detail: String) {
        (self.status, self.kind, self.code, self.detail) = (status, kind, code, detail)
    }

    package static func badRequest(_ detail: String) -> Problem {
        Problem(400, "bad-request", code: 65, detail)
    }

    static func notFound(_ detail: String) -> Problem {
        Problem(404, "not-found", code: 66, detail)
    }

    static func methodNotAllowed(_ method: String, allowed: [String]) -> Problem {
        var problem = Problem(
            405, "method-not-allowed", code: 65,
            "\(SafeText.line(method)) is not one of this route's methods: "
                + allowed.sorted().joined(separator: ", "))
        problem.allowed = allowed.sorted()
        return problem
    }

    static func noRoute(_ path: String) -> Problem {
        .notFound("there is no route " + SafeText.line(path))
    }

    static func forbidden(_ detail: String) -> Problem {
        Problem(403, "not-permitted", code: 77, detail)
    }

    /// Who asks doesn't say who that is.
    static func unauthorized(_ detail: String) -> Problem {
        Problem(401, "unauthorized", code: 77, detail)
    }

    /// What is no request that is read any further.
    init(_ refusal: HTTPRefusal) {
        let kind = refusal.status == 413 ? "too-large" : "bad-request"
        self.init(refusal.status, kind, code: 65, refusal.reason)
    }

    static var unsupportedMediaType: Problem {
        Problem(
            415, "unsupported-media-type", code: 65,
            "a body has to be JSON: send “Content-Type: application/json”")
    }

    static func misdirected(to host: String, named url: ServiceURL?) -> Problem {
        let other = url.map(\.text) ?? "the name that its --url gives"
        return Problem(
            421, "misdirected", code: 65,
            "“\(SafeText.line(host))” is no name of this service: use localhost, 127.0.0.1, [::1] "
                + "or \(other)")
    }

    static func notAcceptable(_ detail: String) -> Problem {
        Problem(406, "not-acceptable", code: 65, detail)
    }

    static func unknown(_ part: String, _ name: String, known: [String]) -> Problem {
        badRequest(
            "the \(part) “\(SafeText.line(name))” is not known; it is one of "
                + known.joined(separator: ", ") + Suggestion.hint(for: name, among: known))
    }

    static func tooMany(_ reason: String) -> Problem {
        var problem = Problem(503, "unavailable", code: 75, reason + "; try again later")
        problem.retryAfter = 30
        return problem
    }

    /// Another request had this `Idempotency-Key`.
    static func keyReused(_ id: Alert.ID) -> Problem {
        var problem = Problem(
            422, "idempotency-key-reused", code: 16,
            "that “Idempotency-Key” belongs to the request that asked alert \(id), which is another "
                + "question; a new request needs a new key")
        problem.members = [("alert", .integer(id))]
        return problem
    }

    /// Nobody has answered yet.
    static func stillWaiting(_ id: Alert.ID) -> Problem {
        Problem(409, "still-waiting", code: 15, "alert \(id) has no response yet")
    }

    /// The error of a store.
    init(_ error: AlertError) {
        let (status, kind) = Self.form(of: error)
        self.init(status, kind, code: error.cause.rawValue, "\(error)")
        if status == 503 || status == 429 { retryAfter = 5 }
        switch error {
        case .alreadyResolved(let response), .late(let response), .stale(let response, _),
            .noChoice(let response):
            members = [("response", AlertJSON.value(response))]
        case .noSuchButton(_, _, let known):
            members = [("buttons", .array(known.map(JSONValue.string)))]
        case .keyConflict(_, let id, let part):
            members = [("alert", .integer(id)), ("part", .string(part))]
        case .claimed(_, let claim):
            members = [
                ("claimed_by", AlertJSON.responder(claim.by)),
                ("claimed_until", AlertJSON.date(claim.until)),
            ]
        default: break
        }
    }

    private static func form(of error: AlertError) -> (status: Int, kind: String) {
        switch error {
        case .invalid: (400, "invalid")
        case .noSuchButton: (400, "no-such-button")
        case .notFound, .keyNotFound, .missing: (404, "not-found")
        case .unknownCursor: (410, "unknown-cursor")
        case .alreadyResolved, .noChoice: (409, "already-resolved")
        case .late: (409, "late")
        case .stale: (409, "stale")
        case .keyConflict: (409, "key-conflict")
        case .claimed: (409, "claimed")
        case .notAsSeen: (412, "not-as-seen")
        case .tooManyPending, .tooManyPendingOfPrincipal: (429, "too-many-pending")
        case .notYours, .notPermitted: (403, "not-permitted")
        case .busy, .storage, .unreachable, .cancelled, .detached, .closed: (503, "unavailable")
        case .damaged, .incompatible, .inconsistent, .backup, .missingLibrary: (500, "failed")
        }
    }

    package var reply: APIReply {
        let problem: [(String, JSONValue)] = [
            ("type", .string("urn:alertq:problem:" + kind)), ("status", .integer(Int64(status))),
            ("detail", .string(detail)), ("exit_code", .integer(Int64(code))),
        ]
        var reply = APIReply(status, .object(problem + members))
        if let retryAfter { reply.headers.append(("Retry-After", "\(retryAfter)")) }
        if let allowed { reply.headers.append(("Allow", allowed.joined(separator: ", "))) }
        // See RFC 6750.
        if status == 401 { reply.headers.append(("WWW-Authenticate", "Bearer")) }
        return reply
    }
}
