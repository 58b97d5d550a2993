import FoundationEssentials

/// Which records to read, from where, and how many.
package struct RecordQuery: Sendable {
    package enum Kind: Sendable {
        /// What waits, in the order in which it will be shown, snoozed alerts last; of one source,
        /// or of all.
        case waiting(source: String?)
        /// Responses, newest first.
        case history(HistoryFilter)
        /// Responses that a named handler has not worked on, oldest first.
        case awaitingHandler(String)
        /// Responses that no asker has taken and no named handler waits for, oldest first; a
        /// bounded look, which may find none before the end.
        case unclaimed(HistoryFilter)
    }

    package var kind: Kind
    /// Where to go on: the ``RecordPage/next`` of the page before; `nil` for the beginning.
    package var after: Int64?
    /// How many records at most.
    package var limit: Int

    package init(_ kind: Kind, after: Int64? = nil, limit: Int) {
        self.kind = kind
        self.after = after
        self.limit = limit
    }
}
