import AlertCore
import Synchronization

/// What the next alert is, where that can be known without looking into the database.
///
/// An idle presenter's look takes longer than the commit before it: a presenter that waits for
/// questions of its own process gets them from here.
///
/// For example: a look for `terminal` finds nothing when entry 7 is the newest. This store asks
/// something, as entry 8. While entries 8 and on are all this process's own, and what was asked has
/// not been resolved, the next alert for `terminal` is that one; once it is resolved, nothing waits
/// again.
///
/// Gain: an ask reaches its presenter in 0.60 × the time, and a story takes 0.79 × (`alertq-bench
/// story`, files in memory; against an `upcoming` that always returns `nil`).
final class LookAhead: Sendable {
    private struct State {
        /// The names for which a look found nothing, and the newest entry then; `nil` where only
        /// a look can tell.
        var empty: (presenters: [String], sequence: Int64)?
        /// What this store has asked since, and what still waits of it.
        var asked: [Receipt] = []
        /// The newest entry of what was asked and is not remembered.
        var lastForgotten: Int64 = 0
        /// How often all was forgotten.
        var generation = 0

        mutating func forget() {
            empty = nil
            generation += 1
        }
    }

    /// More than one means that the order has to be looked up anyway.
    private static let limit = 2
    private let state = Mutex(State())

    /// The next alert, or none; `nil` where only a look can tell.
    ///
    /// - Parameter isOwn: Whether everything after an entry is this process's own, and concerns
    ///   nobody else in it.
    func upcoming(
        for query: ScreenQuery, at now: ClockReading, isOwn: (Int64) -> Bool
    ) -> Upcoming? {
        state.withLock { state in
            guard let empty = state.empty, query.own.isEmpty, query.except.isEmpty,
                query.presenters == empty.presenters, isOwn(empty.sequence)
            else { return nil }
            let asked = state.asked.filter { $0.sequence > empty.sequence }
            guard let next = asked.first else { return Upcoming() }
            guard asked.count == 1, next.expiry.map(now.isAtOrAfter) != true,
                next.record.alert.presenters.map({ !Set($0).isDisjoint(with: query.presenters) })
                    ?? true
            else { return nil }
            return Upcoming(record: next.record, expiry: next.expiry)
        }
    }

    /// Notes that a look has found nothing that could be shown.
    ///
    /// - Parameter generation: What ``forget()`` returned before the look: what has been forgotten
    ///   meanwhile may have changed after it.
    func foundNothing(for query: ScreenQuery, at sequence: Int64, since generation: Int) {
        guard query.own.isEmpty, query.except.isEmpty else { return }
        state.withLock { state in
            guard sequence >= state.lastForgotten, generation == state.generation
            else { return }
            state.empty = (query.presenters, sequence)
            state.asked.removeAll { $0.sequence <= sequence }
        }
    }

    /// Notes an alert that this store has asked.
    func didAsk(_ receipt: Receipt) {
        state.withLock { state in
            // Where no screen waits for it, nothing has to be remembered.
            guard state.empty != nil else {
                state.lastForgotten = max(state.lastForgotten, receipt.sequence)
                return
            }
            state.asked.append(receipt)
            guard state.asked.count > Self.limit else { return }
            state.lastForgotten = max(state.lastForgotten, state.asked.removeFirst().sequence)
            if let empty = state.empty, empty.sequence < state.lastForgotten { state.empty = nil }
        }
    }

    /// Notes that an alert has its response.
    func didResolve(_ id: Alert.ID) {
        state.withLock { state in
            let count = state.asked.count
            state.asked.removeAll { $0.record.id == id }
            // It may have been asked here just now, which is noted only after this.
            if state.asked.count == count { state.forget() }
        }
    }

    /// From here on only a look can tell.
    @discardableResult
    func forget() -> Int {
        state.withLock { state in
            state.forget()
            return state.generation
        }
    }
}
