/// Which entries of the audit log to read.
package struct LogQuery: Sendable, Codable {
    package enum Start: Sendable, Codable {
        /// The entries after one.
        case after(AuditHead)
        /// The entry with this number, and those that follow.
        case from(Int64)
        /// This many entries before the end.
        case last(Int)
    }

    package var start: Start
    /// The alert whose entries to read; `nil` for all.
    package var alert: Alert.ID?
    /// The maximum number of entries; the oldest come first.
    package var limit: Int

    package init(_ start: Start, of alert: Alert.ID? = nil, limit: Int) {
        self.start = start
        self.alert = alert
        self.limit = limit
    }
}
