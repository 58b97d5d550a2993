import FoundationEssentials
import Glibc

/// Moments as people type them: RFC 3339, a local date or time, a day's name, or how long ago.
package enum DateText {
    /// Reads a moment: `2026-11-20T10:00:00Z`, `2026-11-20`, `yesterday 10:00`, `10:00` for the last
    /// time that it was ten, or `7d` for seven days ago.
    ///
    /// - Parameter start: Where a period begins that the moment ends: a time of day is then at the
    ///   earliest the first one after it.
    package static func parse(
        _ text: String, now: Date, after start: Date? = nil
    ) throws(UnreadableText) -> Date {
        // A bare number is more likely a year than a number of seconds.
        if Int(text) == nil, let duration = try DurationText.length(text) {
            let milliseconds = Timestamp.milliseconds(now) - duration.milliseconds
            return Timestamp.date(milliseconds: milliseconds)
        }
        guard let date = moment(text, now: now, .last(after: start)) else {
            let advice =
                DurationText.suggestion(for: text).map { "\($0) for that long ago" }
                ?? "it like 7d or 1h30m for that long ago, yesterday, 10:00, 2026-11-20, "
                + "2026-11-20T10:00 or 2026-11-20T10:00:00Z"
            throw UnreadableText("“\(text)” is not a time; write \(advice)")
        }
        return date
    }

    /// Reads a moment to come: `10:00` for the next time that it is ten, or a date as above; `nil`
    /// for any other text.
    ///
    /// The moment may have passed already: the caller decides what that means.
    package static func next(_ text: String, now: Date) -> Date? {
        moment(text, now: now, .next)
    }

    private static func moment(
        _ text: String, now: Date, _ occurrence: DateScanner.Occurrence
    ) -> Date? {
        var scanner = DateScanner(text, now: now, occurrence)
        return scanner.date()
    }
}

/// Reads one moment from left to right.
private struct DateScanner {
    private static let days: [(name: String, distance: Int32)] = [
        ("today", 0), ("yesterday", -1), ("tomorrow", 1),
    ]

    /// Which of the moments with a time of day is meant.
    enum Occurrence {
        /// The next one.
        case next
        /// The last one; where that is not after a moment, the first one after it.
        case last(after: Date?)
    }

    private let now: Date
    private let occurrence: Occurrence
    private var rest: Substring.UTF8View

    init(_ text: String, now: Date, _ occurrence: Occurrence) {
        self.now = now
        self.occurrence = occurrence
        rest = text[...].utf8
    }

    /// The moment, or `nil` if the text is not one; a time without an offset is a local one.
    mutating func date() -> Date? {
        if skip("now") { return rest.isEmpty ? now : nil }
        if let day = Self.days.first(where: { skip($0.name) }) {
            var time = localDay(of: now, plus: day.distance)
            if rest.isEmpty { return LocalMoments(time).all.first }
            guard skip(" "), let milliseconds = timeOfDay(&time), rest.isEmpty else { return nil }
            return LocalMoments(time, milliseconds).all.first
        }
        if rest.prefix(3).contains(UInt8(ascii: ":")) {
            var time = tm()
            guard let milliseconds = timeOfDay(&time), rest.isEmpty else { return nil }
            return moment(at: time, milliseconds)
        }
        return writtenDate()
    }

    /// The moment with a time of day that is meant.
    private func moment(at time: tm, _ milliseconds: Int) -> Date? {
        func moments(around date: Date) -> [Date] {
            ([-1, 0, 1] as [Int32]).flatMap { distance in
                var day = localDay(of: date, plus: distance)
                (day.tm_hour, day.tm_min, day.tm_sec) = (time.tm_hour, time.tm_min, time.tm_sec)
                return LocalMoments(day, milliseconds).all
            }
        }
        switch occurrence {
        case .next: return moments(around: now).first { $0 > now }
        case .last(let start):
            let last = moments(around: now).last { $0 <= now }
            guard let last, let start, last <= start else { return last }
            return moments(around: start).first { $0 > start }
        }
    }

    /// `2026-11-20`, perhaps with a time, perhaps with an offset.
    private mutating func writtenDate() -> Date? {
        guard let year = number(4), skip("-"), let month = number(2, 1...12), skip("-"),
            let day = number(2, 1...Self.days(in: month, of: year)), year >= 1970
        else { return nil }
        var time = tm()
        time.tm_year = Int32(year - 1900)
        time.tm_mon = Int32(month - 1)
        time.tm_mday = Int32(day)
        if rest.isEmpty { return LocalMoments(time).all.first }
        guard skip("T") || skip("t") || skip(" "), let milliseconds = timeOfDay(&time) else {
            return nil
        }
        if rest.isEmpty { return LocalMoments(time, milliseconds).all.first }
        guard let offset = offset(), rest.isEmpty else { return nil }
        let seconds = Int64(timegm(&time)) - Int64(offset)
        return Timestamp.date(milliseconds: seconds * 1000 + Int64(milliseconds))
    }

    /// Reads hours, minutes and perhaps seconds; returns the milliseconds.
    private mutating func timeOfDay(_ time: inout tm) -> Int? {
        guard let hour = number(2, 0...23) ?? number(1, 0...9), skip(":"),
            let minute = number(2, 0...59)
        else { return nil }
        time.tm_hour = Int32(hour)
        time.tm_min = Int32(minute)
        guard skip(":") else { return 0 }
        // 60 is a leap second, which the C library carries into the next minute.
        guard let second = number(2, 0...60) else { return nil }
        time.tm_sec = Int32(second)
        return skip(".") ? fraction() : 0
    }

    /// The beginning of the local day `days` days from another; see localtime(3).
    private func localDay(of date: Date, plus days: Int32) -> tm {
        var time = LocalTime.fields(date)
        (time.tm_hour, time.tm_min, time.tm_sec) = (0, 0, 0)
        // The C library carries what goes beyond a month.
        time.tm_mday += days
        return time
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Seconds east of Greenwich: `Z` or `+01:00`.
    private mutating func offset() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hours = number(2, 0...23), skip(":"), let minutes = number(2, 0...59)
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    /// The milliseconds of a fraction of 1 to 9 digits.
    private mutating func fraction() -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let padded = (Array(digits) + [0x30, 0x30]).prefix(3)
        return Int(String(decoding: padded, as: UTF8.self))
    }

    private mutating func number(_ count: Int, _ range: ClosedRange<Int> = 0...9999) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(Substring(digits)), range.contains(number)
        else { return nil }
        rest = rest.dropFirst(count)
        return number
    }

    private mutating func skip(_ word: String) -> Bool {
        guard rest.starts(with: word.utf8) else { return false }
        rest = rest.dropFirst(word.utf8.count)
        return true
    }
}

/// The moments at which the local clock shows some time: one, or two where the clock is set back.
///
/// A time that the clock skips when it is set forward means as much later: 2:30 is then 3:30.
private struct LocalMoments {
    /// At least one, the earliest one first.
    let all: [Date]

    init(_ time: tm, _ milliseconds: Int = 0) {
        var time = time
        // As if it were in UTC; the offset is that of the time before or after the clock is set.
        let universal = timegm(&time)
        let candidates = [-86_400, 86_400].map { universal - Self.offset(at: universal + $0) }
        let shown = Set(candidates).filter { $0 + Self.offset(at: $0) == universal }.sorted()
        // With the offset of before, a skipped time is as much later.
        all = (shown.isEmpty ? [candidates[0]] : shown).map {
            Timestamp.date(milliseconds: Int64($0) * 1000 + Int64(milliseconds))
        }
    }

    /// Seconds east of Greenwich at a moment; see localtime(3).
    private static func offset(at moment: time_t) -> Int {
        var (moment, time) = (moment, tm())
        localtime_r(&moment, &time)
        return time.tm_gmtoff
    }
}
