import AlertPresenters
import AlertQueue
import TestSupport
import Testing
import TextFormats

@testable import alertq

@Suite("Durations and histograms", .inParallel)
struct StatsTextTests {
    @Test(
        "A duration is written in its two largest units",
        arguments: [
            (0, "0 ms"), (850, "850 ms"), (1000, "1 s"), (1549, "1.5 s"), (9960, "10 s"),
            (12_400, "12 s"), (59_499, "59 s"), (60_000, "1 min"), (200_000, "3 min 20 s"),
            (3_600_000, "1 h"), (7_500_000, "2 h 5 min"), (273_600_000, "3 d 4 h"),
            (.max, "106751991167 d 7 h"), (.min, "0 ms"),
        ])
    func lengths(milliseconds: Int64, text: String) {
        #expect(LengthText.text(.milliseconds(milliseconds)) == text)
    }

    private static let buckets: [AnswerTimes.Bucket] = {
        let bounds: [Int64] = [0, 1, 2, 30, 60, 3600]
        let counts = [0, 3, 0, 1000, 1, 0]
        return zip(bounds.indices, counts).map { index, count in
            AnswerTimes.Bucket(
                from: .seconds(bounds[index]),
                to: index + 1 < bounds.count ? .seconds(bounds[index + 1]) : nil, count: count)
        }
    }()

    @Test("A histogram fits its screen, and every count has a bar", arguments: [20, 40, 80, 200])
    func histogram(columns: Int) {
        let lines = HistogramText.lines(Self.buckets, columns: columns)
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= max(columns, 25) })
        #expect(lines.map { $0.contains("#") } == [true, false, true, true])
        #expect(lines[0].contains("1-2 s     3  #") && lines[2].contains("30 s-1 min"))
        let longest = lines[2].filter { $0 == "#" }.count
        #expect(longest <= 60 && longest >= 4)
    }

    @Test("Without counts there are no bars")
    func nothing() {
        #expect(HistogramText.lines([], columns: 80).isEmpty)
        #expect(HistogramText.lines(AnswerTimes().histogram, columns: 80).isEmpty)
    }
}
