import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import TextFormats

@Suite("Moments", .inParallel)
struct DateTextTests {
    /// 2026-11-20T10:03:00.000Z
    private static let now = Date(timeIntervalSince1970: 1_795_168_980)

    @Test(
        "A time with an offset means the same moment in every time zone",
        arguments: [
            ("2026-11-20T10:00:00Z", 1_795_168_800_000),
            ("2026-11-20t10:00:00.5z", 1_795_168_800_500),
            ("2026-11-20 10:00:00.123456Z", 1_795_168_800_123),
            ("2026-11-20T10:00:00+01:30", 1_795_163_400_000),
            ("2026-11-20T23:30:00-01:00", 1_795_221_000_000),
            ("2028-02-29T00:00Z", 1_835_395_200_000),
            ("2h", 1_795_161_780_000), ("7d", 1_794_564_180_000),
            ("1h30m", 1_795_163_580_000), ("1w", 1_794_564_180_000), ("now", 1_795_168_980_000),
        ])
    func absolute(text: String, milliseconds: Int64) throws {
        let date = try DateText.parse(text, now: Self.now)
        #expect(Timestamp.milliseconds(date) == milliseconds)
    }

    @Test(
        "A time without an offset is local time",
        arguments: [
            ("2026-11-20", [20, 0, 0, 0]), ("2026-11-20T00:00", [20, 0, 0, 0]),
            ("2026-11-20 00:00:00", [20, 0, 0, 0]), ("today", [0, 0, 0, 0]),
            ("yesterday", [-1, 0, 0, 0]), ("tomorrow", [1, 0, 0, 0]),
            ("yesterday 7:05", [-1, 7, 5, 0]), ("today 23:59:58.5", [0, 23, 59, 58]),
            ("tomorrow 9:00:01", [1, 9, 0, 1]),
        ])
    func local(text: String, expected: [Int32]) throws {
        let here = Self.parts(Self.now)
        let date = Self.parts(try DateText.parse(text, now: Self.now))
        // A day of the month, or a distance from today; no test of these crosses a month.
        let day = expected[0] < 2 ? here.tm_mday + expected[0] : expected[0]
        #expect([date.tm_year, date.tm_mon] == [here.tm_year, here.tm_mon])
        #expect([date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec] == [day] + expected[1...])
    }

    @Test(
        "A time of day is the next one for what is to come, and the last one that has passed otherwise",
        arguments: [
            ("22:00", "07:00", "2026-11-21T07:00", "2026-11-20T07:00"),
            ("22:00", "23:30:15", "2026-11-20T23:30:15", "2026-11-19T23:30:15"),
            ("22:00", "22:00", "2026-11-21T22:00", "2026-11-20T22:00"),
            ("00:00", "0:00", "2026-11-21T00:00", "2026-11-20T00:00"),
            ("23:59:59", "0:00", "2026-11-21T00:00", "2026-11-20T00:00"),
        ])
    func timeOfDay(now: String, text: String, next: String, last: String) throws {
        let moment = { try DateText.parse($0, now: Self.now) }
        let now = try moment("2026-11-20T" + now)
        #expect(DateText.next(text, now: now) == (try moment(next)))
        #expect(try DateText.parse(text, now: now) == (try moment(last)))
    }

    @Test("A time of day that ends a period comes after its beginning")
    func endOfPeriod() throws {
        let moment = { try DateText.parse($0, now: Self.now) }
        for (now, start, text, expected) in [
            ("2026-11-20T22:30", "2026-11-20T20:00", "23:00", "2026-11-20T23:00"),
            ("2026-11-20T01:00", "2026-11-19T22:00", "23:00", "2026-11-19T23:00"),
            ("2026-11-20T12:00", "2026-11-19T00:00", "10:00", "2026-11-20T10:00"),
            ("2026-11-20T12:00", "2026-11-20T11:00", "11:00", "2026-11-21T11:00"),
        ] {
            let date = try DateText.parse(
                text, now: try moment(now), after: try moment(start))
            #expect(date == (try moment(expected)), "\(now) \(start) \(text)")
        }
    }

    private static func parts(_ date: Date) -> tm {
        var seconds = time_t(date.timeIntervalSince1970)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts
    }

    @Test(
        "A text that is not a moment is refused",
        arguments: [
            "", "yesterdays", "2026", "2026-11", "2026-13-01", "2026-02-29", "2100-02-29",
            "2026-00-10",
            "2026-11-20T", "2026-11-20T24:00", "2026-11-20T10", "2026-11-20T10:00:00.Z",
            "2026-11-20T10:00:00+0100", "2026-11-20T10:00Zx", "1969-12-31", "5x", "30m1h",
            "20261120-", "2026-11-2٠", "today10:00", "today ", "now 10:00", "10:00Z", "24:00",
            "today 10", "noon",
        ])
    func refused(text: String) {
        #expect(Self.problem(with: text)?.contains("is not a time") == true)
        #expect(DateText.next(text, now: Self.now) == nil)
    }

    @Test(
        "An impossible duration is refused with its reason",
        arguments: [("0d", "is zero"), ("-7d", "is negative"), ("5300w", "longer than 100 years")])
    func length(text: String, reason: String) {
        #expect(Self.problem(with: text)?.contains(reason) == true)
    }

    /// The error for a text that can't be read; `nil` for one that can.
    private static func problem(with text: String) -> String? {
        do { _ = try DateText.parse(text, now: now) } catch { return error.description }
        return nil
    }
}
