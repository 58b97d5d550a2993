import TestSupport
import Testing

@testable import AlertCore

@Suite("Answer times", .inParallel)
struct AnswerTimesTests {
    @Test("Percentiles are the nearest rank of few answers, and close to it of many")
    func percentiles() throws {
        var random = TestRandom()
        for count in [1, 2, 10, 9999, 10_000, 10_001, 50_000] {
            var times = AnswerTimes()
            var all: [Int64] = []
            for _ in 0..<count {
                // From a millisecond to weeks, evenly by their magnitude.
                let magnitude = Int64.random(in: 0...30, using: &random)
                let time = Int64(1) << magnitude + Int64.random(in: 0...1000, using: &random)
                all.append(time)
                times.add(milliseconds: time)
            }
            all.sort()
            for percent in [0, 1, 50, 90, 99, 99.9, 100] as [Double] {
                let rank = min(count, max(1, Int((percent / 100 * Double(count)).rounded(.up))))
                let exact = all[rank - 1]
                let told = try #require(times.percentile(percent)).milliseconds
                let error = abs(told - exact)
                #expect(count <= 10_000 ? error == 0 : error * 100 <= exact, "\(count) \(percent)")
            }
            #expect(times.histogram.reduce(0) { $0 + $1.count } == count)
        }
    }

    @Test("Every time has one narrow bucket, whose middle lies in it")
    func buckets() {
        var last = -1
        for time in [0, 1, 127, 128, 129, 130, 255, 256, 1 << 20, 1 << 40, .max] as [Int64] {
            let bucket = AnswerTimes.bucket(of: time)
            #expect(bucket >= last)
            #expect(AnswerTimes.bucket(of: AnswerTimes.value(at: bucket)) == bucket)
            last = bucket
        }
    }

    @Test("Without answers there is nothing to tell, and a clock set back counts as no time")
    func edges() {
        var times = AnswerTimes()
        #expect(times.median == nil && times.longest == nil)
        times.add(milliseconds: -5)
        times.add(milliseconds: .max)
        #expect(times.shortest == .zero && times.count == 2)
        #expect(times.histogram.first?.count == 1 && times.histogram.last?.count == 1)
    }
}
