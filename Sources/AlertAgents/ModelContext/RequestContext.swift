import AlertQueue
import TextFormats

/// What a request says about its client, or the handshake before it.
struct RequestContext: Sendable {
    let revision: Revision
    /// What the client calls itself; nobody verifies that.
    private(set) var clientName: String?
    /// Whether the client understands a result that is a task; see
    /// <https://github.com/modelcontextprotocol/ext-tasks>.
    private(set) var takesTasks = false
    /// How to refer to the request in notifications of its progress, if the client wants any.
    private(set) var progressToken: JSONValue?

    static let tasks = "io.modelcontextprotocol/tasks"
    private static let prefix = "io.modelcontextprotocol/"

    /// The context of a client that has not said anything about itself.
    static let unknown = RequestContext(revision: .newestWithHandshake)

    private init(revision: Revision) {
        self.revision = revision
    }

    /// The context of a request without metadata of its own, after a handshake.
    func with(_ meta: JSONValue?) -> RequestContext {
        var context = self
        context.progressToken = Self.token(meta)
        return context
    }

    /// Reads the `initialize` of a handshake.
    init(handshake params: JSONValue) throws(ProtocolError) {
        guard let version = params["protocolVersion"]?.string else {
            throw ProtocolError(
                .invalidParameters, "“protocolVersion” is missing, such as \"2025-11-25\"")
        }
        let revision = Revision(rawValue: version).flatMap { $0.isModern ? nil : $0 }
        // A client that can't speak this one disconnects.
        self.revision = revision ?? .newestWithHandshake
        clientName = params["clientInfo"]?["name"]?.string
    }

    /// Reads the metadata of a single request; `nil` if it names no revision.
    init?(meta: JSONValue?) throws(ProtocolError) {
        guard let version = meta?[Self.prefix + "protocolVersion"] else { return nil }
        guard let revision = version.string.flatMap(Revision.init), revision.isModern else {
            let modern = Revision.allCases.filter(\.isModern).map(\.rawValue)
            throw ProtocolError(
                .unsupportedVersion,
                "“_meta” can name the revision \(modern.joined(separator: ", ")); older ones begin "
                    + "with “initialize”",
                data: .object([
                    ("supported", .array(modern.map(JSONValue.string))), ("requested", version),
                ]))
        }
        self.revision = revision
        let field = Self.prefix + "clientCapabilities"
        guard let capabilities = meta?[field], capabilities.members != nil else {
            throw ProtocolError(.invalidParameters, "“_meta” has no object “\(field)”")
        }
        takesTasks = capabilities["extensions"]?[Self.tasks] != nil
        clientName = meta?[Self.prefix + "clientInfo"]?["name"]?.string
        progressToken = Self.token(meta)
    }

    private static func token(_ meta: JSONValue?) -> JSONValue? {
        RequestID(meta?["progressToken"])?.json
    }

    /// Checks that the client declares the extension for tasks.
    func requireTasks() throws(ProtocolError) {
        guard !takesTasks else { return }
        let missing = JSONValue.object([
            ("extensions", .object([(Self.tasks, .object([]))]))
        ])
        throw ProtocolError(
            .missingCapability, "the request's capabilities don't name \(Self.tasks)",
            data: .object([("requiredCapabilities", missing)]))
    }
}

/// A revision of the Model Context Protocol; see
/// <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>.
enum Revision: String, Sendable, CaseIterable {
    case july2026 = "2026-07-28"
    case november2025 = "2025-11-25"
    case june2025 = "2025-06-18"
    case march2025 = "2025-03-26"
    case november2024 = "2024-11-05"

    /// Whether each request says who sends it and what that client can do, instead of one
    /// handshake for all.
    var isModern: Bool { self == .july2026 }
    /// Whether results have a form for programs, and tools a title and a schema of it.
    var hasStructuredResults: Bool { self >= .june2025 }
    /// Whether several messages may come as an array: that is so in a single revision.
    var hasBatches: Bool { self == .march2025 }
    /// Whether tools have hints about their effects, and notices of progress have words.
    var hasHints: Bool { self >= .march2025 }

    /// What an `initialize` gets that asks for a revision which has none.
    static let newestWithHandshake = november2025
}

extension Revision: Comparable {
    static func < (left: Revision, right: Revision) -> Bool { left.rawValue < right.rawValue }
}
