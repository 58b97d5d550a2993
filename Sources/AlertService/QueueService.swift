import AlertCore
import Linux

/// A queue that is served to other programs until it is stopped.
package final class QueueService: Sendable {
    /// How long requests that have come may take at the end.
    private static let endTime = Duration.seconds(5)

    private let store: any AlertStore
    private let sockets: ServiceSockets
    private let lines: LineServer

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - store: The queue, opened with `isShared`.
    ///   - place: Where it is, for clients.
    ///   - sockets: Where they connect.
    ///   - peer: Who every client is; `nil` to ask the kernel.
    package init(
        _ store: any AlertStore, at place: String, on sockets: ServiceSockets, as peer: Peer? = nil
    ) throws(AlertError) {
        self.store = store
        self.sockets = sockets
        let listener = try sockets.listen()
        do {
            lines = try LineServer(on: listener, as: peer) { opening throws(AlertError) in
                if let wanted = opening.database, !wanted.isIdentical(to: place) {
                    throw .notPermitted(path: wanted, "this service serves \(place)")
                }
                return (store, place)
            }
        } catch {
            throw .storage(operation: "serve at \(sockets.lines)", error.reason)
        }
    }

    /// Where clients connect, as `--database` takes it.
    package var location: String { "unix:" + sockets.lines }

    /// Carries out what has been asked for, and closes the queue.
    package func stop() async {
        sockets.remove()
        await lines.stop(within: Self.endTime)
        await store.close()
    }
}
