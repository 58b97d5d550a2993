import FoundationEssentials

/// Which alerts to count.
package struct StatisticsQuery: Sendable, Codable {
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
