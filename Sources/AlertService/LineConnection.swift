import AlertCore
import FoundationEssentials
import Glibc
import Linux
import Synchronization
import TextFormats

/// A client that sends requests as lines, and gets the replies in any order.
final class LineConnection: Sendable {
    /// How many requests of a client are carried out at once; it is read from again when one has its
    /// reply.
    private static let requestLimit = 256
    /// How much a client may leave unread, in bytes, before the next reply ends its connection.
    private static let backlogLimit = 64 << 20
    /// How long it may read none of that.
    private static let readTime = Duration.seconds(60)

    private struct State {
        var splitter = LineSplitter()
        var requests = 0
        var backlog: [UInt8] = []
        /// When the client last read something; a machine that sleeps has no time.
        var lastProgress = SuspendingClock.now
        /// How many bytes it had not read then, of those that the kernel has.
        var unread: Int32 = 0
        var whenDrained: OneShot<Void>?
        /// Whether nothing more is read.
        var isFinishing = false
        /// Whether nothing more can be sent; the thread of the sockets ends the connection then.
        var isBroken = false
        var isOver = false

        var reads: Bool { !isFinishing && requests < LineConnection.requestLimit }
    }

    private let socket: Descriptor
    private let poller: Poller
    private let state = Mutex(State())
    private let (lines, arrived) = AsyncStream<LineSplitter.Line>.makeStream()
    private let session = Mutex(StoreSession?.none)
    /// What the client says of itself, once it has opened the queue.
    private let told = Mutex(Caller?.none)
    private let api = Mutex(APISession?.none)
    private let work = Mutex(Task<Void, Never>?.none)

    init(_ socket: Descriptor, on poller: Poller) throws(LinuxError) {
        self.socket = socket
        self.poller = poller
        try poller.watch(socket.raw, reads: true)
    }

    // MARK: - On the thread of the sockets

    /// Reads and writes what is possible now; returns whether the connection goes on.
    func proceed() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        return state.withLock { state in
            flush(&state)
            guard !state.isBroken, !state.isOver else { return false }
            guard state.reads else {
                // Otherwise its end would be noticed again and again.
                if state.backlog.isEmpty { poller.forget(socket.raw) } else { watch(state) }
                return true
            }
            let count = read(socket.raw, &buffer, buffer.count)
            guard count >= 0 || errno == EAGAIN || errno == EINTR else { return false }
            if count == 0 {
                if hasHungUp { return false }
                finish(&state)
                return true
            }
            state.splitter.add(buffer[..<max(0, count)]) { line in
                state.requests += 1
                arrived.yield(line)
            }
            watch(state)
            return true
        }
    }

    /// Whether nobody reads at the other end, either; see poll(2).
    private var hasHungUp: Bool {
        var request = pollfd(fd: socket.raw, events: 0, revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Ends the connection, once what was read of it has its replies.
    func finish() { state.withLock { finish(&$0) } }

    private func finish(_ state: inout State) {
        state.isFinishing = true
        watch(state)
        arrived.finish()
    }

    /// Has a task carry out the requests, until ``end()`` at the latest.
    func work(_ body: @escaping @Sendable () async -> Void) {
        work.withLock { work in work = Task { await body() } }
    }

    /// Waits until the client has room for all replies, or is gone.
    func drain() async {
        let drained = OneShot<Void>()
        state.withLock { state in
            state.whenDrained = drained
            if state.backlog.isEmpty || state.isBroken || state.isOver { drained.deliver(()) }
        }
        await drained.value()
    }

    /// Forgets the client, whose connection has ended.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.whenDrained?.deliver(())
            poller.forget(socket.raw)
        }
        shutdown(socket.raw, Int32(SHUT_RDWR))
        arrived.finish()
        session.withLock { $0 }?.end()
        work.withLock { $0 }?.cancel()
    }

    /// Gives up a client that doesn't read its replies, and releases the screens of one that is
    /// silent. It is called each second.
    func endIfStuck() {
        state.withLock { state in
            guard !state.backlog.isEmpty, !state.isBroken, !state.isOver else { return }
            let unread = UnixSocket.unreadBytes(of: socket.raw)
            if unread != state.unread { (state.unread, state.lastProgress) = (unread, .now) }
            if state.lastProgress < .now - Self.readTime { breakOff(&state) }
        }
        session.withLock { $0 }?.releaseSilent()
    }

    private func watch(_ state: State) {
        guard !state.isOver else { return }
        try? poller.watch(
            socket.raw, reads: state.reads || state.isBroken, writes: !state.backlog.isEmpty)
    }

    private func flush(_ state: inout State) {
        guard !state.backlog.isEmpty else { return }
        do throws(LinuxError) {
            let count = try UnixSocket.send(state.backlog[...], to: socket.raw)
            state.backlog.removeFirst(count)
            if state.backlog.isEmpty { state.whenDrained?.deliver(()) }
        } catch {
            breakOff(&state)
        }
    }

    /// Gives up a client that can't be sent to, or doesn't read.
    private func breakOff(_ state: inout State) {
        state.isBroken = true
        shutdown(socket.raw, Int32(SHUT_RDWR))
        state.whenDrained?.deliver(())
        watch(state)
    }

    /// Sends a reply, if there is one, and reads the next request.
    private func send(_ line: [UInt8]?, isCounted: Bool = true) {
        state.withLock { state in
            if isCounted { state.requests -= 1 }
            guard !state.isBroken, !state.isOver else { return }
            guard state.backlog.count <= Self.backlogLimit else { return breakOff(&state) }
            if state.backlog.isEmpty { state.lastProgress = .now }
            state.backlog += line ?? []
            flush(&state)
            watch(state)
        }
    }

    /// Reads the next request before this one has its reply.
    private func uncount() {
        state.withLock { state in
            state.requests -= 1
            watch(state)
        }
    }

    // MARK: - Requests

    /// Carries out the client's requests until its connection ends.
    ///
    /// - Parameter open: Opens the queue for a client that has said what it wants.
    func serve(
        as peer: Peer, _ open: @escaping LineServer.Open
    ) async {
        await withDiscardingTaskGroup { group in
            for await line in lines {
                guard let (request, bytes) = decoded(line) else { continue }
                switch (request.route, session.withLock { $0 }) {
                case (.api(let method, let target), _):
                    let asked = Result { () throws(Problem) in
                        try APIRequest(
                            method: method, target: target, body: try Self.body(in: bytes))
                    }
                    group.addTask { [self] in
                        send(await reply(to: asked, peer, open).line(request.id))
                    }
                case (.open(let opening), nil):
                    send(opened(request.id, opening, peer, open))
                case (.call(let call), let session?):
                    if call.isOrdered {
                        send(await session.reply(to: call, id: request.id))
                        continue
                    }
                    // It may last for as long as the client lives.
                    let isCounted = if case .waitForLeaseEnd = call { false } else { true }
                    if !isCounted { uncount() }
                    group.addTask { [self] in
                        send(
                            await session.reply(to: call, id: request.id), isCounted: isCounted)
                    }
                case (.call, nil): send(LineRefusal(of: request, "comes before “open”").reply)
                case (.open, _?): send(LineRefusal(of: request, "comes twice").reply)
                }
            }
            // Whoever waits for the end of a lease would wait for ever.
            session.withLock { $0 }?.end()
        }
    }

    /// Refuses everything that a client asks for.
    func refuseAll(_ error: AlertError) async {
        for await line in lines {
            guard let (request, _) = decoded(line) else { continue }
            if case .api = request.route {
                send(Problem(error).reply.line(request.id))
            } else {
                send(ServiceReply<Nothing>(id: request.id, value: nil, error: error).line)
            }
        }
    }

    /// Carries out a request of the API.
    private func reply(
        to request: Result<APIRequest, Problem>, _ peer: Peer, _ open: LineServer.Open
    ) async -> APIReply {
        do {
            let request = try request.get()
            let told = told.withLock { $0 }
            let session = try api.withLock { api in
                let session =
                    try api ?? APISession(try open(Opening()), for: peer.telling(told))
                api = session
                return session
            }
            return await session.reply(to: request)
        } catch let problem as Problem {
            return problem.reply
        } catch {
            return Problem(error as? AlertError ?? .closed).reply
        }
    }

    /// The body of a request in a line that is one.
    private static func body(in line: [UInt8]) throws(Problem) -> JSONValue? {
        let request: JSONValue
        do throws(JSONError) {
            request = try JSONValue(parsing: line)
        } catch {
            throw .badRequest("the request can't be read: \(error)")
        }
        let known = ["id", "method", "path", "body"]
        for (name, _) in request.members ?? [] where !known.contains(name) {
            throw .unknown("member of the request", name, known: known)
        }
        return request["body"]
    }

    private func opened(
        _ id: Int, _ opening: Opening, _ peer: Peer,
        _ open: LineServer.Open
    ) -> [UInt8] {
        do throws(AlertError) {
            guard opening.version == Opening.version else {
                throw .incompatible(
                    path: "the service",
                    "is an alertq of another version (it speaks \(Opening.version), and was asked "
                        + "for \(opening.version)): restart it with the new one")
            }
            try opening.told?.validate()
            let queue = try open(opening)
            told.withLock { $0 = opening.told }
            session.withLock { $0 = StoreSession(queue.store, for: peer.telling(opening.told)) }
            return ServiceReply(
                id: id, position: queue.store.position,
                value: Opened(principal: peer.principal, process: peer.process, place: queue.place)
            ).line
        } catch {
            return ServiceReply<Opened>(id: id, value: nil, error: error).line
        }
    }

    private func decoded(
        _ line: LineSplitter.Line
    ) -> (request: ServiceRequest, bytes: [UInt8])? {
        do throws(LineRefusal) {
            guard case .whole(let bytes) = line else { throw .tooLong }
            return (try ServiceRequest(line: bytes), bytes)
        } catch {
            send(error.reply)
            return nil
        }
    }
}

extension StoreCall {
    /// Whether it takes effect before the client's next one is looked at. A client waits for the
    /// replies to others that depend on each other.
    fileprivate var isOrdered: Bool {
        switch self {
        case .post, .release, .endLease: true
        default: false
        }
    }
}
