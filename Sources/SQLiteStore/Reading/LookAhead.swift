import AlertCore
import Synchronization
import TextFormats

/// The next alert, if it is known without looking into the database.
///
/// An idle presenter's look takes longer than the commit before it: a presenter that waits for its
/// own process's questions gets them from here.
///
/// For example: a look for `terminal` finds nothing when entry 7 is the newest. This store asks an
/// alert, as entry 8. As long as all entries from 8 on are this process's own, and the alert has
/// not been resolved, it is the next alert for `terminal`; once it is resolved, nothing waits
/// again.
final class LookAhead: Sendable {
    private struct State {
        /// The presenters for which a look found nothing, and the newest entry then; `nil` if only
        /// a look can find out.
        var empty: (presenters: [String], sequence: Int64)?
        /// The alerts that this store has asked since then and that still wait.
        var asked: [(receipt: Receipt, expiry: ClockReading?)] = []
        /// The newest entry of an asked alert that is not remembered.
        var lastForgotten: Int64 = 0
        /// How often everything was forgotten.
        var generation = 0

        mutating func forget() {
            empty = nil
            generation += 1
        }
    }

    /// With more alerts, the order must be looked up anyway.
    private static let limit = 2
    private let state = Mutex(State())

    /// The next alert, or none; `nil` if only a look can find out.
    ///
    /// - Parameter isOwn: Whether everything after an entry is this process's own, and no other
    ///   part of it needs to see it.
    func upcoming(
        for query: ScreenQuery, at now: ClockReading, isOwn: (Int64) -> Bool
    ) -> Upcoming? {
        state.withLock { state in
            guard let empty = state.empty, query.own.isEmpty, query.except.isEmpty,
                query.presenters.isIdentical(to: empty.presenters), isOwn(empty.sequence)
            else { return nil }
            let asked = state.asked.filter { $0.receipt.head.sequence > empty.sequence }
            guard let next = asked.first else { return Upcoming() }
            guard asked.count == 1, next.expiry.map(now.isAtOrAfter) != true,
                next.receipt.record.alert.mayBeShown(by: query.presenters)
            else { return nil }
            return Upcoming(
                record: next.receipt.record, timeLeft: next.expiry.map(now.time))
        }
    }

    /// Records that a look has found nothing that could be shown.
    ///
    /// - Parameter generation: The result of ``forget()`` before the look: forgotten alerts may
    ///   have changed since.
    func foundNothing(for query: ScreenQuery, at sequence: Int64, since generation: Int) {
        guard query.own.isEmpty, query.except.isEmpty else { return }
        state.withLock { state in
            guard sequence >= state.lastForgotten, generation == state.generation
            else { return }
            state.empty = (query.presenters, sequence)
            state.asked.removeAll { $0.receipt.head.sequence <= sequence }
        }
    }

    /// Records an alert that this store has asked.
    func didAsk(_ receipt: Receipt, at now: ClockReading) {
        // Only a look finds out how the wall clock was set.
        if receipt.record.followsWallClock { forget() }
        state.withLock { state in
            // If no screen waits for it, nothing must be remembered.
            guard state.empty != nil else {
                state.lastForgotten = max(state.lastForgotten, receipt.head.sequence)
                return
            }
            state.asked.append((receipt, receipt.timeLeft.map(now.advanced)))
            guard state.asked.count > Self.limit else { return }
            state.lastForgotten = max(
                state.lastForgotten, state.asked.removeFirst().receipt.head.sequence)
            if let empty = state.empty, empty.sequence < state.lastForgotten { state.empty = nil }
        }
    }

    /// Records that an alert has its response.
    func didResolve(_ id: Alert.ID) {
        state.withLock { state in
            let count = state.asked.count
            state.asked.removeAll { $0.receipt.record.id == id }
            // It may have just been asked here, which is recorded only after this.
            if state.asked.count == count { state.forget() }
        }
    }

    /// Forgets everything: only a look can find out the next alert.
    @discardableResult
    func forget() -> Int {
        state.withLock { state in
            state.forget()
            return state.generation
        }
    }
}
