import AlertQueue
import FoundationEssentials
import TextFormats

/// A moment in the past as somebody typed it: “yesterday” and “7d” depend on when they are read.
struct PastTime: Sendable {
    let text: String

    /// - Parameter start: Where a period begins that it ends.
    func date(now: Date, after start: Date? = nil) throws(UsageError) -> Date {
        try UsageError.reading { () throws(UnreadableText) in
            try DateText.parse(text, now: now, after: start)
        }
    }
}

extension Argument where Value == PastTime {
    static var pastTime: Argument {
        Argument("TIME") { text throws(UsageError) in
            let time = PastTime(text: text)
            _ = try time.date(now: Date())
            return time
        }
    }
}

extension DateText {
    /// The help for every TIME that lies in the past.
    static let past = """
        A TIME is a local date or time, such as 2026-11-20, 2026-11-20T10:00 or “yesterday 10:00”; \
        one with an offset, such as 2026-11-20T10:00:00Z; a time of day, such as 10:00, which means \
        the last one; today, yesterday or now; or a duration, such as 90s, 1h30m, 7d or 2w, which \
        means that long ago. A day without a time means its beginning: --since yesterday --until \
        today covers all of yesterday.
        """

    /// The help for every TIME in the future.
    static let future = """
        A TIME is a duration, such as 90s, 10m, 1h30m, 2d or 1w, or just a number of seconds; a \
        time of day, such as 18:00, which means the next one; a local date or time, such as \
        2026-11-20, 2026-11-20T18:00 or “tomorrow 8:00”; or one with an offset, such as \
        2026-11-20T18:00:00Z. A day without a time means its beginning.
        """
}
