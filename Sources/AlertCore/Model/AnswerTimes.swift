import TextFormats

/// How long people (not programs) took to answer, in bounded memory.
///
/// Percentiles are exact for up to 10,000 answers, and within one percent beyond.
public struct AnswerTimes: Sendable, Codable {
    /// One bar of a histogram.
    public struct Bucket: Sendable, Hashable {
        /// The shortest time that counts, inclusive.
        public let from: Duration
        /// The time at which the next bucket begins; `nil` for the last one.
        public let to: Duration?
        /// How many answers took this long.
        public let count: Int

        package init(from: Duration, to: Duration?, count: Int) {
            (self.from, self.to, self.count) = (from, to, count)
        }
    }

    /// How long most answers took, in two figures.
    public struct Summary: Sendable, Hashable, Codable {
        /// How many answers there are.
        public let count: Int
        /// The time within which half of them came; `nil` if there are no answers.
        public let median: Duration?
        /// The time within which 90 percent of them came; `nil` if there are no answers.
        public let percentile90: Duration?
    }

    /// How many answers there are.
    public private(set) var count = 0
    /// The shortest time; `nil` if there are no answers.
    public var shortest: Duration? { count > 0 ? .milliseconds(least) : nil }
    /// The longest time; `nil` if there are no answers.
    public var longest: Duration? { count > 0 ? .milliseconds(most) : nil }
    /// The time within which half of the answers came; `nil` if there are no answers.
    public var median: Duration? { percentile(50) }

    /// The total time of all answers.
    package var sum: Duration { .milliseconds(total) }

    private var total: Int64 = 0
    private var least = Int64.max
    private var most: Int64 = 0
    /// The individual times, while there are few.
    private var exact: [Int64]? = []
    /// How many answers there are in each of many narrow buckets.
    private var fine: [Int] = []
    private var coarse = [Int](repeating: 0, count: Self.bounds.count + 1)

    /// How many of them are kept.
    private var exactLimit = 10_000
    /// The bounds of the bars in milliseconds: growing steps, at familiar times.
    private static let bounds: [Int64] = [
        1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800,
        604_800, 2_592_000,
    ].map { $0 * 1000 }

    /// The times of no answers.
    package init() {}

    /// The same for one of many groups, whose percentiles are exact up to fewer answers.
    init(exactUpTo limit: Int) { exactLimit = limit }

    var summary: Summary {
        Summary(count: count, median: median, percentile90: percentile(90))
    }

    /// The time within which a percentage of the answers came: the nearest rank.
    ///
    /// - Parameter percent: From 0 to 100; values outside are clamped.
    public func percentile(_ percent: Double) -> Duration? {
        guard count > 0 else { return nil }
        let share = percent.isNaN ? 0 : min(max(percent, 0), 100) / 100
        let rank = min(count, max(1, Int((share * Double(count)).rounded(.up))))
        if let exact { return .milliseconds(exact.sorted()[rank - 1]) }
        var passed = 0
        for (bucket, number) in fine.enumerated() {
            passed += number
            guard passed >= rank else { continue }
            return .milliseconds(min(most, max(least, Self.value(at: bucket))))
        }
        return .milliseconds(most)
    }

    /// A histogram with bars of about logarithmic width, from 1 s to 30 d; the first and last are
    /// open-ended.
    public var histogram: [Bucket] {
        coarse.enumerated().map { bucket, count in
            Bucket(
                from: bucket == 0 ? .zero : .milliseconds(Self.bounds[bucket - 1]),
                to: bucket < Self.bounds.count ? .milliseconds(Self.bounds[bucket]) : nil,
                count: count)
        }
    }

    /// Adds an answer; a clock that was set back does not make its time negative.
    mutating func add(milliseconds: Int64) {
        let time = max(0, milliseconds)
        count += 1
        total = total.addingBounded(time)
        least = min(least, time)
        most = max(most, time)
        coarse[Self.bounds.firstIndex { time < $0 } ?? Self.bounds.count] += 1
        let bucket = Self.bucket(of: time)
        if bucket >= fine.count { fine += repeatElement(0, count: bucket + 1 - fine.count) }
        fine[bucket] += 1
        if count <= exactLimit {
            exact?.append(time)
        } else {
            exact = nil
        }
    }

    /// The number of a time's narrow bucket: 64 buckets per doubling, exact below 128 ms.
    static func bucket(of time: Int64) -> Int {
        guard time >= 128 else { return Int(time) }
        let shift = 63 - time.leadingZeroBitCount - 6
        return shift * 64 + Int(time >> Int64(shift))
    }

    /// The middle of a narrow bucket.
    static func value(at bucket: Int) -> Int64 {
        guard bucket >= 128 else { return Int64(bucket) }
        let shift = bucket / 64 - 1
        let start = Int64(bucket - shift * 64) << Int64(shift)
        return start + (Int64(1) << Int64(shift)) / 2
    }
}

extension AnswerTimes.Bucket {
    /// The times that count, for people: `under 1 s`, `1-2 s`, `30 s-1 min`, `over 30 d`.
    package var label: String {
        guard let to = to.map(LengthText.bound) else {
            let from = LengthText.bound(from)
            return "over \(from.number) \(from.unit)"
        }
        guard from > .zero else { return "under \(to.number) \(to.unit)" }
        let from = LengthText.bound(from)
        return from.unit == to.unit
            ? "\(from.number)-\(to.number) \(to.unit)"
            : "\(from.number) \(from.unit)-\(to.number) \(to.unit)"
    }
}
