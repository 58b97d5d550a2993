import FoundationEssentials
import Glibc

/// Moments as people read them: in local time, with the zone if the day is not today or the text is
/// kept. See localtime(3).
package enum LocalTime {
    /// How much of a moment to print.
    package enum Form: Sendable {
        /// The time of day, `14:05`; on another day also the date and zone, `2026-11-19 14:05 CET`.
        case brief(now: Date)
        /// The full date and time, for texts that are kept: `2026-11-20 14:05:07 CET`.
        case whole
        /// UTC, for programs: `2026-11-20T13:05:07.000Z`.
        case utc
    }

    package static func text(_ date: Date, _ form: Form) -> String {
        switch form {
        case .utc: return Timestamp.text(date)
        case .whole:
            let time = fields(date)
            return "\(day(time)) \(clock(time)):\(two(time.tm_sec)) \(zone(time))"
        case .brief(let now):
            let (time, today) = (fields(date), fields(now))
            guard time.tm_yday != today.tm_yday || time.tm_year != today.tm_year else {
                return clock(time)
            }
            return "\(day(time)) \(clock(time)) \(zone(time))"
        }
    }

    /// The time of day to the second, for lines printed as events happen: `14:05:07`.
    package static func seconds(_ date: Date) -> String {
        let time = fields(date)
        return "\(clock(time)):\(two(time.tm_sec))"
    }

    /// The moment's local year, month, day and so on.
    package static func fields(_ date: Date) -> tm {
        let (whole, rest) = Timestamp.milliseconds(date).quotientAndRemainder(dividingBy: 1000)
        // Beyond the range of localtime(3), any year will do.
        var seconds = time_t(min(max(rest < 0 ? whole - 1 : whole, -farthest), farthest))
        var time = tm()
        localtime_r(&seconds, &time)
        return time
    }

    /// The midnights at which days begin, from the day of one moment through that of another one, and
    /// the midnight after those: of the last ones, if there are more than a limit.
    package static func midnights(
        from first: Date, through last: Date, limit: Int, inUTC isUTC: Bool
    ) -> [Date] {
        var midnights = [midnight(after: last, by: 1, inUTC: isUTC)]
        while midnights.count <= limit {
            let start = midnight(after: last, by: 1 - midnights.count, inUTC: isUTC)
            midnights.append(start)
            if start <= first { break }
        }
        return midnights.reversed()
    }

    /// The beginning of a day so many days after that of a moment; see mktime(3).
    private static func midnight(after date: Date, by days: Int, inUTC isUTC: Bool) -> Date {
        if isUTC {
            let day = (Timestamp.milliseconds(date) / 86_400_000).addingBounded(Int64(days))
            return Timestamp.date(milliseconds: day * 86_400_000)
        }
        var time = fields(date)
        (time.tm_hour, time.tm_min, time.tm_sec, time.tm_isdst) = (0, 0, 0, -1)
        time.tm_mday += Int32(clamping: days)
        return Date(timeIntervalSince1970: Double(mktime(&time)))
    }

    /// The day of a moment: `2026-11-20`.
    package static func day(_ date: Date, inUTC isUTC: Bool) -> String {
        isUTC ? String(Timestamp.text(date).prefix(10)) : day(fields(date))
    }

    private static let farthest: Int64 = 1_000_000_000_000

    private static func day(_ time: tm) -> String {
        "\(Int(time.tm_year) + 1900)-\(two(time.tm_mon + 1))-\(two(time.tm_mday))"
    }

    private static func clock(_ time: tm) -> String { "\(two(time.tm_hour)):\(two(time.tm_min))" }

    /// The zone's abbreviation, such as `CEST`, or the offset from UTC, such as `-03:00`, if the
    /// zone's name is only a number.
    private static func zone(_ time: tm) -> String {
        let name = time.tm_zone.map { String(cString: $0) } ?? ""
        if let first = name.first, first.isLetter, name.allSatisfy(\.isASCII) { return name }
        let minutes = Int32(clamping: abs(time.tm_gmtoff) / 60)
        return (time.tm_gmtoff < 0 ? "-" : "+") + "\(two(minutes / 60)):\(two(minutes % 60))"
    }

    private static func two(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
