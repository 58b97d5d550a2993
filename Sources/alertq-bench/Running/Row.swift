/// One line of the result.
struct Row: Sendable {
    let benchmark: String
    let measured: String
    /// The queue's value.
    let ours: Double
    /// The value of the plain thing that it is compared with.
    let plain: Double?
    let unit: String
    /// The target, such as `≥ 0.85 ×`; empty where there is none.
    let target: String
    let isMet: Bool
    /// The figure that the target applies to.
    let figure: Double

    /// How long one operation of the queue takes, in microseconds, or its share of the time where
    /// several run at once; `nil` where the row is not a rate.
    var microseconds: Double? { Self.microseconds(ours, unit) }

    /// The same for the plain thing.
    var plainMicroseconds: Double? { plain.flatMap { Self.microseconds($0, unit) } }

    /// A rate that should be at least a multiple of the plain one.
    static func rate(
        _ benchmark: String, _ measured: String, ours: Double, plain: Double,
        atLeast factor: Double
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: ours, plain: plain, unit: "/s",
            target: "≥ \(factor) ×", isMet: ours / plain >= factor, figure: ours / plain)
    }

    /// A time that should be at most a multiple of the plain one.
    static func time(
        _ benchmark: String, _ measured: String, ours: Double, plain: Double, unit: String,
        atMost factor: Double
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: ours, plain: plain, unit: unit,
            target: "≤ \(factor) ×", isMet: ours / plain <= factor, figure: ours / plain)
    }

    /// Something compared with another thing, without a target.
    static func comparison(
        _ benchmark: String, _ measured: String, ours: Double, plain: Double, unit: String
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: ours, plain: plain, unit: unit,
            target: "", isMet: true, figure: ours / plain)
    }

    /// A figure that should not exceed a limit.
    static func bound(
        _ benchmark: String, _ measured: String, _ value: Double, unit: String,
        atMost limit: Double, plain: Double? = nil
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: value, plain: plain, unit: unit,
            target: "≤ \(limit.formattedShort) \(unit)", isMet: value <= limit, figure: value)
    }

    /// A rate that should be at least a number.
    static func speed(
        _ benchmark: String, _ measured: String, _ value: Double, atLeast limit: Double
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: value, plain: nil, unit: "/s",
            target: "≥ \(Int(limit)) /s", isMet: value >= limit, figure: value)
    }

    /// Something to judge other figures by, without a target.
    static func reference(
        _ benchmark: String, _ measured: String, _ value: Double, unit: String
    ) -> Row {
        Row(
            benchmark: benchmark, measured: measured, ours: value, plain: nil, unit: unit,
            target: "", isMet: true, figure: value)
    }

    private static func microseconds(_ value: Double, _ unit: String) -> Double? {
        unit == "/s" && value > 0 ? 1e6 / value : nil
    }
}

extension Double {
    /// As text, without a fraction where it has none.
    var formattedShort: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}
