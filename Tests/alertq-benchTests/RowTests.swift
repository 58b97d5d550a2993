import Foundation
import TestSupport
import Testing

@testable import alertq_bench

@Suite("Rows of the benchmark", .inParallel)
struct RowTests {
    @Test("A target is met by a rate at or above it, and by a time at or below it")
    func reach() {
        #expect(Row.rate("a", "b", ours: 90, plain: 100, atLeast: 0.85).isMet)
        #expect(!Row.rate("a", "b", ours: 84, plain: 100, atLeast: 0.85).isMet)
        #expect(Row.time("a", "b", ours: 120, plain: 100, unit: "µs", atMost: 1.2).isMet)
        #expect(!Row.time("a", "b", ours: 121, plain: 100, unit: "µs", atMost: 1.2).isMet)
        #expect(Row.bound("a", "b", 4, unit: "ms", atMost: 4).isMet)
        #expect(!Row.bound("a", "b", 4.1, unit: "ms", atMost: 4).isMet)
        #expect(Row.speed("a", "b", 300_000, atLeast: 300_000).isMet)
        #expect(!Row.speed("a", "b", 299_999, atLeast: 300_000).isMet)
        #expect(!Row.bound("a", "b", .nan, unit: "ms", atMost: 4).isMet)
    }

    @Test("A row as JSON has the figure, the plain value and the target")
    func json() throws {
        let row = Row.rate("ask", "1 caller", ours: 150, plain: 100, atLeast: 0.85)
        let parsed = try JSONSerialization.jsonObject(with: Data(Report.json(row).utf8))
        let object = try #require(parsed as? [String: Any])
        #expect(object["benchmark"] as? String == "ask")
        #expect(object["measured"] as? String == "1 caller")
        #expect(object["alertq"] as? Double == 150)
        #expect(object["plain"] as? Double == 100)
        #expect(object["figure"] as? Double == 1.5)
        #expect(object["reach"] as? String == "≥ 0.85 ×")
        #expect(object["reached"] as? Bool == true)
        #expect(object["alertq_us"] as? Double == 1e6 / 150)
        #expect(object["plain_us"] as? Double == 10_000)
        let lone = Report.json(.bound("a", "b", 1, unit: "ms", atMost: 4))
        #expect(lone.contains(#""plain":null"#))
        #expect(lone.contains(#""reach":"≤ 4 ms""#))
        #expect(lone.contains(#""alertq_us":null,"plain_us":null"#))
    }

    @Test("Only a rate says how long one operation takes")
    func microseconds() {
        let rate = Row.rate("a", "b", ours: 4000, plain: 8000, atLeast: 0.85)
        #expect(rate.microseconds == 250)
        #expect(rate.plainMicroseconds == 125)
        #expect(Report.line(rate).contains("4000 /s, 250 µs"))
        #expect(Report.line(rate).contains("8000 /s, 125 µs"))
        let speed = Row.speed("a", "b", 500_000, atLeast: 300_000)
        #expect(speed.microseconds == 2)
        #expect(speed.plainMicroseconds == nil)
        #expect(Row.time("a", "b", ours: 1, plain: 2, unit: "ms", atMost: 1).microseconds == nil)
        #expect(Row.reference("a", "b", 0, unit: "/s").microseconds == nil)
    }

    @Test("A row for people says whether the target was met")
    func line() {
        #expect(Report.line(.bound("a", "b", 1, unit: "ms", atMost: 4)).hasSuffix("yes"))
        #expect(Report.line(.bound("a", "b", 5, unit: "ms", atMost: 4)).hasSuffix("NO"))
        #expect(!Report.line(.reference("a", "b", 5, unit: "ms")).contains("yes"))
    }

    @Test(
        "A percentile is one of the values, and the median is the middle one",
        arguments: [(0.0, 1.0), (50, 3), (99, 5), (100, 5)])
    func percentiles(share: Double, value: Double) {
        #expect([5.0, 1, 4, 2, 3].percentile(share) == value)
        #expect([Double]().percentile(share).isNaN)
    }
}
