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

/// Some records.
package struct RecordPage: Sendable {
    package var records: [AlertRecord]
    /// The alerts that the page is of, also those whose records can't be read.
    package var ids: [Alert.ID]
    /// Where to go on; `nil` where nothing has been read.
    package var next: Int64?
    /// Whether there was nothing more when it was read.
    package var isEnd: Bool

    package init(records: [AlertRecord], next: Int64?, isEnd: Bool) {
        self.records = records
        ids = records.map(\.id)
        self.next = next
        self.isEnd = isEnd
    }
}

/// Which alerts to count.
package struct StatisticsQuery: Sendable {
    /// The name of the asker; `nil` means all.
    package var source: String?
    /// The earliest time of asking, inclusive.
    package var since: Date?
    /// The latest time of asking, exclusive.
    package var until: Date?

    package init(source: String? = nil, since: Date? = nil, until: Date? = nil) {
        self.source = source
        self.since = since
        self.until = until
    }
}
