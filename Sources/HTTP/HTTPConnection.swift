import Glibc
import Synchronization

/// A client that has connected.
package final class HTTPConnection: Sendable {
    /// How long a request may take to arrive, and how long a client may be silent before one.
    private static let patience = Duration.seconds(30)
    /// How long a client may take to read a reply that is no stream.
    private static let replyTime = Duration.seconds(120)

    private struct State {
        /// `nil` once the connection is over.
        var descriptor: Int32?
        /// The request of which the first line has come.
        var exchange: HTTPExchange?
        /// Whether all of it has come.
        var isBusy = false
        /// Since when it has been awaited.
        var since = ContinuousClock.now
        /// When its reply has to have been read.
        var replyEnd: ContinuousClock.Instant?
    }

    private let state: Mutex<State>
    /// What the server's user knows about the client, which ends with the connection.
    package let value = Mutex<(any Sendable)?>(nil)

    init(_ descriptor: Int32) { state = Mutex(State(descriptor: descriptor)) }

    /// Calls a closure with the descriptor of its socket; returns `nil` once that is over.
    package func withDescriptor<Found: Sendable>(
        _ body: @Sendable (Int32) -> Found
    ) -> Found? {
        state.withLock { $0.descriptor.map(body) }
    }

    /// Whether a request is carried out.
    var isBusy: Bool { state.withLock { $0.isBusy } }

    /// Since when it has been silent; `nil` while a request is carried out.
    var silentSince: ContinuousClock.Instant? { state.withLock { $0.isBusy ? nil : $0.since } }

    /// The first line of a request has come.
    func begin(_ exchange: HTTPExchange) {
        state.withLock { state in
            state.exchange = exchange
            state.since = .now
        }
    }

    /// All of it has come.
    func setBusy() { state.withLock { $0.isBusy = true } }

    /// A reply is sent whose end is known.
    func setReplying() { state.withLock { $0.replyEnd = .now + Self.replyTime } }

    /// The request is done, and forgotten.
    func takeExchange() -> HTTPExchange? {
        state.withLock { state in
            (state.isBusy, state.replyEnd) = (false, nil)
            state.since = .now
            return state.exchange.take()
        }
    }

    /// Whether nobody is at the other end, or nobody who will say anything more; see poll(2).
    package var isGone: Bool { withDescriptor(Self.isGone) ?? true }

    private static func isGone(_ descriptor: Int32) -> Bool {
        let ends = Int16(POLLHUP | POLLERR) | 0x2000  // POLLRDHUP, which is hidden.
        var request = pollfd(fd: descriptor, events: ends, revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & ends != 0
    }

    /// Ends it if no request has come for too long, or will come, and gives up a request whose client
    /// has gone.
    func look() {
        let abandoned = state.withLock { state -> HTTPExchange? in
            guard let descriptor = state.descriptor else { return nil }
            if let end = state.replyEnd, .now > end { shutdown(descriptor, Int32(SHUT_RDWR)) }
            if state.isBusy { return Self.isGone(descriptor) ? state.exchange : nil }
            let silence = state.since.duration(to: .now)
            if silence > Self.patience || silence > .seconds(1) && Self.isGone(descriptor) {
                shutdown(descriptor, Int32(SHUT_RDWR))
            }
            return nil
        }
        abandoned?.abandon()
    }

    /// Has its reads and writes fail; the library closes it then.
    func end() { _ = withDescriptor { shutdown($0, Int32(SHUT_RDWR)) } }

    /// Its socket is about to be closed.
    func isOver() {
        state.withLock { $0.descriptor = nil }
        value.withLock { $0 = nil }
    }
}
