import AlertCore
import FoundationEssentials
import TestSupport
import Testing
import TextFormats

@Suite("Texts of deadlines", .inParallel)
struct DeadlineTextTests {
    /// 2026-11-20T10:03:00.000Z
    private static let now = Date(timeIntervalSince1970: 1_795_168_980)

    @Test(
        "A deadline is a duration or a moment",
        arguments: [
            ("10m", Alert.Deadline.after(.seconds(600))), ("45", .after(.seconds(45))),
            ("2w", .after(.seconds(1_209_600))),
            ("2026-11-20T10:04:00Z", .at(Self.now.addingTimeInterval(60))),
            ("now", .at(Self.now)),
        ])
    func deadline(text: String, expected: Alert.Deadline) throws {
        #expect(try DateText.deadline(text, now: Self.now) == expected)
    }

    @Test("The distance of a deadline is the time left, and zero once it has passed")
    func distance() {
        let soon = Alert.Deadline.at(Self.now.addingTimeInterval(1.5))
        #expect(soon.distance(from: Self.now) == .milliseconds(1500))
        let past = Alert.Deadline.at(Self.now.addingTimeInterval(-180))
        #expect(past.distance(from: Self.now) == .zero)
        #expect(Alert.Deadline.after(.seconds(3)).distance(from: Self.now) == .seconds(3))
    }

    @Test(
        "A text that is neither a moment nor a possible duration is refused with the reason",
        arguments: [
            ("", "is not a time"), ("2026-11", "is not a time"), ("30m1h", "is not a time"),
            ("noon", "is not a time"), ("0d", "is zero"), ("-7d", "is negative"),
            ("5300w", "longer than 100 years"),
        ])
    func refused(text: String, reason: String) {
        let error = #expect(throws: UnreadableText.self) {
            try DateText.deadline(text, now: Self.now)
        }
        #expect(error?.description.contains(reason) == true)
    }
}
