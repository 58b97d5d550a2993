import AlertQueue
import FoundationEssentials
import TextFormats

/// Moments as verbs print them: on a terminal in local time or as how long ago; elsewhere, and with
/// `--utc`, in UTC, in the format of RFC 3339.
enum TimeText {
    /// A cell of a table.
    static func text(_ date: Date?, in context: Context) -> String {
        guard let date else { return "-" }
        guard case .whole = context.lastingTime else { return Timestamp.text(date) }
        return relative(date, to: context.now())
    }

    /// A moment that has a line to itself.
    static func whole(_ date: Date, in context: Context) -> String {
        let text = LocalTime.text(date, context.lastingTime)
        return context.output.isTerminal
            ? "\(text) (\(relative(date, to: context.now())))" : text
    }

    /// How long ago, rounded down, or in how long, rounded up: nothing comes later than announced.
    static func relative(_ date: Date, to now: Date) -> String {
        // A sum of dates may be slightly beyond the whole hour that it means.
        let seconds = (now.timeIntervalSince(date) * 1000).rounded() / 1000
        guard abs(seconds) >= 1 else { return "now" }
        return seconds > 0
            ? "\(length(seconds, .down)) ago" : "in \(length(-seconds, .up))"
    }

    private static func length(_ seconds: Double, _ rule: FloatingPointRoundingRule) -> String {
        // What is rounded up to 60 minutes is an hour: each unit begins with the rounded value.
        let count = { (unit: Double) in Int(min((seconds / unit).rounded(rule), 1e9)) }
        if count(1) < 60 { return "\(count(1)) s" }
        if count(60) < 60 { return "\(count(60)) min" }
        if count(3600) < 24 { return "\(count(3600)) h" }
        return "\(min(count(86_400), 1_000_000)) d"
    }
}
