import AlertCore
import Glibc
import Linux
import Synchronization

/// A queue that is served to other programs until it is stopped.
package final class QueueService: Sendable {
    /// How long requests that have come may take at the end.
    private static let endTime = Duration.seconds(5)

    private let queue: OpenQueue
    private let lines: LineServer
    private let apis = Mutex<[APIServer]>([])
    private let sockets: ServiceSockets?
    private let stopping = Mutex(Task<Void, Never>?.none)

    /// Starts to serve lines.
    ///
    /// - Parameters:
    ///   - store: The queue, opened with `isShared`.
    ///   - place: Where it is, for clients.
    ///   - sockets: Where they connect; `nil` to serve only those of ``connect()``.
    ///   - peer: Who every client is; `nil` to ask the kernel.
    package init(
        _ store: any AlertStore, at place: String, on sockets: ServiceSockets? = nil,
        as peer: Peer? = nil
    ) throws(AlertError) {
        let queue = OpenQueue(store, at: place)
        self.queue = queue
        self.sockets = sockets
        let listener = try sockets.map { sockets throws(AlertError) in
            try sockets.listen(at: sockets.lines)
        }
        do {
            lines = try LineServer(on: listener, as: peer) { opening throws(AlertError) in
                if let wanted = opening.database, !wanted.isIdentical(to: place) {
                    throw .notPermitted(path: wanted, "this service serves \(place)")
                }
                return queue
            }
        } catch {
            throw .storage(operation: "serve \(place)", error.reason)
        }
    }

    /// Serves the API over HTTP on a socket, too, which listens and doesn't block.
    ///
    /// - Parameter url: Where clients reach it, beside the names of this machine.
    /// - Throws: ``AlertError/missingLibrary(_:)`` where there is no libmicrohttpd, and
    ///   ``AlertError/storage(operation:_:)`` where no thread can be started.
    package func serveHTTP(
        on listener: Descriptor, knowing proof: APIServer.Proof, at url: ServiceURL? = nil
    ) throws(AlertError) {
        let server = try APIServer(queue, on: listener, knowing: proof, at: url)
        apis.withLock { $0.append(server) }
    }

    /// Serves a client over a pair of sockets; returns the client's end.
    package func connect() throws(AlertError) -> Descriptor {
        do throws(LinuxError) {
            let (own, client) = try UnixSocket.pair()
            _ = fcntl(own.raw, F_SETFL, O_NONBLOCK)
            try lines.take(own)
            return client
        } catch {
            throw .storage(operation: "serve a client", error.reason)
        }
    }

    /// Whether no thread that reads requests is stuck.
    package func isServing() async -> Bool {
        await withTaskGroup { [lines] group in
            for server in apis.withLock({ $0 }) { group.addTask { await server.isTurning() } }
            return await group.allSatisfy(\.self) && lines.isTurning
        }
    }

    /// Carries out what has been asked for, and closes the queue.
    package func stop() async {
        let task = stopping.withLock { stopping in
            let task = stopping ?? Task { await end() }
            stopping = task
            return task
        }
        await task.value
    }

    private func end() async {
        sockets?.remove()
        queue.stopWaiting()
        await withTaskGroup { group in
            for server in apis.withLock({ $0 }) {
                group.addTask { await server.stop(within: Self.endTime) }
            }
            group.addTask { [lines] in await lines.stop(within: Self.endTime) }
        }
        await queue.store.close()
    }
}
