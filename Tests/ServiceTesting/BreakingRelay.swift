import AlertCore
import Foundation
import Linux
import Synchronization
import TestSupport

/// Passes lines on between clients and a service, and now and then breaks a connection after a
/// commit was passed on, and mostly before its reply is.
final class BreakingRelay: Sendable {
    private struct State {
        /// Whether notes may not be on disk yet, which a kill would lose.
        var hasNotes = false
        /// Whether somebody has what ends with a connection.
        var hasRights = false
        var commits = 0
        /// The commit after which it breaks next.
        var nextBreak = 1
        var sockets: [ObjectIdentifier: Descriptor] = [:]
        var isOver = false
    }

    private let listener: Descriptor
    private let target: String
    private let onBreak: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - path: Where it listens.
    ///   - target: Where the service does.
    ///   - onBreak: Called before a connection breaks.
    init(
        at path: String, to target: String, onBreak: @escaping @Sendable () -> Void
    ) throws {
        _ = Child.ignoresBrokenPipes
        listener = try UnixSocket.listen(at: path)
        self.target = target
        self.onBreak = onBreak
        DedicatedThread.start { self.run() }
    }

    /// Ends all connections.
    func end() {
        let sockets = state.withLock { state in
            state.isOver = true
            return state.sockets.values.map { $0 }
        }
        for socket in sockets + [listener] { shutdown(socket.raw, Int32(SHUT_RDWR)) }
    }

    private func run() {
        while !state.withLock({ $0.isOver }) {
            var request = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 100) > 0 else { continue }
            guard let client = try? UnixSocket.accept(on: listener) else { continue }
            _ = fcntl(client.raw, F_SETFL, 0)
            // A client that is not served tries again.
            guard let service = try? UnixSocket.connect(to: target) else { continue }
            state.withLock { state in
                for socket in [client, service] { state.sockets[ObjectIdentifier(socket)] = socket }
            }
            DedicatedThread.start { self.pass(from: client, to: service, isRequest: true) }
            DedicatedThread.start { self.pass(from: service, to: client, isRequest: false) }
        }
    }

    private func pass(from source: Descriptor, to target: Descriptor, isRequest: Bool) {
        var splitter = LineSplitter(limit: .max)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isWhole = true
        while isWhole {
            let count = read(source.raw, &buffer, buffer.count)
            guard count > 0 else { break }
            splitter.add(buffer[..<count]) { line in
                guard isWhole, case .whole(let bytes) = line else { return }
                guard target.write(bytes + [UInt8(ascii: "\n")]) else {
                    isWhole = false
                    return
                }
                guard isRequest, breaks(after: String(decoding: bytes, as: UTF8.self)) else {
                    return
                }
                // Before, while and after the change is made.
                usleep(.random(in: 0...3000))
                onBreak()
                isWhole = false
            }
        }
        for socket in [source, target] {
            shutdown(socket.raw, Int32(SHUT_RDWR))
            state.withLock { $0.sockets[ObjectIdentifier(socket)] = nil }
        }
    }

    /// Whether the connection ends after a request: the first commit's, and then those of three times
    /// as many each time.
    private func breaks(after request: String) -> Bool {
        state.withLock { state in
            let starts = { (name: String) in request.contains("\"body\":{\"\(name)\":") }
            if starts("post") { state.hasNotes = true }
            if starts("attach") || starts("lease") { state.hasRights = true }
            guard starts("commit") else { return false }
            state.commits += 1
            guard !state.hasNotes, !state.hasRights, state.commits >= state.nextBreak else {
                // A commit writes what was posted before.
                state.hasNotes = false
                return false
            }
            state.nextBreak = state.commits * 3
            return true
        }
    }
}
