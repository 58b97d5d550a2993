import Glibc
import Synchronization

/// A reply that goes on for as long as both sides want.
package final class HTTPStream: Sendable {
    /// How much a client may leave unread, in bytes, before its stream ends.
    private static let backlogLimit = 1 << 20
    /// How much may be unread before one who is patient waits.
    private static let lowWater = 64 << 10

    private struct State {
        var backlog: ArraySlice<UInt8> = []
        /// Whether nothing more is sent after the backlog.
        var isEnded = false
        /// The exchange that waits for more, if it does.
        var waiting: HTTPExchange?
        /// Who waits until less is unread.
        var patient: CheckedContinuation<Void, Never>?
        var onGone: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// - Parameter onGone: Called once, when nobody reads it any longer.
    package init(onGone: @escaping @Sendable () -> Void) {
        state.withLock { $0.onGone = onGone }
    }

    /// Sends bytes; returns whether the stream goes on.
    package func send(_ bytes: some Collection<UInt8>) -> Bool {
        let waiting: HTTPExchange?? = state.withLock { state in
            guard !state.isEnded else { return .none }
            if state.backlog.count + bytes.count > Self.backlogLimit {
                state.isEnded = true
                state.backlog = []
            } else {
                state.backlog += bytes
            }
            defer { state.waiting = nil }
            return .some(state.waiting)
        }
        guard let waiting else { return false }
        waiting?.resume()
        return true
    }

    /// Sends bytes once the client has taken most of what came before; returns whether the stream goes
    /// on. For one caller at a time.
    package func sendPatiently(_ bytes: some Collection<UInt8>) async -> Bool {
        await withCheckedContinuation { continuation in
            let isFull = state.withLock { state in
                guard state.backlog.count > Self.lowWater, !state.isEnded else { return false }
                state.patient = continuation
                return true
            }
            if !isFull { continuation.resume() }
        }
        return send(bytes)
    }

    /// Whether bytes can be sent without ending it.
    package func hasRoom(for count: Int) -> Bool {
        state.withLock { $0.backlog.count + count <= Self.backlogLimit }
    }

    /// Whether nothing more is sent.
    package var isOver: Bool { state.withLock { $0.isEnded } }

    /// Ends it after what has been sent.
    package func end() {
        let (waiting, patient) = state.withLock { state in
            state.isEnded = true
            return (state.waiting.take(), state.patient.take())
        }
        waiting?.resume()
        patient?.resume()
    }

    // MARK: - On the thread of the connections

    /// Takes what there is to send; `nil` at the end, and 0 if the exchange has to wait.
    func read(into buffer: UnsafeMutableRawBufferPointer, for exchange: HTTPExchange) -> Int? {
        let (count, patient) = state.withLock {
            state -> (Int?, CheckedContinuation<Void, Never>?) in
            guard state.backlog.isEmpty else {
                let count = min(buffer.count, state.backlog.count)
                buffer.copyBytes(from: state.backlog.prefix(count))
                state.backlog = state.backlog.dropFirst(count)
                // What was sent takes no room.
                if state.backlog.isEmpty { state.backlog = [] }
                let hasRoom = state.backlog.count <= Self.lowWater
                return (count, hasRoom ? state.patient.take() : nil)
            }
            guard !state.isEnded, exchange.suspend() else { return (nil, nil) }
            state.waiting = exchange
            return (0, nil)
        }
        patient?.resume()
        return count
    }

    /// Nobody reads it any longer.
    func isGone() {
        let (onGone, patient) = state.withLock { state in
            state.isEnded = true
            state.backlog = []
            state.waiting = nil
            return (state.onGone.take(), state.patient.take())
        }
        patient?.resume()
        onGone?()
    }
}
