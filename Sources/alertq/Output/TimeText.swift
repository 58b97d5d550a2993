import AlertQueue
import FoundationEssentials
import Glibc

/// Moments as verbs print them: how long ago on a terminal, RFC 3339 elsewhere.
package enum TimeText {
    package static func text(_ date: Date?, in context: Context) -> String {
        guard let date else { return "-" }
        guard context.output.isTerminal else { return Timestamp.text(date) }
        return relative(date, to: context.now())
    }

    /// How long ago, rounded down, or in how long, rounded up: nothing comes later than was said.
    package static func relative(_ date: Date, to now: Date) -> String {
        // A sum of dates may be a hair beyond the whole hour that it stands for.
        let seconds = (now.timeIntervalSince(date) * 1000).rounded() / 1000
        guard abs(seconds) >= 1 else { return "now" }
        return seconds > 0
            ? "\(length(seconds, .down)) ago" : "in \(length(-seconds, .up))"
    }

    /// The local time to the second. See localtime(3).
    package static func local(_ date: Date) -> String {
        var seconds = time_t(min(max(date.timeIntervalSince1970, -1e12), 1e12))
        var time = tm()
        localtime_r(&seconds, &time)
        let two = { (number: Int32) in (number < 10 ? "0" : "") + "\(number)" }
        return "\(time.tm_year + 1900)-\(two(time.tm_mon + 1))-\(two(time.tm_mday)) "
            + [time.tm_hour, time.tm_min, time.tm_sec].map(two).joined(separator: ":")
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
