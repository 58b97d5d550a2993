import AlertCore

/// The effects of time on a queue.
struct Due: Sendable {
    /// Whether a deadline has passed or a snooze is over, and that is not stored yet.
    var isNow: Bool
    /// The next deadline or end of a snooze among those set in this boot, or the earliest given as
    /// a date; `nil` if there is none. Dates, and times set in an earlier boot, follow the wall
    /// clock, which may jump: that is only noticed by looking often.
    var next: ClockReading?
}
