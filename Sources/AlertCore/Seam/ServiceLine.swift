import FoundationEssentials

/// A line from a client: `{"id":1,"method":"POST","path":"/store","body":{…}}`.
package struct ServiceRequest: Sendable {
    /// Chosen by the client; the reply has it, too.
    package let id: Int
    package let route: Route

    /// What is asked for.
    package enum Route: Sendable {
        /// `POST /store/open`, a client's first line.
        case open(Opening)
        /// `POST /store`, for clients that are alertq themselves.
        case call(StoreCall)
        /// One of the API, whose body the API reads.
        case api(method: String, target: String)
    }

    package init(id: Int, _ route: Route) {
        self.id = id
        self.route = route
    }
}

extension ServiceRequest: Codable {
    private enum Name: CodingKey { case id, method, path, body }

    private static let (openPath, callPath) = ("/store/open", "/store")

    /// Whether a path is one of the store's protocol.
    package static func isStores(_ path: String) -> Bool { [openPath, callPath].contains(path) }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        id = try members.decode(Int.self, forKey: .id)
        let method = try members.decode(String.self, forKey: .method)
        let path = try members.decode(String.self, forKey: .path)
        switch (method, path) {
        case ("POST", Self.openPath): route = .open(try members.decode(forKey: .body))
        case ("POST", Self.callPath): route = .call(try members.decode(forKey: .body))
        default: route = .api(method: method, target: path)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Name.self)
        try members.encode(id, forKey: .id)
        try members.encode("POST", forKey: .method)
        switch route {
        case .open(let opening):
            try members.encode(Self.openPath, forKey: .path)
            try members.encode(opening, forKey: .body)
        case .call(let call):
            try members.encode(Self.callPath, forKey: .path)
            try members.encode(call, forKey: .body)
        case .api(let method, let target):
            throw EncodingError.invalidValue(
                "\(method) \(target)",
                .init(codingPath: [], debugDescription: "no client of ours uses the API"))
        }
    }
}

extension KeyedDecodingContainer {
    fileprivate func decode<Value: Decodable>(forKey key: Key) throws -> Value {
        try decode(Value.self, forKey: key)
    }
}

/// What a client of the store's protocol says first.
package struct Opening: Sendable, Codable {
    /// The version of the store's protocol, which changes with the values that it carries: a client
    /// and a service of different versions refuse each other.
    package static let version = "alq3-2"

    package var version = Opening.version
    /// The file that the client wants; `nil` for what the service serves.
    package var database: String?
    /// Whether the client only reads, so that no file is made for it.
    package var isReadOnly: Bool?

    /// What a process that relays the client's lines knows of itself, instead of what the client says
    /// to be: its login, and where it was reached from.
    package var told: Caller?

    package init(database: String? = nil, isReadOnly: Bool = false) {
        self.database = database
        self.isReadOnly = isReadOnly ? true : nil
    }
}

/// What a service says to that.
package struct Opened: Sendable, Codable {
    /// On whose behalf the service carries out what this client asks for.
    package var principal: Principal
    /// Which process the service takes the client for: over ssh(1), the one that relays its lines.
    package var process: ProcessIdentity?
    /// The queue, as its service knows it.
    package var place: String

    package init(principal: Principal, process: ProcessIdentity?, place: String) {
        self.principal = principal
        self.process = process
        self.place = place
    }
}

/// A line from a service: `{"id":1,"status":200,"body":{…}}`.
package struct ServiceReply<Value: Codable & Sendable>: Sendable, Codable {
    package var id: Int
    /// 200 for whatever a store says to a call, its errors included; 400 for a line that can't be
    /// read, 404 for a route that isn't there; see RFC 9110 §15.
    package var status: Int
    package var body: Body

    package struct Body: Sendable, Codable {
        /// How far the service has seen the log grow.
        package var position: LogPosition?
        package var value: Value?
        package var error: AlertError?
    }

    package init(
        id: Int, status: Int = 200, position: LogPosition? = nil, value: Value?,
        error: AlertError? = nil
    ) {
        self.id = id
        self.status = status
        body = Body(position: position, value: value, error: error)
    }
}

/// The part of a line that tells which call it belongs to.
package struct ServiceLineHead: Decodable, Sendable {
    package let id: Int
}
