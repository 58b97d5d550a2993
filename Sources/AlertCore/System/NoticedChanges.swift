import Synchronization

/// The changes of a queue that a process has noticed, its own included.
package final class NoticedChanges: Sendable {
    private struct State {
        /// The mark of the last change, and of the last one that concerns others.
        var last: UInt64
        var lastByOthers: UInt64
    }

    private let all = ChangeSignal()
    private let byOthers = ChangeSignal()

    /// The mark of no change; another one in each opening, so that it can be told from others'.
    private let first: UInt64
    /// Together, so that whoever sees a change also sees whom it concerns.
    private let state: Mutex<State>

    private let onOthers: @Sendable () -> Void

    /// - Parameter onOthers: Called before anybody is told of a change that concerns others.
    package init(onOthers: @escaping @Sendable () -> Void = {}) {
        first = UInt64.random(in: 0...UInt64.max / 2)
        state = Mutex(State(last: first, lastByOthers: first))
        self.onOthers = onOthers
    }

    /// The mark of the changes so far.
    package var mark: UInt64 { state.withLock { $0.last } }

    /// Whether something that is news has changed since a mark, or the mark is unknown.
    package func hasChanged(since mark: UInt64?, in scope: News.Scope) -> Bool {
        let state = state.withLock { $0 }
        guard let mark, (first...state.last).contains(mark) else { return true }
        return mark < (scope == .others ? state.lastByOthers : state.last)
    }

    /// Waits until something that is news has changed since a mark, or ``nudge()``.
    package nonisolated(nonsending) func wait(after mark: UInt64?, of scope: News.Scope) async {
        let signal = scope == .others ? byOthers : all
        let count = signal.count
        if !hasChanged(since: mark, in: scope) { await signal.wait(after: count) }
    }

    /// - Parameter concernsOthers: Whether others than the process's own writer must examine it.
    package func note(_ concernsOthers: Bool = true) {
        if concernsOthers { onOthers() }
        state.withLock { state in
            state.last += 1
            if concernsOthers { state.lastByOthers = state.last }
        }
        all.change()
        if concernsOthers { byOthers.change() }
    }

    /// Lets all that wait look again.
    package func nudge() {
        all.nudge()
        byOthers.nudge()
    }
}
