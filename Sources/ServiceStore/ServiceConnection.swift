import AlertCore
import FoundationEssentials
import Glibc
import Linux
import Synchronization

/// A connection to a service, which is made again whenever it breaks.
///
/// A call that had no reply by then is sent again: a change has a request id, with which the service,
/// or another one of the same queue, finds it. What belongs to one connection, such as a lease, is
/// lost with it.
package final class ServiceConnection: Sendable {
    /// How long a service that is away is waited for, before a call fails.
    package static let patience = Duration.seconds(120)

    /// After which time a service that is away when a queue is opened is told of.
    private static let silence = Duration.seconds(1)
    /// How long connecting to a socket may take, and the first reply then, in seconds.
    private static let greetingTime = 5
    /// How often a call is sent, before it counts as one that no service answers.
    private static let attemptLimit = 20
    /// How long a line of a service may be, in bytes: a page of the longest alerts.
    private static let lineLimit = 1 << 30

    /// A reply, and the connection over which it came.
    package struct Reply: Sendable {
        let line: Data
        package let link: Int
    }

    package typealias Finish = @Sendable (Result<Reply, AlertError>) -> Void

    private struct Call {
        let line: [UInt8]
        /// The connection to which it belongs; `nil` for any.
        let link: Int?
        /// Whether something may be stored even if its reply never comes.
        let isCommit: Bool
        var attempts = 0
        let patience: Duration
        /// When it fails if there is no connection by then.
        var end: ContinuousClock.Instant
        let finish: Finish

        /// Ends it because the service is away.
        func giveUp(_ error: AlertError) {
            guard isCommit, attempts > 0 else { return finish(.failure(error)) }
            finish(
                .failure(
                    .storage(
                        operation: "store this",
                        "\(error), and it is not known whether it did")))
        }
    }

    /// One connection.
    private final class Link: Sendable {
        let socket: Descriptor
        /// What carries it; `nil` for a socket of this machine.
        let remote: RemoteService?
        let number: Int

        init(_ line: Line, number: Int) {
            (socket, remote) = line
            self.number = number
        }

        /// Lets both sides see that it has ended.
        func end() { shutdown(socket.raw, Int32(SHUT_RDWR)) }
    }

    /// What lines are sent and received through.
    private typealias Line = (socket: Descriptor, remote: RemoteService?)

    private struct State {
        var link: Link?
        var linkCount = 0
        var calls: [Int: Call] = [:]
        /// What the other side has no room for yet.
        var unsent: [UInt8] = []
        /// What the service has said first on the last connection.
        var opened: Opened?
        /// Whether nobody waits for a service that is away any longer.
        var isEnding = false
        /// Who waits until the first connection is there.
        var opening: OneShot<Result<Greeting, AlertError>>?
        /// Why there will be no connection any more.
        var failure: AlertError?
    }

    private let location: ServiceLocation
    private let first: Opening
    private let patience: Duration
    private let onAway: @Sendable (AlertError) -> Void
    private let onLoss: @Sendable () -> Void
    private let lastID = Atomic<Int>(0)
    private let state = Mutex(State())

    /// What a service has said first, and how far its log went then.
    package typealias Greeting = (opened: Opened, position: LogPosition?)

    /// - Parameters:
    ///   - onAway: Called once if the service is away for a second when it is first connected to.
    ///   - onLoss: Called when a connection is lost, and what belonged to it.
    package init(
        to location: ServiceLocation, saying opening: Opening, patience: Duration = patience,
        onAway: @escaping @Sendable (AlertError) -> Void, onLoss: @escaping @Sendable () -> Void
    ) {
        self.location = location
        first = opening
        self.patience = patience
        self.onAway = onAway
        self.onLoss = onLoss
    }

    /// Connects, and returns what the service says.
    package nonisolated(nonsending) func open() async throws(AlertError) -> Greeting {
        let opening = OneShot<Result<Greeting, AlertError>>()
        state.withLock { $0.opening = opening }
        DedicatedThread.start { self.run() }
        return try await opening.value().get()
    }

    /// Ends the connection; calls without a reply fail with ``AlertError/closed``.
    package func close() { fail(with: .closed) }

    /// What the service has said first, now or before the connection was lost.
    package var opened: Opened? { state.withLock { $0.opened } }

    /// Whether a connection is the current one.
    package func isCurrent(_ link: Int) -> Bool { state.withLock { $0.link?.number == link } }

    /// Waits no longer for a service that is away.
    package func stopWaiting() {
        let isAway = state.withLock { state in
            state.isEnding = true
            return state.opened != nil && state.link == nil
        }
        if isAway { failCalls(with: .unreachable("is away")) { _, _ in true } }
    }

    private func fail(with error: AlertError) {
        let (link, calls) = state.withLock { state in
            state.failure = state.failure ?? error
            defer { (state.link, state.calls, state.unsent) = (nil, [:], []) }
            return (state.link, state.calls.values.map { $0 })
        }
        link?.end()
        for call in calls { call.finish(.failure(error)) }
        finishOpening(.failure(error))
    }

    // MARK: - Calls

    /// Makes a call, and returns its number.
    ///
    /// - Parameters:
    ///   - link: The connection to which it belongs, if it means nothing on another one.
    ///   - patience: How long it waits for a service that is away; `nil` for as long as calls do.
    ///   - finish: Called once, on any thread, with the reply.
    @discardableResult
    package func call(
        _ call: StoreCall, on link: Int? = nil, patience: Duration? = nil,
        _ finish: @escaping Finish
    ) -> Int {
        let id = lastID.add(1, ordering: .relaxed).newValue
        let patience = patience ?? self.patience
        let error: AlertError?
        do throws(AlertError) {
            let isCommit = if case .commit = call { true } else { false }
            let new = Call(
                line: try Self.line(ServiceRequest(id: id, .call(call))), link: link,
                isCommit: isCommit, patience: patience, end: .now + patience, finish: finish)
            error = state.withLock { state -> AlertError? in
                if let failure = state.failure { return failure }
                if let link, state.link?.number != link { return .detached }
                state.calls[id] = new
                send(id, &state)
                return nil
            }
        } catch let refusal {
            error = refusal
        }
        if let error { finish(.failure(error)) }
        return id
    }

    /// Ends a call early; its reply is ignored.
    package func cancel(_ id: Int, _ operation: String) {
        state.withLock { $0.calls.removeValue(forKey: id) }?.finish(
            .failure(.cancelled(operation)))
    }

    private static func line(_ request: ServiceRequest) throws(AlertError) -> [UInt8] {
        guard let line = try? JSONEncoder().encode(request) else {
            throw .invalid("request", "can't be written as JSON")
        }
        guard line.count <= LineSplitter.limit else {
            throw .invalid(
                "request", "has \(line.count) bytes as JSON; at most \(LineSplitter.limit)")
        }
        return Array(line) + [UInt8(ascii: "\n")]
    }

    // MARK: - Sending

    private func send(_ id: Int, _ state: inout State) {
        guard let link = state.link, let call = state.calls[id] else { return }
        state.calls[id]?.attempts += 1
        let isFirst = state.unsent.isEmpty
        state.unsent += call.line
        guard isFirst else { return }
        sendNow(on: link, &state)
        if !state.unsent.isEmpty { DedicatedThread.start { self.sendRest(on: link) } }
    }

    /// Sends what the other side has room for. A connection that has broken is noticed by its reader.
    private func sendNow(on link: Link, _ state: inout State) {
        let count = (try? UnixSocket.send(state.unsent[...], to: link.socket.raw)) ?? 0
        state.unsent.removeFirst(count)
    }

    private func sendRest(on link: Link) {
        var isDone = false
        while !isDone {
            var request = pollfd(fd: link.socket.raw, events: Int16(POLLOUT), revents: 0)
            _ = poll(&request, 1, -1)
            let hasEnded = request.revents & Int16(POLLERR | POLLHUP) != 0
            isDone = state.withLock { state in
                guard state.link === link, !hasEnded else { return true }
                sendNow(on: link, &state)
                return state.unsent.isEmpty
            }
        }
    }

    // MARK: - The connection's thread

    private func run() {
        var pause = Duration.zero
        while let link = connect(after: pause) {
            let start = ContinuousClock.now
            receive(on: link)
            lose(link)
            link.remote?.end()
            // A service that ends each connection at once would be asked without a pause.
            pause = start.duration(to: .now) < .seconds(1) ? .milliseconds(100) : .zero
        }
    }

    /// Connects, as often as it takes; `nil` once that is no longer wanted, or will never succeed.
    private func connect(after first: Duration) -> Link? {
        var pause = first
        let start = ContinuousClock.now
        var isSilent = state.withLock { $0.opened == nil }
        while state.withLock({ $0.failure == nil }) {
            usleep(UInt32(pause / .microseconds(1)))
            pause = min(max(pause * 2, .milliseconds(10)), longestPause)
            do throws(AlertError) {
                let (line, greeting) = try reach()
                return take(line, greeting)
            } catch {
                guard mayPass(error) else {
                    fail(with: error)
                    return nil
                }
                giveUp(with: error, isFirstOver: .now >= start + patience)
                if isSilent, .now >= start + Self.silence {
                    isSilent = false
                    onAway(error)
                }
            }
        }
        return nil
    }

    /// Whether connecting again may help. Once there was a connection, all that may change again but a
    /// service of another version.
    private func mayPass(_ error: AlertError) -> Bool {
        guard state.withLock({ $0.opened != nil }) else { return error.isServerAway }
        return if case .incompatible = error { false } else { true }
    }

    /// A host counts those who try to log in.
    private var longestPause: Duration { location.isElsewhere ? .seconds(5) : .seconds(1) }

    /// Fails the calls that have waited long enough.
    private func giveUp(with error: AlertError, isFirstOver: Bool) {
        let isOver = state.withLock { $0.opened == nil && (isFirstOver || $0.isEnding) }
        if isOver { return fail(with: error) }
        failCalls(with: error) { $1.isEnding || $0.end <= .now }
    }

    private func failCalls(with error: AlertError, where isOver: (Call, State) -> Bool) {
        let over = state.withLock { state in
            let over = state.calls.filter { isOver($0.value, state) }
            for id in over.keys { state.calls[id] = nil }
            return over.values.map { $0 }
        }
        for call in over { call.giveUp(error) }
    }

    private func finishOpening(_ result: Result<Greeting, AlertError>) {
        state.withLock { state in
            defer { state.opening = nil }
            return state.opening
        }?.deliver(result)
    }

    /// Connects to one of the services, and says which queue is wanted.
    private func reach() throws(AlertError) -> (Line, Greeting) {
        var failure = AlertError.unreachable("is away")
        for endpoint in location.endpoints where isWanted(since: .now) {
            do throws(AlertError) {
                return try reach(endpoint)
            } catch {
                guard mayPass(error) else { throw error }
                failure = error
            }
        }
        throw failure
    }

    /// Whether a connection is still waited for.
    ///
    /// - Parameter start: When it began; a process that ends doesn't wait for long.
    private func isWanted(since start: ContinuousClock.Instant) -> Bool {
        let time = start.duration(to: .now)
        return state.withLock { state in
            guard state.failure == nil else { return false }
            return !state.isEnding
                || (state.opened != nil && !state.calls.isEmpty
                    && time < .seconds(Self.greetingTime))
        }
    }

    private func reach(_ endpoint: ServiceLocation.Endpoint) throws(AlertError) -> (Line, Greeting)
    {
        switch endpoint {
        case .socket(let path):
            let socket = try socket(at: path)
            return ((socket, nil), try greet(socket, at: path, within: Self.greetingTime))
        case .host(let destination):
            let remote = try remote(at: destination)
            do throws(AlertError) {
                let greeting = try greet(
                    remote.socket, at: "\(destination)", within: RemoteService.greetingTime)
                remote.forgetMessages()
                return ((remote.socket, remote), greeting)
            } catch {
                let reason = remote.failure(otherwise: error)
                // A service that has said why is believed.
                throw error.isServerAway ? reason : error
            }
        }
    }

    private func socket(at path: String) throws(AlertError) -> Descriptor {
        do throws(LinuxError) {
            return try UnixSocket.connect(to: path, within: Self.greetingTime)
        } catch {
            guard [ENAMETOOLONG, ENOTSOCK, EPROTOTYPE].allSatisfy({ $0 != error.code }),
                !error.isRefusal
            else { throw AlertError(error, path: path) }
            throw .unreachable("can't be reached at \(path): \(error.reason)")
        }
    }

    private func remote(
        at destination: ServiceLocation.Destination
    ) throws(AlertError) -> RemoteService {
        do throws(LinuxError) {
            return try RemoteService(at: destination)
        } catch {
            switch error.code {
            case ENOENT:
                throw .missing(
                    location: "\(destination)",
                    "ssh is not installed: apt-get install openssh-client")
            case EACCES, ENOTDIR, ELOOP: throw .notPermitted(path: "ssh", error.reason)
            default: throw .unreachable("can't be reached at \(destination): \(error.reason)")
            }
        }
    }

    private func greet(
        _ socket: Descriptor, at place: String, within seconds: Int
    ) throws(AlertError) -> Greeting {
        let silence = AlertError.unreachable("says nothing at \(place)")
        // Each read looks again whether the reply is still waited for.
        UnixSocket.setTimeLimit(1, of: socket)
        // There is room for it, and a program that uses the library may not ignore SIGPIPE.
        // The blanks mean nothing to a service; one of HTTP replies after them that this is no request.
        let request = try Self.line(ServiceRequest(id: 0, .open(first)))
        let line = request.dropLast() + Array(" \n\n".utf8)
        guard (try? UnixSocket.send(line[...], to: socket.raw)) == line.count else {
            throw silence
        }
        let start = ContinuousClock.now
        var reply: [UInt8] = []
        // Nothing else comes before the next request; what isn't a service may say more.
        while !reply.contains(UInt8(ascii: "\n")) {
            guard let bytes = socket.read() else {
                guard start.duration(to: .now) < .seconds(seconds), isWanted(since: start) else {
                    throw silence
                }
                failCalls(with: silence) { call, _ in call.end <= .now }
                continue
            }
            guard !bytes.isEmpty, reply.count < LineSplitter.limit else { throw silence }
            reply += bytes
        }
        guard
            let body = try? JSONDecoder().decode(ServiceReply<Opened>.self, from: Data(reply)).body
        else { throw .incompatible(path: place, "is no service of an alertq of this version") }
        if let error = body.error { throw error }
        guard let opened = body.value else { throw silence }
        UnixSocket.setTimeLimit(nil, of: socket)
        return (opened, body.position)
    }

    /// Makes a connection the current one, and sends what is waiting for a reply.
    private func take(_ line: Line, _ greeting: Greeting) -> Link? {
        failCalls(with: .unreachable("has ended the connection each time it was asked this")) {
            call, _ in call.attempts >= Self.attemptLimit
        }
        let link = state.withLock { state -> Link? in
            guard state.failure == nil else { return nil }
            state.linkCount += 1
            let link = Link(line, number: state.linkCount)
            (state.link, state.opened) = (link, greeting.opened)
            for id in state.calls.keys.sorted() { send(id, &state) }
            return link
        }
        if link != nil {
            finishOpening(.success(greeting))
        } else {
            line.remote?.end()
        }
        return link
    }

    private func receive(on link: Link) {
        var splitter = LineSplitter(limit: Self.lineLimit)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(link.socket.raw, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            splitter.add(buffer[..<count]) { line in
                if case .whole(let bytes) = line { receive(Data(bytes), on: link) }
            }
        }
    }

    private func receive(_ line: Data, on link: Link) {
        guard let id = try? JSONDecoder().decode(ServiceLineHead.self, from: line).id else {
            return
        }
        let call = state.withLock { $0.calls.removeValue(forKey: id) }
        call?.finish(.success(Reply(line: line, link: link.number)))
    }

    /// Forgets a connection that has broken, and what belonged to it.
    private func lose(_ link: Link) {
        state.withLock { state in
            if state.link === link { (state.link, state.unsent) = (nil, []) }
            for (id, call) in state.calls { state.calls[id]?.end = .now + call.patience }
        }
        onLoss()
        failCalls(with: .detached) { call, _ in call.link == link.number }
    }
}

extension ServiceConnection.Reply {
    /// The value in the reply; `nil` if it has none.
    ///
    /// - Throws: The error that is there instead.
    package func value<Value: Codable & Sendable>(
        _ type: Value.Type
    ) throws(AlertError) -> (Value?, LogPosition?) {
        let body: ServiceReply<Value>.Body
        do {
            body = try JSONDecoder().decode(ServiceReply<Value>.self, from: line).body
        } catch {
            throw .storage(operation: "read a reply of the service", "\(error)")
        }
        if let error = body.error { throw error }
        return (body.value, body.position)
    }
}
