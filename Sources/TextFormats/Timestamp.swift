import FoundationEssentials
import Glibc

/// Times as the database and the command write them.
package enum Timestamp {
    /// A time in UTC as RFC 3339 with milliseconds: `2026-11-20T10:00:00.000Z`.
    package static func text(_ date: Date) -> String {
        let (second, rest) = milliseconds(date).quotientAndRemainder(dividingBy: 1000)
        let (whole, fraction) = rest < 0 ? (second - 1, rest + 1000) : (second, rest)
        // Foundation's calendars and formats take a process a quarter of a millisecond to load.
        var (time, parts) = (time_t(whole), tm())
        gmtime_r(&time, &parts)
        let year = digits(Int(parts.tm_year) + 1900, 4)
        let day = "\(digits(parts.tm_mon + 1, 2))-\(digits(parts.tm_mday, 2))"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }
        return "\(year)-\(day)T\(clock.joined(separator: ":")).\(digits(fraction, 3))Z"
    }

    /// A number with at least a number of digits.
    private static func digits(_ number: some BinaryInteger, _ length: Int) -> String {
        let text = String(number.magnitude)
        let zeros = String(repeating: "0", count: max(0, length - text.utf8.count))
        return (number < 0 ? "-" : "") + zeros + text
    }

    /// The time in a text of ``text(_:)``, to the millisecond; `nil` for any other text.
    package static func date(_ text: String) -> Date? {
        let parts = text.dropLast().split(separator: ".")
        guard text.hasSuffix("Z"), parts.count == 2, parts[1].utf8.count == 3,
            let fraction = Int64(parts[1]), fraction >= 0,
            let whole = try? Date(
                parts[0] + "Z", strategy: Date.ISO8601FormatStyle(timeZone: .gmt))
        else { return nil }
        let seconds = Int64(whole.timeIntervalSince1970.rounded())
        return date(milliseconds: seconds * 1000 + fraction)
    }

    /// Reads a time of RFC 3339, with any fraction and offset, to the millisecond; `nil` for anything
    /// else.
    package static func rfc3339(_ text: String) -> Date? {
        guard isDay(text.prefix(10)) else { return nil }
        return date(text)
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }

    /// Whether a text such as `2026-02-30` is a day of the calendar, which Foundation doesn't ask.
    private static func isDay(_ text: Substring) -> Bool {
        let parts = text.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 3, (1...12).contains(parts[1]) else { return false }
        let isLeap = parts[0] % 4 == 0 && (parts[0] % 100 != 0 || parts[0] % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...days[parts[1] - 1]).contains(parts[2])
    }

    /// The times of the years 1970 to 9999, which all have different texts.
    package static let plain = Int64(0)...253_402_300_799_999

    package static func date(milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The milliseconds since 1970; dates more than 200,000 years away are clamped, so that none
    /// overflows, and a date that is not a number counts as 1970.
    package static func milliseconds(_ date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        guard !milliseconds.isNaN else { return 0 }
        return Int64(min(max(milliseconds, -farthest), farthest))
    }

    private static let farthest = 200_000 * 366 * 86_400_000.0
}

extension Duration {
    /// The duration in whole milliseconds, rounded up, so that no timer fires early; at most 292
    /// million years.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        guard !isTooLong else { return seconds < 0 ? .min : .max }
        return whole.addingBounded((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// Sums that are clamped to the range of the type: a damaged row may hold any number, and must not
/// crash the process that reads it.
extension Int64 {
    package func addingBounded(_ other: Int64) -> Int64 {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .min : .max) : sum
    }

    package func subtractingBounded(_ other: Int64) -> Int64 {
        let (difference, isBeyond) = subtractingReportingOverflow(other)
        return isBeyond ? (other < 0 ? .max : .min) : difference
    }
}
