import Synchronization

/// The changes of a queue that a process has noticed, its own included.
package final class NoticedChanges: Sendable {
    private let all = ChangeSignal()
    private let byOthers = ChangeSignal()

    /// The mark of no change; another one in each opening, so that it can be told from others'.
    private let first = UInt64.random(in: 0...UInt64.max / 2)
    /// The mark of the last change that concerns others.
    private let lastByOthers: Mutex<UInt64>

    private let onOthers: @Sendable () -> Void

    /// - Parameter onOthers: Called before anybody is told of a change that concerns others.
    package init(onOthers: @escaping @Sendable () -> Void = {}) {
        lastByOthers = Mutex(first)
        self.onOthers = onOthers
    }

    /// How many changes there have been.
    package var count: UInt64 { all.count }

    /// The mark of the changes so far.
    package var mark: UInt64 { first + all.count }

    /// Whether something that is news has changed since a mark, or the mark is unknown.
    package func hasChanged(since mark: UInt64?, in scope: News.Scope) -> Bool {
        let now = self.mark
        guard let mark, (first...now).contains(mark) else { return true }
        return mark < (scope == .others ? lastByOthers.withLock { $0 } : now)
    }

    /// Waits until something that is news has changed since a mark, or ``nudge()``.
    package nonisolated(nonsending) func wait(after mark: UInt64?, of scope: News.Scope) async {
        let signal = scope == .others ? byOthers : all
        let count = signal.count
        if !hasChanged(since: mark, in: scope) { await signal.wait(after: count) }
    }

    /// Waits until ``count`` is another one, or ``nudge()``.
    package nonisolated(nonsending) func wait(after count: UInt64) async {
        await all.wait(after: count)
    }

    /// - Parameter concernsOthers: Whether others than the process's own writer must examine it.
    package func note(_ concernsOthers: Bool = true) {
        all.change()
        guard concernsOthers else { return }
        onOthers()
        let mark = mark
        lastByOthers.withLock { $0 = max($0, mark) }
        byOthers.change()
    }

    /// Lets all that wait look again.
    package func nudge() {
        all.nudge()
        byOthers.nudge()
    }
}
