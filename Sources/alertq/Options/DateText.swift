import AlertQueue
import FoundationEssentials
import Glibc

/// Moments as people type them: RFC 3339, a local date or time, or how long ago.
package enum DateText {
    /// Reads `2026-11-20T10:00:00Z`, `2026-11-20T10:00`, `2026-11-20` or `7d`.
    package static func parse(_ text: String, now: Date) throws(UsageError) -> Date {
        if text.contains("-") {
            var scanner = DateScanner(text)
            if let date = scanner.date() { return date }
        } else if Int(text) == nil, let duration = try? DurationText.parse(text) {
            // A number alone is more likely a year than so many seconds ago.
            let milliseconds = Timestamp.milliseconds(now) - duration.milliseconds
            return Timestamp.date(milliseconds: milliseconds)
        }
        throw UsageError(
            "“\(text)” is not a time; write it like 2026-11-20, 2026-11-20T10:00, "
                + "2026-11-20T10:00:00Z, or 7d for seven days ago")
    }
}

/// Reads one moment from left to right.
private struct DateScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    /// The moment, or `nil` if the text is none; a time without an offset is a local one.
    mutating func date() -> Date? {
        guard let year = number(4), skip("-"), let month = number(2, 1...12), skip("-"),
            let day = number(2, 1...Self.days(in: month, of: year)), year >= 1970
        else { return nil }
        var time = tm()
        time.tm_year = Int32(year - 1900)
        time.tm_mon = Int32(month - 1)
        time.tm_mday = Int32(day)
        // The C library finds out whether it is summer time.
        time.tm_isdst = -1
        if rest.isEmpty { return Self.local(&time, milliseconds: 0) }
        guard skip("T") || skip("t") || skip(" "), let hour = number(2, 0...23), skip(":"),
            let minute = number(2, 0...59)
        else { return nil }
        time.tm_hour = Int32(hour)
        time.tm_min = Int32(minute)
        var milliseconds = 0
        if skip(":") {
            // 60 is a leap second, which the C library carries into the next minute.
            guard let second = number(2, 0...60) else { return nil }
            time.tm_sec = Int32(second)
            if skip(".") {
                guard let fraction = fraction() else { return nil }
                milliseconds = fraction
            }
        }
        if rest.isEmpty { return Self.local(&time, milliseconds: milliseconds) }
        guard let offset = offset(), rest.isEmpty else { return nil }
        let seconds = Int64(timegm(&time)) - Int64(offset)
        return Timestamp.date(milliseconds: seconds * 1000 + Int64(milliseconds))
    }

    /// See mktime(3).
    private static func local(_ time: inout tm, milliseconds: Int) -> Date {
        Timestamp.date(milliseconds: Int64(mktime(&time)) * 1000 + Int64(milliseconds))
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

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let byte = rest.first, UInt32(byte) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }
}
