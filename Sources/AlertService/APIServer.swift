import AlertCore
import FoundationEssentials
import HTTP
import Linux
import Synchronization
import TextFormats

/// Serves the API over HTTP.
package final class APIServer: HTTPHandler {
    /// By what it knows a client.
    package enum Proof: Sendable {
        /// The kernel's word about the other end of a Unix socket.
        case kernel
        /// A secret that a client sends.
        case token(ServiceToken)
    }

    private let queue: OpenQueue
    private let proof: Proof
    /// Where clients reach it, beside the names of this machine.
    private let url: ServiceURL?
    private let server = Mutex(HTTPServer?.none)
    /// How many responses are being marked as taken.
    private let collecting = Mutex(0)

    /// Starts to serve.
    ///
    /// - Parameter listener: A socket that listens, and doesn't block.
    /// - Throws: ``AlertError/missingLibrary(_:)``, and ``AlertError/storage(operation:_:)`` where
    ///   no thread can be started.
    init(
        _ queue: OpenQueue, on listener: Descriptor, knowing proof: Proof, at url: ServiceURL?
    ) throws(AlertError) {
        self.queue = queue
        self.proof = proof
        self.url = url
        let stopped = Self.http(Problem(.closed).reply)
        do {
            let made = try HTTPServer(on: listener, stopped: stopped, self)
            server.withLock { $0 = made }
        } catch let missing as MissingLibrary {
            throw .missingLibrary("the API over HTTP \(missing)")
        } catch {
            throw .storage(operation: "serve HTTP", "\(error)")
        }
    }

    /// Whether its thread is not stuck.
    func isTurning() async -> Bool { await server.withLock { $0 }?.isTurning() ?? true }

    /// Returns once the requests that have come are done, or have been carried out for as long as
    /// `patience`.
    func stop(within patience: Duration) async {
        let end = ContinuousClock.now + patience
        await server.withLock { $0.take() }?.stop(within: patience)
        while collecting.withLock({ $0 > 0 }), .now < end {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    // MARK: - Heads

    package func refusal(of request: HTTPRequest) -> HTTPReply? {
        do throws(Problem) {
            try check(request)
            return nil
        } catch {
            return Self.http(error.reply)
        }
    }

    package func reply(to refusal: HTTPRefusal) -> HTTPReply {
        Self.http(Problem(refusal).reply)
    }

    private func check(_ request: HTTPRequest) throws(Problem) {
        let host = request.value("host") ?? ""
        guard Self.isLoopback(host) || url?.isHost(host) == true else {
            throw .misdirected(to: host, named: url)
        }
        if let origin = request.value("origin") {
            let own = Self.isLoopback(host) ? ["http://" + host, "https://" + host] : []
            guard (own + [url?.origin].compactMap(\.self)).contains(where: origin.isIdentical)
            else {
                throw .forbidden("the page of “\(SafeText.line(origin))” is not this service's")
            }
        }
        let length = request.value("content-length") ?? "0"
        if length.contains(where: { $0 != "0" }) {
            let type = request.value("content-type") ?? ""
            let media = type.prefix { $0 != ";" && $0 != " " }.lowercased()
            guard media == "application/json" else {
                throw .unsupportedMediaType
            }
        }
        _ = try standing(of: request)
    }

    /// Whether a host, with or without a port, is a name of this machine alone.
    static func isLoopback(_ host: String) -> Bool {
        var name = host[...]
        if let colon = name.lastIndex(of: ":"), !name.hasSuffix("]") {
            let port = name[colon...].dropFirst()
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
            name = name[..<colon]
        }
        return ["localhost", "127.0.0.1", "[::1]"].contains(name.lowercased())
    }

    /// Who may do what.
    private enum Standing {
        case known
        /// May know whether the service is ready, and nothing else.
        case anybody
    }

    /// Refuses a client that doesn't say who it is; on every carrier a token has to be a true one.
    private func standing(of request: HTTPRequest) throws(Problem) -> Standing {
        let given = request.value("authorization")
        switch proof {
        case .kernel:
            guard given == nil else {
                throw .unauthorized("a token is not needed here: the kernel says who asks")
            }
        case .token(let token):
            if given == nil, request.isAboutHealth { return .anybody }
            guard let given, given.prefix(7).lowercased() == "bearer " else {
                throw .unauthorized("send “Authorization: Bearer TOKEN”, of \(token.place)")
            }
            guard token.isIdentical(to: String(given.dropFirst(7))) else {
                throw .unauthorized("that is not the token of \(token.place)")
            }
        }
        return .known
    }

    // MARK: - Requests

    package func reply(
        to request: HTTPRequest, _ takeBody: @Sendable () -> [UInt8]
    ) async -> HTTPReply {
        do {
            if try standing(of: request) == .anybody {
                _ = try await queue.store.pendingCount()
                return Self.http(
                    APIReply(
                        200, .object([("ready", .bool(true))]), headers: [("Connection", "close")]))
            }
            let session = try await session(of: request.connection)
            let reply = await session.reply(to: try Self.request(request, takeBody()))
            var sent = Self.http(reply)
            if let alert = reply.collected {
                sent.onArrival = { self.collect(alert, for: session) }
            }
            return sent
        } catch let problem as Problem {
            return Self.http(problem.reply)
        } catch {
            return Self.http(Problem(error as? AlertError ?? .closed).reply)
        }
    }

    /// Marks a response as taken, whose reply has arrived.
    private func collect(_ alert: Alert.ID, for session: APISession) {
        collecting.withLock { $0 += 1 }
        Task {
            // If that fails, it is as if the client had not been there: it gets the response again.
            try? await session.manager.collect(alert)
            collecting.withLock { $0 -= 1 }
        }
    }

    /// What the client of a connection does.
    private func session(of connection: HTTPConnection) async throws -> APISession {
        // A connection carries out one request at a time.
        if let session = connection.value.withLock({ $0 as? APISession }) { return session }
        let session = try APISession(queue, for: try await peer(of: connection))
        connection.value.withLock { $0 = session }
        return session
    }

    private func peer(of connection: HTTPConnection) async throws(AlertError) -> Peer {
        switch proof {
        case .token(let token): return .token(token.name)
        case .kernel:
            guard let found = connection.withDescriptor({ try? SocketPeer(of: $0) }) ?? nil else {
                throw .closed
            }
            return try await Peer.of(found)
        }
    }

    private static func request(
        _ request: HTTPRequest, _ bytes: [UInt8]
    ) throws(Problem) -> APIRequest {
        var body: JSONValue?
        if !bytes.isEmpty {
            do throws(JSONError) {
                body = try JSONValue(parsing: bytes)
            } catch {
                throw .badRequest("the body can't be read: \(error)")
            }
        }
        let accepted = request.list("accept").map { $0.prefix { $0 != ";" && $0 != " " } }
        return try APIRequest(
            // What is asked of the head is found out alike.
            method: request.method == "HEAD" ? "GET" : request.method, target: request.target,
            body: body,
            form: APIRequest.Form(
                wantsText: accepted.first == "text/plain", isHTTP: true,
                lastEvent: request.value("last-event-id"),
                idempotencyKey: request.value("idempotency-key")))
    }

    // MARK: - Replies

    private static func http(_ reply: APIReply) -> HTTPReply {
        var fields = reply.headers.map { HTTPField($0.name, $0.value) }
        fields.append(HTTPField("Cache-Control", "no-store"))
        let (type, content): (String, HTTPReply.Content) =
            switch reply.content {
            case .json(let value):
                (
                    reply.status >= 400 ? "application/problem+json" : "application/json",
                    .bytes(Array(value.line.utf8))
                )
            case .text(let text, let type): (type, .bytes(Array(text.utf8)))
            case .events(let stream): ("text/event-stream", .stream(stream))
            }
        fields.append(HTTPField("Content-Type", type))
        // Otherwise nginx would hold it back.
        if case .stream = content { fields.append(HTTPField("X-Accel-Buffering", "no")) }
        return HTTPReply(reply.status, fields, content)
    }
}

extension HTTPRequest {
    fileprivate var isAboutHealth: Bool {
        ["GET", "HEAD"].contains(method) && target.isIdentical(to: "/v1/health")
    }
}
