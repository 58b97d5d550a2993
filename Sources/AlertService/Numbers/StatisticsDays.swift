import AlertCore
import FoundationEssentials
import TextFormats

/// The days that statistics count one by one.
package struct StatisticsDays: Sendable {
    /// How many there are if nobody says since when.
    private static let count = 30
    /// How many there are at most: those of a leap year.
    private static let limit = 366

    /// When each of them begins, and when the last one ends.
    package let bounds: [Date]
    private let isUTC: Bool

    /// - Parameters:
    ///   - since: The time of asking from which on alerts are counted; `nil` for all.
    ///   - until: The time before which they are; `nil` for all up to now.
    ///   - isUTC: Whether days are those of UTC, and not those of the machine's time zone.
    package init(since: Date?, until: Date?, now: Date, inUTC isUTC: Bool = false) {
        self.isUTC = isUTC
        let last = min(now, until.map { $0 - 0.001 } ?? now)
        let days = Double(Self.count - 1) * 86_400
        bounds = LocalTime.midnights(
            from: since ?? last - days, through: last,
            limit: since == nil ? Self.count : Self.limit, inUTC: isUTC)
    }

    /// The name of a day: `2026-11-20`.
    package func name(of day: AlertStatistics.Day) -> String {
        LocalTime.day(day.start, inUTC: isUTC)
    }
}
