import FoundationEssentials

/// Which records to read, where to start, and how many.
package struct RecordQuery: Sendable, Codable {
    package enum Kind: Sendable, Codable {
        /// Waiting alerts, in the order in which they will be shown, snoozed ones last; those of
        /// one source, or all. Those whose deadline has passed without being stored are among them
        /// on request, as expired.
        case waiting(source: String?, orOverdue: Bool = false)
        /// Responses, newest first.
        case history(HistoryFilter)
        /// Responses that a named handler has not processed, oldest first.
        case awaitingHandler(String)
        /// Responses that no asker has taken and no named handler waits for, oldest first; the
        /// search is bounded, so a page may be empty before the end.
        case awaitingHook(HistoryFilter)
    }

    package var kind: Kind
    /// Where to continue: the ``RecordPage/next`` of the previous page; `nil` for the beginning.
    package var after: Int64?
    /// The maximum number of records.
    package var limit: Int

    package init(_ kind: Kind, after: Int64? = nil, limit: Int) {
        self.kind = kind
        self.after = after
        self.limit = limit
    }
}
