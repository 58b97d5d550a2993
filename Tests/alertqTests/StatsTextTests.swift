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

    @Test(
        "A histogram fits its screen, and every count has a bar",
        arguments: [20, 40, 80, 200], [false, true])
    func histogram(columns: Int, hasBlocks: Bool) {
        let lines = BarText.histogram(Self.buckets, columns: columns, hasBlocks: hasBlocks)
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= max(columns, 25) })
        let (full, least): (Character, Character) = hasBlocks ? ("█", "▏") : ("#", "#")
        #expect(lines[0].contains("1-2 s     3  \(least)") && lines[1].contains("30 s-1 min"))
        #expect(lines[2].hasSuffix("  \(least)"))
        let longest = lines[1].filter { $0 == full }.count
        #expect(longest <= 60 && longest >= 4)
    }

    @Test("Without counts there are no bars")
    func nothing() {
        #expect(BarText.histogram([], columns: 80, hasBlocks: true).isEmpty)
        #expect(
            BarText.histogram(AnswerTimes().histogram, columns: 80, hasBlocks: false).isEmpty)
        #expect(BarText.columns([], width: 80).isEmpty)
        #expect(BarText.columns([0, 0], width: 80).isEmpty)
    }

    @Test("Numbers side by side have bars of their height, and none where there is no room")
    func columns() {
        let lines = BarText.columns([0, 1, 40, 20], width: 80)
        #expect(lines == ["40      █", "        █", "        █ ▄", "        █ █", "      ▁ █ █"])
        #expect(BarText.columns([3, 3], width: 5)[0] == "3  ██")
        #expect(BarText.columns([3, 3, 3], width: 5).isEmpty)
        #expect(BarText.columns(Array(repeating: 9, count: 30), width: 80)[0].count == 3 + 59)
        let ascii = BarText.columns([1, 40], width: 80).map(TerminalCharacters.ascii.ours)
        #expect(ascii == ["40    #", "      #", "      #", "      #", "    . #"])
    }
}
