import Synchronization

/// The calls of one manager that wait for responses.
///
/// They are behind a mutex and not part of the actor, so that a call begins to wait, and continues
/// with its response, without a detour by the manager's queue.
final class Waiters: Sendable {
    /// The response that a call waits for.
    typealias Wait = OneShot<Result<AlertRecord, any Error>>

    private struct State {
        var waits: [Alert.ID: [Wait]] = [:]
        var isClosed = false
        /// How many resolutions the manager has seen.
        var resolutions: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Whether no call waits.
    var isEmpty: Bool { state.withLock { $0.waits.isEmpty } }

    /// The alerts that calls wait for.
    var ids: [Alert.ID] { state.withLock { Array($0.waits.keys) } }

    /// How many calls wait for an alert.
    func count(for id: Alert.ID) -> Int { state.withLock { $0.waits[id]?.count ?? 0 } }

    var resolutionsSeen: UInt64 { state.withLock { $0.resolutions } }

    /// Counts a resolution, even if no call waits for it: one may be about to.
    func sawResolution() { state.withLock { $0.resolutions += 1 } }

    /// Whether the response may have come before anybody here waited for it.
    ///
    /// - Parameter before: The value of ``resolutionsSeen`` before it was asked.
    func mayHaveMissed(since before: UInt64) -> Bool { resolutionsSeen != before }

    /// Adds a call that waits for the response to an alert.
    ///
    /// It gets ``AlertError/closed``, or the reason, if the response is unavailable.
    func add(_ wait: Wait, for id: Alert.ID) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.waits[id, default: []].append(wait) }
            return state.isClosed
        }
        if isClosed { wait.deliver(.failure(AlertError.closed)) }
    }

    /// Removes a call that no longer waits.
    func remove(_ wait: Wait, for id: Alert.ID) {
        state.withLock { state in
            state.waits[id]?.removeAll { $0 === wait }
            if state.waits[id]?.isEmpty == true { state.waits[id] = nil }
        }
    }

    /// Delivers a response to the calls that wait for it.
    func settle(_ record: AlertRecord) {
        let waits = state.withLock { state in
            state.resolutions += 1
            return state.waits.removeValue(forKey: record.id) ?? []
        }
        for wait in waits { wait.deliver(.success(record)) }
    }

    /// Ends all waits for an alert.
    func fail(_ id: Alert.ID, with error: AlertError) {
        let waits = state.withLock { $0.waits.removeValue(forKey: id) ?? [] }
        for wait in waits { wait.deliver(.failure(error)) }
    }

    /// Ends all waits.
    func failAll(with error: AlertError) {
        for id in ids { fail(id, with: error) }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        failAll(with: .closed)
    }
}
