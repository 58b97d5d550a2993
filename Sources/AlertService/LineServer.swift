import AlertCore
import CLinux
import Glibc
import Linux
import Synchronization

/// Serves the clients of a queue, on one thread that waits for all of them.
package final class LineServer: Sendable {
    package typealias Open = @Sendable (Opening) throws(AlertError) -> OpenQueue

    /// How many clients may be connected at once.
    private static let clientLimit = 4096

    private let listener: Descriptor?
    private let poller: Poller
    /// Rung to end the thread.
    private let bell: Descriptor
    /// Who every client is; `nil` to ask the kernel.
    private let peer: Peer?
    private let open: Open
    private let clients = Mutex<[Int32: LineConnection]>([:])
    private let hasEnded = OneShot<Void>()
    /// When its thread looked last, which it does each second.
    private let lastTurn = Mutex(ContinuousClock.now)

    /// - Parameters:
    ///   - listener: The socket that clients connect to; `nil` if there is none.
    ///   - peer: Who every client is; `nil` to ask the kernel.
    ///   - open: Opens the queue for a client that has said what it wants.
    package init(
        on listener: Descriptor?, as peer: Peer? = nil, _ open: @escaping Open
    ) throws(LinuxError) {
        self.listener = listener
        self.peer = peer
        self.open = open
        poller = try Poller()
        bell = try Descriptor(clinux_event(), "make an event")
        if let listener { try poller.watch(listener.raw, reads: true) }
        try poller.watch(bell.raw, reads: true)
        DedicatedThread.start { self.run() }
    }

    /// Takes no more requests, and returns once those that came before have their replies, or have
    /// been carried out for as long as `patience`.
    package func stop(within patience: Duration) async {
        clinux_event_ring(bell.raw)
        let late = Task {
            try await Task.sleep(for: patience)
            for client in self.all { client.end() }
        }
        await hasEnded.value()
        late.cancel()
    }

    /// Whether its thread is not stuck.
    var isTurning: Bool { lastTurn.withLock { $0 } > .now - .seconds(10) }

    private var all: [LineConnection] { clients.withLock { $0.values.map { $0 } } }

    private func run() {
        var nextLook = ContinuousClock.now
        var isStopping = false
        while !isStopping || !all.isEmpty {
            for raw in poller.wait(atMost: isStopping ? 5 : 1000) {
                switch raw {
                case bell.raw:
                    isStopping = true
                    for raw in [bell.raw, listener?.raw].compactMap(\.self) { poller.forget(raw) }
                    for client in all { client.finish() }
                case listener?.raw: if !isStopping { accept() }
                default: proceed(raw)
                }
            }
            guard .now >= nextLook else { continue }
            nextLook = .now + .seconds(1)
            lastTurn.withLock { $0 = .now }
            if !isStopping, let listener { try? poller.watch(listener.raw, reads: true) }
            for client in all { client.endIfStuck() }
        }
        hasEnded.deliver(())
    }

    private func proceed(_ raw: Int32) {
        guard let client = clients.withLock({ $0[raw] }), !client.proceed() else { return }
        client.end()
    }

    private func accept() {
        guard let listener else { return }
        do throws(LinuxError) {
            while let socket = try UnixSocket.accept(on: listener) { try take(socket) }
        } catch {
            // No descriptors are left: in a second some may have been closed.
            try? poller.watch(listener.raw, reads: false)
        }
    }

    /// Serves a client at the other end of a socket that doesn't block.
    package func take(_ socket: Descriptor) throws(LinuxError) {
        guard clients.withLock({ $0.count }) < Self.clientLimit else { return }
        let found = try SocketPeer(of: socket.raw)
        let client = try LineConnection(socket, on: poller)
        clients.withLock { $0[socket.raw] = client }
        client.work { [self] in
            do throws(AlertError) {
                let peer = if let peer { peer } else { try await Peer.of(found) }
                await client.serve(as: peer, open)
            } catch {
                await client.refuseAll(error)
            }
            await client.drain()
            client.end()
            clients.withLock { $0[socket.raw] = nil }
        }
    }
}
