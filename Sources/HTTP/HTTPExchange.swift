import CMicroHTTPD
import Synchronization

/// A request and its reply, for as long as the library knows it.
final class HTTPExchange: Sendable {
    private struct State {
        /// `nil` before the head has come, and after the end.
        var connection: ConnectionPointer?
        var request: HTTPRequest?
        var body: [UInt8] = []
        var reply: HTTPReply?
        var work: Task<Void, Never>?
    }

    private let server: HTTPServer
    /// `nil` for one that isn't UTF-8.
    private let target: String?
    private let state = Mutex(State())

    init(_ target: String?, of server: HTTPServer) {
        (self.target, self.server) = (target, server)
    }

    // MARK: - On the thread of the connections

    /// Goes on with what has come; returns whether the connection does.
    ///
    /// It is called once the head has come, with each part of the body, at the end of that, and when
    /// it has been resumed.
    func proceed(
        _ connection: ConnectionPointer, method: String, _ data: UnsafeRawBufferPointer
    ) -> Bool {
        if !data.isEmpty {
            return state.withLock { state in
                guard state.request != nil else { return false }
                state.body += data
                return state.body.count <= HTTPRequest.bodyLimit
            }
        }
        let (reply, request, isUnderWay) = state.withLock { state in
            (state.reply, state.request, state.work != nil)
        }
        if let reply { return send(reply, over: connection) }
        guard let request else { return begin(connection, method: method) }
        request.connection.setBusy()
        guard suspend() else { return send(server.stopped, over: connection) }
        guard !isUnderWay else { return true }
        let work = Task { [server] in
            let reply = await server.handler.reply(to: request) { self.takeBody() }
            self.take(reply)
            self.resume()
        }
        state.withLock { if $0.reply == nil { $0.work = work } }
        return true
    }

    /// Keeps the reply, unless another one was sent meanwhile, since the server ends.
    private func take(_ reply: HTTPReply) {
        let isLate = state.withLock { state in
            // A stream goes on for hours, and a task that is kept keeps the memory of its calls.
            state.work = nil
            guard state.reply == nil else { return true }
            state.reply = reply
            return false
        }
        if isLate, case .stream(let stream) = reply.content { stream.isGone() }
    }

    private func takeBody() -> [UInt8] {
        state.withLock { state in
            defer { state.body = [] }
            return state.body
        }
    }

    private func begin(_ connection: ConnectionPointer, method: String) -> Bool {
        guard let client = server.connection(of: connection) else { return false }
        guard !server.isEnding else { return send(server.stopped, over: connection) }
        do throws(HTTPRefusal) {
            let request = try HTTPRequest(
                method: method, target: target, pairs: server.pairs(of: connection),
                connection: client)
            if let reply = server.handler.refusal(of: request) {
                return send(reply.ending, over: connection)
            }
            state.withLock { state in
                state.connection = connection
                state.request = request
            }
            return true
        } catch {
            return send(server.handler.reply(to: error).ending, over: connection)
        }
    }

    private func send(_ reply: HTTPReply, over connection: ConnectionPointer) -> Bool {
        // A stream goes on to read from this exchange.
        let isHead = state.withLock { state in
            state.connection = connection
            state.reply = reply
            return state.request?.method == "HEAD"
        }
        // libmicrohttpd 0.9.75 would send the end of the stream.
        if isHead, case .stream = reply.content {
            let head = HTTPReply(reply.status, reply.fields, .bytes([])).ending
            return server.send(head, over: connection, for: self)
        }
        if case .bytes = reply.content { server.connection(of: connection)?.setReplying() }
        return server.send(reply, over: connection, for: self)
    }

    /// Has the library leave the connection alone until ``resume()``; returns `false` if the server
    /// ends.
    func suspend() -> Bool {
        guard let connection = state.withLock({ $0.connection }) else { return false }
        return server.suspend(connection)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard case .stream(let stream) = state.withLock({ $0.reply })?.content else { return nil }
        return stream.read(into: buffer, for: self)
    }

    /// The library forgets it.
    ///
    /// - Parameter hasArrived: Whether all of its reply has been taken.
    func end(hasArrived: Bool) {
        let (request, reply, work) = state.withLock { state in
            state.connection = nil
            return (state.request, state.reply, state.work)
        }
        work?.cancel()
        if case .stream(let stream) = reply?.content { stream.isGone() }
        if hasArrived, request?.connection.isGone == false { reply?.onArrival?() }
    }

    // MARK: - From anywhere

    /// Has the library go on.
    func resume() {
        guard let connection = state.withLock({ $0.connection }) else { return }
        server.resume(connection)
    }

    /// Its client has gone, which the library doesn't notice while it leaves the connection alone.
    func abandon() {
        let (reply, work) = state.withLock { ($0.reply, $0.work) }
        work?.cancel()
        if case .stream(let stream) = reply?.content { stream.end() }
    }
}
