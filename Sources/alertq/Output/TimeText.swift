import AlertQueue
import FoundationEssentials

/// Moments as verbs print them: how long ago on a terminal, RFC 3339 elsewhere.
package enum TimeText {
    package static func text(_ date: Date?, in context: Context) -> String {
        guard let date else { return "-" }
        guard context.output.isTerminal else { return Timestamp.text(date) }
        return relative(date, to: context.now())
    }

    /// How long ago, or in how long.
    package static func relative(_ date: Date, to now: Date) -> String {
        let seconds = now.timeIntervalSince(date)
        let length = length(abs(seconds))
        guard let length else { return "now" }
        return seconds > 0 ? "\(length) ago" : "in \(length)"
    }

    private static func length(_ seconds: Double) -> String? {
        switch seconds {
        case ..<1: nil
        case ..<60: "\(Int(seconds)) s"
        case ..<3600: "\(Int(seconds / 60)) min"
        case ..<86_400: "\(Int(seconds / 3600)) h"
        default: "\(Int(min(seconds / 86_400, 1e6))) d"
        }
    }
}
