#if PostgreSQL
    import AlertCore
    import Synchronization

    /// The end of the log as this process knows it, and which entries are its own.
    final class KnownHead: Sendable {
        private struct State {
            var head = AuditHead.start
            /// How often something has changed without an entry.
            var changes: Int64 = 0
            /// The own entries that are no news for other parts of the process, in ascending order.
            var own: [ClosedRange<Int64>] = []
            var failure: AlertError?
        }

        /// How many ranges of own entries are remembered; older ones are news once more.
        private static let maximumRanges = 1000

        private let state = Mutex(State())

        var head: AuditHead { state.withLock { $0.head } }

        /// Why nothing more can be done with the queue.
        var failure: AlertError? { state.withLock { $0.failure } }

        func fail(_ error: AlertError) { state.withLock { $0.failure = $0.failure ?? error } }

        /// Notes entries that the process is about to commit; they are its own.
        func expect(_ entries: ClosedRange<Int64>) {
            state.withLock { state in
                if let last = state.own.last, last.upperBound + 1 == entries.lowerBound {
                    state.own[state.own.count - 1] = last.lowerBound...entries.upperBound
                } else {
                    state.own.append(entries)
                }
                if state.own.count > Self.maximumRanges { state.own.removeFirst() }
            }
        }

        /// Forgets entries that were not committed after all.
        func forget(_ entries: ClosedRange<Int64>) {
            state.withLock { state in
                guard let last = state.own.popLast(), last.lowerBound < entries.lowerBound else {
                    return
                }
                state.own.append(last.lowerBound...(entries.lowerBound - 1))
            }
        }

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
                if head.sequence > state.head.sequence { state.head = head }
                state.changes = max(state.changes, changes)
                return !isContiguous
            }
        }

        /// Whether an entry is the process's own, and no news for other parts of it.
        func isOwn(_ sequence: Int64) -> Bool {
            state.withLock { state in
                // The newest are asked for most.
                state.own.last { $0.lowerBound <= sequence }?.contains(sequence) ?? false
            }
        }
    }
#endif
