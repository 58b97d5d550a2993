import AlertCore
import Synchronization

/// What one caller does through the API: each request is carried out on the caller's behalf, and
/// replied to.
final class APISession: Sendable {
    /// The name of the API in the log.
    private static let via = "api"
    /// Whose alerts these are if their asker doesn't say.
    static let source = "api"

    let queue: OpenQueue
    let caller: Caller
    private let made = Mutex(AlertManager?.none)

    /// - Parameters:
    ///   - queue: The queue, which stays open.
    ///   - peer: Who calls.
    init(_ queue: OpenQueue, for peer: Peer) throws(AlertError) {
        self.queue = queue
        caller = try peer.caller(via: Self.via)
    }

    /// Made for the first request that needs it: a client that only follows the log needs none.
    var manager: AlertManager {
        get async throws(AlertError) {
            if let manager = made.withLock({ $0 }) { return manager }
            let manager = try await AlertManager(
                store: queue.store, path: queue.place, source: Self.source, caller: caller,
                presenters: [], delegate: nil, clock: .system)
            return made.withLock { made in
                // Another request may have been faster.
                let first = made ?? manager
                made = first
                return first
            }
        }
    }

    /// Carries out a request; the reply says also why it could not be.
    func reply(to request: APIRequest) async -> APIReply {
        do {
            return try await APIRoute.of(request).run(self, request)
        } catch let problem as Problem {
            return problem.reply
        } catch let error as AlertError {
            return Problem(error).reply
        } catch {
            return Problem(AlertError.cancelled("the request")).reply
        }
    }
}
