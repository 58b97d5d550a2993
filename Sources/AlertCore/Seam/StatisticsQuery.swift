import FoundationEssentials

/// Which alerts to count.
package struct StatisticsQuery: Sendable, Codable {
    /// The name of the asker; `nil` means all.
    package var source: String?
    /// The earliest time of asking, inclusive.
    package var since: Date?
    /// The latest time of asking, exclusive.
    package var until: Date?
    /// When each of the days begins that are counted separately, and when the last one ends, in
    /// order: whole quarters of an hour, as midnight is in every time zone.
    package var days: [Date] = []

    package init(
        source: String? = nil, since: Date? = nil, until: Date? = nil, days: [Date] = []
    ) {
        self.source = source
        self.since = since
        self.until = until
        self.days = days
    }
}
