/// A benchmark: it measures the queue beside something plainer, in the same run.
protocol Benchmark: Sendable {
    static var name: String { get }
    /// One line for `--list`.
    static var abstract: String { get }

    /// Measures, as much as the plan says.
    static func run(_ plan: Plan) async throws -> [Row]
}

/// A benchmark whose size is always the same.
protocol RoundBenchmark: Benchmark {
    /// Measures in `rounds` interleaved rounds.
    static func run(rounds: Int) async throws -> [Row]
}

extension RoundBenchmark {
    static func run(_ plan: Plan) async throws -> [Row] { try await run(rounds: plan.rounds) }
}

/// One line of the result.
struct Row: Sendable {
    let benchmark: String
    let measured: String
    /// What the queue needs or does.
    let ours: Double
    /// What the plain thing beside it needs or does.
    let plain: Double?
    let unit: String
    /// What is to be reached, such as `≥ 0.85 ×`.
    let reach: String
    let isReached: Bool
    /// The figure that the reach speaks of.
    let figure: Double

    /// A rate that is to be at least a multiple of the plain one.
    static func rate(
        _ benchmark: String, _ measured: String, ours: Double, plain: Double,
        atLeast factor: Double
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: ours, plain: plain, unit: "/s",
            reach: "≥ \(factor) ×", isReached: ours / plain >= factor, figure: ours / plain)
    }

    /// A time that is to be at most a multiple of the plain one.
    static func time(
        _ benchmark: String, _ measured: String, ours: Double, plain: Double, unit: String,
        atMost factor: Double
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: ours, plain: plain, unit: unit,
            reach: "≤ \(factor) ×", isReached: ours / plain <= factor, figure: ours / plain)
    }

    /// A share of what is physically possible, which has no reach of its own.
    static func comparison(
        _ benchmark: String, _ measured: String, ours: Double, plain: Double, unit: String
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: ours, plain: plain, unit: unit,
            reach: "", isReached: true, figure: ours / plain)
    }

    /// A figure that is to stay below a bound.
    static func bound(
        _ benchmark: String, _ measured: String, _ value: Double, unit: String,
        atMost limit: Double, plain: Double? = nil
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: value, plain: plain, unit: unit,
            reach: "≤ \(limit.formattedShort) \(unit)", isReached: value <= limit, figure: value)
    }

    /// A rate that is to reach a number.
    static func speed(
        _ benchmark: String, _ measured: String, _ value: Double, atLeast limit: Double
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: value, plain: nil, unit: "/s",
            reach: "≥ \(Int(limit)) /s", isReached: value >= limit, figure: value)
    }

    /// Something to read other figures by, which has nothing to reach.
    static func reference(
        _ benchmark: String, _ measured: String, _ value: Double, unit: String
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: value, plain: nil, unit: unit,
            reach: "", isReached: true, figure: value)
    }
}

extension Double {
    /// Without a fraction where it has none.
    var formattedShort: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}

extension [Double] {
    var median: Double { percentile(50) }

    /// The value below which a share of all values lies, from 0 to 100.
    func percentile(_ share: Double) -> Double {
        guard !isEmpty else { return .nan }
        let ordered = sorted()
        let place = Int((Double(ordered.count - 1) * share / 100).rounded())
        return ordered[place]
    }
}

extension Duration {
    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    var inMicroseconds: Double { inSeconds * 1e6 }
}
