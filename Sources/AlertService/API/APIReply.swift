import AlertCore
import TextFormats

/// A reply of the API.
package struct APIReply: Sendable {
    /// See RFC 9110 §15.
    package var status: Int
    package var headers: [(name: String, value: String)] = []
    package var body: JSONValue

    init(_ status: Int, _ body: JSONValue, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

extension APIReply {
    /// The reply to a request that came as a line.
    func line(_ id: Int) -> [UInt8] {
        let members: [(String, JSONValue)] = [
            ("id", .integer(Int64(id))), ("status", .integer(Int64(status))),
            ("headers", .object(headers.map { ($0.name, .string($0.value)) })), ("body", body),
        ]
        return Array(((try? JSONValue.object(members).text()) ?? "").utf8) + [UInt8(ascii: "\n")]
    }
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
    /// What else programs may want to know.
    private var members: [(String, JSONValue)] = []

    private init(_ status: Int, _ kind: String, code: Int32, _ detail: String) {
        (self.status, self.kind, self.code, self.detail) = (status, kind, code, detail)
    }

    package static func badRequest(_ detail: String) -> Problem {
        Problem(400, "bad-request", code: 65, detail)
    }

    static func notFound(_ detail: String) -> Problem {
        Problem(404, "not-found", code: 66, detail)
    }

    static func methodNotAllowed(_ method: String, allowed: [String]) -> Problem {
        Problem(
            405, "method-not-allowed", code: 65,
            "\(SafeText.line(method)) is not one of this route's methods: "
                + allowed.joined(separator: ", "))
    }

    static func unknown(_ part: String, _ name: String, known: [String]) -> Problem {
        badRequest(
            "the \(part) “\(SafeText.line(name))” is not known; it is one of "
                + known.joined(separator: ", ") + Suggestion.hint(for: name, among: known))
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
        case .notAsSeen: (412, "not-as-seen")
        case .tooManyPending, .tooManyPendingOfPrincipal: (429, "too-many-pending")
        case .notYours, .notPermitted: (403, "not-permitted")
        case .busy, .unreachable, .cancelled, .detached, .closed: (503, "unavailable")
        case .storage, .damaged, .incompatible, .inconsistent, .backup, .missingLibrary:
            (500, "failed")
        }
    }

    package var reply: APIReply {
        let problem: [(String, JSONValue)] = [
            ("type", .string("urn:alertq:problem:" + kind)), ("status", .integer(Int64(status))),
            ("detail", .string(detail)), ("exit_code", .integer(Int64(code))),
        ]
        return APIReply(
            status, .object(problem + members),
            headers: retryAfter.map { [("Retry-After", "\($0)")] } ?? [])
    }
}
