import TestSupport
import Testing

@testable import TextFormats

@Suite("Durations and moments", .inParallel)
struct DurationTextTests {
    @Test(
        "A duration is the sum of its parts",
        arguments: [
            ("90s", 90_000), ("10m", 600_000), ("1h30m", 5_400_000), ("2d", 172_800_000),
            ("500ms", 500), ("45", 45_000), ("1d2h3m4s5ms", 93_784_005), ("007", 7_000),
            ("0h1s", 1_000), ("2w", 1_209_600_000), ("1w1d", 691_200_000),
        ])
    func durations(text: String, milliseconds: Int64) throws {
        #expect(try DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test("What was probably meant by a text that is not a duration is a duration")
    func suggestions() throws {
        for (text, meant) in [
            ("0.3s", "300ms"), ("1.5h", "1h30m"), ("2,5d", "2d12h"), ("1.5", "1s500ms"),
            ("10min", "10m"), ("10 minutes", "10m"), ("1 Hour", "1h"), ("2weeks", "2w"),
            ("5secs", "5s"), ("0.0001s", nil), ("0.0", nil), ("9e9d", nil), ("99999999w", nil),
            ("x", nil), (".", nil), ("1.2.3s", nil), ("10 fortnights", nil), ("", nil),
        ] as [(String, String?)] {
            #expect(DurationText.suggestion(for: text) == meant, "\(text)")
            if let meant { _ = try DurationText.parse(meant) }
        }
        #expect {
            _ = try DurationText.parse("1,5 h")
        } throws: {
            "\($0)" == "“1,5 h” is not a duration; write 1h30m"
        }
    }

    @Test(
        "A text that is not a duration is refused with a sentence",
        arguments: [
            ("0", "is zero"), ("0s", "is zero"), ("-5", "is negative"), ("-1h", "is negative"),
            ("-", "not a duration"),
            ("", "is empty"), ("abc", "not a duration"), ("1.5h", "not a duration"),
            ("10 m", "not a duration"), ("5x", "not a duration"), ("30m1h", "not a duration"),
            ("1h1h", "not a duration"), ("1h30", "not a duration"), ("h", "not a duration"),
            ("999999999999", "longer than 100 years"), ("99999999999999999999", "longer than"),
            ("36600d1s", "longer than 100 years"), ("9223372036854775807d", "longer than"),
            ("+5", "not a duration"), ("５s", "not a duration"),
        ])
    func refused(text: String, reason: String) throws {
        let error = try #require(throws: UnreadableText.self) { try DurationText.parse(text) }
        #expect(error.description.contains(reason))
    }
}
