import AlertCore
import Synchronization

/// A queue that is served, and what all its clients share.
package final class OpenQueue: Sendable {
    package let store: any AlertStore
    /// Where it is, for clients.
    package let place: String
    /// Sends the log's entries to those who follow it.
    let feed: EventFeed
    /// The requests that wait for something.
    let waits = WaitList()

    package init(_ store: any AlertStore, at place: String) {
        self.store = store
        self.place = place
        feed = EventFeed(store)
    }

    /// Has all requests that wait replied to as if their time was up, and ends all streams: the
    /// service ends.
    func stopWaiting() {
        waits.stop()
        feed.stop()
    }
}

/// How many of something each principal has, and all together.
package final class Shares: Sendable {
    private let counts = Mutex<(all: Int, each: [Principal: Int])>((0, [:]))
    private let what: String
    private let limits: (all: Int, each: Int)

    /// - Parameters:
    ///   - what: What it is, in the plural.
    ///   - limit: How many each principal may have.
    ///   - all: How many all may have together.
    package init(_ what: String, _ limit: Int, ofAll all: Int) {
        self.what = what
        limits = (all, limit)
    }

    /// Takes one, until ``giveBack(_:)``.
    ///
    /// - Throws: ``Problem`` if there are too many.
    package func take(_ principal: Principal) throws(Problem) {
        try counts.withLock { counts throws(Problem) in
            guard counts.all < limits.all else {
                throw .tooMany("there are \(limits.all) \(what) already")
            }
            guard counts.each[principal, default: 0] < limits.each else {
                throw .tooMany("\(principal.label) has \(limits.each) \(what) already")
            }
            counts.all += 1
            counts.each[principal, default: 0] += 1
        }
    }

    package func giveBack(_ principal: Principal) {
        counts.withLock { counts in
            counts.all -= 1
            let rest = counts.each[principal, default: 1] - 1
            counts.each[principal] = rest > 0 ? rest : nil
        }
    }
}

/// Requests that wait, until all of that ends at once.
final class WaitList: Sendable {
    private struct State {
        /// What ends each of them.
        var ends: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
        var isOver = false
    }

    private let state = Mutex(State())
    private let shares = Shares("requests that wait", 1024, ofAll: 3072)

    /// Ends all waiting, also that of who comes later.
    func stop() {
        let ends = state.withLock { state in
            state.isOver = true
            return state.ends.values.map { $0 }
        }
        for end in ends { end() }
    }

    /// Waits for what a closure returns, for so long at most, or until all waiting ends; `nil` then.
    ///
    /// - Throws: ``Problem`` if the principal waits for too much already, and the errors of the
    ///   closure.
    func wait<Found: Sendable>(
        atMost limit: Duration, by principal: Principal,
        for body: @escaping @Sendable () async throws -> Found
    ) async throws -> Found? {
        try shares.take(principal)
        defer { shares.giveBack(principal) }
        let task = Task {
            try await withThrowingTaskGroup(of: Found?.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await Task.sleep(for: limit)
                    return nil
                }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
        }
        let number = state.withLock { state in
            if state.isOver { task.cancel() }
            state.last += 1
            state.ends[state.last] = { task.cancel() }
            return state.last
        }
        defer { state.withLock { _ = $0.ends.removeValue(forKey: number) } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch let error as CancellationError {
            guard state.withLock({ $0.isOver }) else { throw error }
            return nil
        }
    }
}
