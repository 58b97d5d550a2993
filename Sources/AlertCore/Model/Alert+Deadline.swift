import FoundationEssentials
import TextFormats

extension Alert {
    /// The moment after which a question can no longer be answered; not after the year 9999, in UTC.
    public enum Deadline: Sendable, Hashable, Codable {
        /// A duration from the moment of asking, unaffected by changes of the wall clock if the
        /// process can read the boot's id (`/proc/sys/kernel/random/boot_id`): more than zero, and
        /// at most 100 years.
        case after(Duration)
        /// A date on the wall clock, even if that clock is set in the meantime: in the future, at
        /// most 100 years away.
        case at(Date)
    }
}

extension Alert.Deadline {
    /// The time until then; zero for a moment that has passed.
    package func distance(from now: Date) -> Duration {
        switch self {
        case .after(let duration): duration
        case .at(let date):
            .milliseconds(max(0, Timestamp.milliseconds(date) - Timestamp.milliseconds(now)))
        }
    }
}

extension DateText {
    /// Reads when something ends: `10m` for ten minutes from now, or a moment to come.
    ///
    /// The moment may have passed already: the caller decides what that means.
    package static func deadline(
        _ text: String, now: Date
    ) throws(UnreadableText) -> Alert.Deadline {
        if let duration = try DurationText.length(text) { return .after(duration) }
        guard let date = next(text, now: now) else {
            let advice =
                DurationText.suggestion(for: text)
                ?? "it like 90s, 10m, 1h30m or 2d, or tomorrow, 18:00, 2026-11-20, "
                + "2026-11-20T18:00 or 2026-11-20T18:00:00Z"
            throw UnreadableText("“\(text)” is not a time; write \(advice)")
        }
        return .at(date)
    }
}
