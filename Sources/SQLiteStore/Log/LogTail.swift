import AlertCore
import AlertTables
import Synchronization

/// The newest audit entry that this process knows; it only grows.
///
/// It determines where events continue; whether a database that is opened again is the same queue,
/// because only that has an entry with this number and this hash; and whether anything has happened
/// that this process did not do itself.
package final class LogTail: KnownLog {
    /// A transaction of this process.
    struct Commit: Sendable {
        /// The newest entry before it.
        let start: AuditHead
        /// The newest entry in it.
        let head: AuditHead
        /// Whether parts of this process other than its writer need to see it.
        let concernsOthers: Bool
    }

    private struct State {
        var newest = AuditHead.start
        /// All entries after this one are this process's own, and no other part of it needs to see
        /// them.
        var ownSince: Int64 = 0
        /// A transaction that is being committed; a reader may see it first.
        var expected: Commit?
        var concernedOthers = false
        var failure: AlertError?
    }

    /// Whether this process acts for others, so that all it does concerns somebody.
    private let isShared: Bool
    private let state = Mutex(State())
    private let moved = Mutex<(@Sendable () -> Void)?>(nil)

    init(isShared: Bool = false) { self.isShared = isShared }

    /// Sets the closure that is called when this process's connections are no longer the queue's.
    func whenMoved(_ body: @escaping @Sendable () -> Void) { moved.withLock { $0 = body } }

    /// Reports that all connections must be closed, because they lead elsewhere.
    func reportMove() { moved.withLock { $0 }?() }

    package var head: AuditHead { state.withLock { $0.newest } }

    /// Why this process writes nothing more: the queue is damaged, or no longer has the log that this
    /// process knows.
    var failure: AlertError? { state.withLock { $0.failure } }

    package func fail(_ error: AlertError) { state.withLock { $0.failure = $0.failure ?? error } }

    /// Why this process reads nothing more, either: what it does with what it reads, such as running
    /// a handler, it could not store. A log that was changed can still be examined.
    var readingFailure: AlertError? {
        if case .inconsistent? = failure { return nil }
        return failure
    }

    /// Records the end of the log as found by a reader.
    func raise(to head: AuditHead) {
        state.withLock { state in
            guard head.sequence > state.newest.sequence else { return }
            if let expected = state.expected, expected.head == head {
                append(expected, to: &state)
            } else {
                state.newest = head
                state.ownSince = head.sequence
            }
        }
    }

    /// Records that a transaction is about to be committed.
    func expect(_ commit: Commit) {
        state.withLock { state in
            state.expected = commit
            state.concernedOthers = false
        }
    }

    /// Records that the expected transaction is on disk; returns whether it, or something that
    /// another process did before it, must be examined.
    func didCommit() -> Bool {
        state.withLock { state in
            guard let expected = state.expected else { return true }
            if expected.head.sequence > state.newest.sequence {
                append(expected, to: &state)
            } else if expected.head == expected.start, expected.concernsOthers {
                // The end of a snooze has no entry in the log.
                state.concernedOthers = true
            }
            state.expected = nil
            return state.concernedOthers
        }
    }

    /// Records that the expected transaction, if there is one, has failed.
    func didNotCommit() { state.withLock { $0.expected = nil } }

    /// Whether everything after an entry was done by this process and is known to it.
    func isOwn(since sequence: Int64) -> Bool {
        state.withLock { sequence >= $0.ownSince }
    }

    package func isOwn(_ entry: AuditHead) -> Bool {
        state.withLock { $0.ownSince < entry.sequence && entry.sequence <= $0.newest.sequence }
    }

    package func endOfOwn(after head: AuditHead) -> AuditHead {
        state.withLock { state in
            (state.ownSince..<state.newest.sequence).contains(head.sequence) ? state.newest : head
        }
    }

    /// Extends the log by the transaction, and perhaps by something before it.
    private func append(_ commit: Commit, to state: inout State) {
        let isContiguous = commit.start == state.newest
        state.concernedOthers = isShared || !isContiguous || commit.concernsOthers
        state.newest = commit.head
        if state.concernedOthers { state.ownSince = commit.head.sequence }
    }
}
