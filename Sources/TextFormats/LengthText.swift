/// Durations as people read them: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
package enum LengthText {
    package static func text(_ duration: Duration) -> String {
        let milliseconds = max(0, duration.milliseconds)
        if milliseconds < 1000 { return "\(milliseconds) ms" }
        if milliseconds < 10_000 {
            let tenths = (milliseconds + 50) / 100
            return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        }
        let seconds = milliseconds.addingBounded(500) / 1000
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return two(seconds, (60, "min"), (1, "s"))
        case ..<86_400: return two(seconds, (3600, "h"), (60, "min"))
        default: return two(seconds, (86_400, "d"), (3600, "h"))
        }
    }

    /// A round duration in a single unit, such as the bound of a bar.
    package static func bound(_ duration: Duration) -> (number: Int64, unit: String) {
        let seconds = duration.components.seconds
        for (length, unit) in [(86_400, "d"), (3600, "h"), (60, "min")] as [(Int64, String)]
        where seconds >= length && seconds % length == 0 {
            return (seconds / length, unit)
        }
        return (seconds, "s")
    }

    private static func two(
        _ seconds: Int64, _ large: (length: Int64, unit: String),
        _ small: (length: Int64, unit: String)
    ) -> String {
        let rest = seconds % large.length / small.length
        let text = "\(seconds / large.length) \(large.unit)"
        return rest == 0 ? text : text + " \(rest) \(small.unit)"
    }
}
