import AlertCore

/// What time does to a queue.
struct Due: Sendable {
    /// Whether a deadline has passed or a snooze is over, and that is not stored yet.
    var isNow: Bool
    /// The earliest deadline or end of a snooze to come, of those that were set in this boot; `nil`
    /// for none, or the earliest moment. Moments, and what was set in an earlier boot, follow the
    /// wall clock, which may jump: that is found only by looking often.
    var next: ClockReading?
}
