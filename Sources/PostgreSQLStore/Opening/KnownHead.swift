import AlertCore
import AlertTables
import Synchronization

/// What all connections of a store know: the end of the log, which entries are the process's own,
/// and what holds for the whole queue.
package final class KnownHead: KnownLog {
    private struct State {
        var head = AuditHead.start
        /// How often something has changed without an entry.
        var changes: Int64 = 0
        /// The own entries that are no news for other parts of the process, in ascending order.
        var own: [ClosedRange<Int64>] = []
        /// Those of a transaction that is being committed, which a reader may see first. Another
        /// process may commit entries with the same numbers.
        var expected: Set<AuditHead> = []
        var failure: AlertError?
        var home: String?
        var isEnding = false

        mutating func add(_ entries: ClosedRange<Int64>) {
            if let last = own.last, last.upperBound + 1 == entries.lowerBound {
                own[own.count - 1] = last.lowerBound...entries.upperBound
            } else {
                own.append(entries)
            }
            if own.count > KnownHead.maximumRanges { own.removeFirst() }
        }
    }

    /// How many ranges of own entries are remembered; older ones are news once more.
    private static let maximumRanges = 1000

    private let state = Mutex(State())

    package var head: AuditHead { state.withLock { $0.head } }

    /// Why nothing more can be done with the queue.
    var failure: AlertError? { state.withLock { $0.failure } }

    package func fail(_ error: AlertError) { state.withLock { $0.failure = $0.failure ?? error } }

    /// Whether the process is about to end: then a server that is away is hardly waited for.
    var isEnding: Bool { state.withLock { $0.isEnding } }

    func prepareToEnd() { state.withLock { $0.isEnding = true } }

    /// The machine whose accounts are stored without a host; `nil` before the first connection.
    var home: String? { state.withLock { $0.home } }

    /// Notes that machine: what is known of accounts is of the first connection.
    func note(home: String) { state.withLock { $0.home = $0.home ?? home } }

    /// Notes entries that the process is about to commit, and that are no news for other parts of
    /// it.
    func expect(_ entries: [AuditHead]) { state.withLock { $0.expected = Set(entries) } }

    /// Forgets the expected entries, which may not have been committed after all.
    func forgetExpected() { state.withLock { $0.expected = [] } }

    /// Notes how far the log and the changes go; returns whether that is new.
    @discardableResult
    func raise(to head: AuditHead, changes: Int64) -> Bool {
        state.withLock { state in
            let isNew = head.sequence > state.head.sequence || changes > state.changes
            if head.sequence > state.head.sequence { state.head = head }
            state.changes = max(state.changes, changes)
            return isNew
        }
    }

    /// Notes an own commit; returns whether others have changed the queue since it was known.
    func didCommit(
        from start: AuditHead, changes before: Int64, to head: AuditHead, changes: Int64
    ) -> Bool {
        state.withLock { state in
            let isContiguous = state.head.sequence >= start.sequence && state.changes >= before
            if !state.expected.isEmpty {
                state.add(start.sequence + 1...head.sequence)
                state.expected = []
            }
            if head.sequence > state.head.sequence { state.head = head }
            state.changes = max(state.changes, changes)
            return !isContiguous
        }
    }

    package func endOfOwn(after head: AuditHead) -> AuditHead {
        state.withLock { state in
            guard let last = state.own.last, last.upperBound == state.head.sequence,
                (last.lowerBound - 1..<last.upperBound).contains(head.sequence)
            else { return head }
            return state.head
        }
    }

    package func isOwn(_ entry: AuditHead) -> Bool {
        state.withLock { state in
            // The newest are asked for most.
            let range = state.own.last { $0.lowerBound <= entry.sequence }
            return range?.contains(entry.sequence) == true || state.expected.contains(entry)
        }
    }
}
