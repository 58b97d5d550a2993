/// One moment on the wall clock and on the clock that counts since the machine started.
///
/// Two readings of the same boot and time namespace are compared by boot time, which nobody can
/// set; others by the wall clock. See clock_gettime(2), `CLOCK_REALTIME` and `CLOCK_BOOTTIME`.
public struct ClockReading: Sendable, Hashable {
    /// Milliseconds since 1970-01-01 in UTC.
    public var wallMilliseconds: Int64
    /// Milliseconds since the machine started, suspended time included.
    public var bootMilliseconds: Int64
    /// Which start of which machine, and which time namespace (time_namespaces(7)); empty for a
    /// moment of the wall clock alone.
    public var boot: String

    /// Creates a reading, for a clock of your own, whose `boot` is not empty.
    public init(wallMilliseconds: Int64, bootMilliseconds: Int64, boot: String) {
        self.wallMilliseconds = wallMilliseconds
        self.bootMilliseconds = bootMilliseconds
        self.boot = boot
    }

    /// A moment of the wall clock, which follows that clock when it is set.
    package init(onWallClock milliseconds: Int64) {
        self.init(wallMilliseconds: milliseconds, bootMilliseconds: 0, boot: "")
    }

    /// Whether it is a moment of the wall clock alone.
    package var isOnWallClock: Bool { boot.isEmpty }

    /// The moment that lies a length of time later, to the millisecond, rounded up.
    public func advanced(by duration: Duration) -> ClockReading {
        ClockReading(
            wallMilliseconds: wallMilliseconds.addingBounded(duration.milliseconds),
            bootMilliseconds: bootMilliseconds.addingBounded(duration.milliseconds), boot: boot)
    }

    /// The time from this reading to another, negative if that lies in the past.
    public func time(until other: ClockReading) -> Duration {
        boot == other.boot && !isOnWallClock
            ? .milliseconds(other.bootMilliseconds.subtractingBounded(bootMilliseconds))
            : .milliseconds(other.wallMilliseconds.subtractingBounded(wallMilliseconds))
    }

    /// Whether this reading is not before another.
    public func isAtOrAfter(_ other: ClockReading) -> Bool {
        time(until: other) <= .zero
    }

    /// The first of some moments, as this clock will come to them; `nil` if there is none.
    package func earliest(of moments: some Sequence<ClockReading>) -> ClockReading? {
        moments.min { time(until: $0) < time(until: $1) }
    }
}
