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

    /// How long one of our operations takes, in microseconds, or its share of the time where
    /// several run at once; `nil` where the row has no rate.
    var microseconds: Double? { Self.microseconds(ours, unit) }

    /// The same of the plain thing beside it.
    var plainMicroseconds: Double? { plain.flatMap { Self.microseconds($0, unit) } }

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

    /// Something beside another thing, which has nothing to reach.
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

    private static func microseconds(_ value: Double, _ unit: String) -> Double? {
        unit == "/s" && value > 0 ? 1e6 / value : nil
    }
}

extension Double {
    /// Without a fraction where it has none.
    var formattedShort: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
