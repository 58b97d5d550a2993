import Synchronization

/// The newest audit entry that this process knows of; it only grows.
///
/// It tells where events go on from; whether a file that took the database's place is the same
/// queue, because only that has an entry with this number and this hash; and whether anything has
/// happened that this process did not do itself.
final class KnownHead: Sendable {
    /// A transaction of this process.
    struct Commit: Sendable {
        /// The newest entry before it.
        let start: AuditHead
        /// The newest entry in it.
        let head: AuditHead
        /// Whether whoever wrote it knows already what follows from it.
        let isQuiet: Bool
    }

    private struct State {
        var newest = AuditHead.start
        /// All entries after this one are quiet ones of this process.
        var quietSince: Int64 = 0
        /// A transaction that is being committed; a reader may see it first.
        var expected: Commit?
        var wasNews = false
    }

    private let state = Mutex(State())
    private let moved = Mutex<(@Sendable () -> Void)?>(nil)

    /// Has somebody told when the files that this process has open are no longer the queue's.
    func whenMoved(_ body: @escaping @Sendable () -> Void) { moved.withLock { $0 = body } }

    /// Tells that files were deleted or replaced: all who have them open must let go of them.
    func tellMoved() { moved.withLock { $0 }?() }

    var head: AuditHead { state.withLock { $0.newest } }

    /// Notes what a reader has found at the end of the log.
    func raise(to head: AuditHead) {
        state.withLock { state in
            guard head.sequence > state.newest.sequence else { return }
            if let expected = state.expected, expected.head == head {
                Self.append(expected, to: &state)
            } else {
                state.newest = head
                state.quietSince = head.sequence
            }
        }
    }

    /// Notes that a transaction is about to be committed.
    func expect(_ commit: Commit) {
        state.withLock { state in
            state.expected = commit
            state.wasNews = false
        }
    }

    /// Notes that the expected transaction is on disk; returns whether it, or something that
    /// another process did before it, has to be looked at.
    func didCommit() -> Bool {
        state.withLock { state in
            guard let expected = state.expected else { return true }
            if expected.head.sequence > state.newest.sequence {
                Self.append(expected, to: &state)
            } else if expected.head == expected.start, !expected.isQuiet {
                // The end of a snooze has no entry in the log.
                state.wasNews = true
            }
            state.expected = nil
            return state.wasNews
        }
    }

    /// Whether everything after an entry was done by this process, which knows what follows.
    func isQuiet(since sequence: Int64) -> Bool {
        state.withLock { sequence >= $0.quietSince }
    }

    /// The newest entry if everything after an entry is such, else that entry itself.
    func endOfQuiet(after sequence: Int64) -> Int64 {
        state.withLock { state in
            sequence >= state.quietSince ? max(sequence, state.newest.sequence) : sequence
        }
    }

    /// The log has grown by the transaction, and perhaps by something before it.
    private static func append(_ commit: Commit, to state: inout State) {
        let isContiguous = commit.start == state.newest
        state.wasNews = !(isContiguous && commit.isQuiet)
        state.newest = commit.head
        if state.wasNews { state.quietSince = commit.head.sequence }
    }
}
