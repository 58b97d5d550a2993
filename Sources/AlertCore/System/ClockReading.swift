import TextFormats

/// One moment on the wall clock and on the boot clock, which counts from the machine's start.
///
/// Two readings of the same boot and time namespace are compared by boot time, which can't be set;
/// others by the wall clock. See clock_gettime(2), `CLOCK_REALTIME` and `CLOCK_BOOTTIME`.
public struct ClockReading: Sendable, Hashable {
    /// Milliseconds since 1970-01-01 in UTC.
    public var wallMilliseconds: Int64
    /// Milliseconds since the machine started, suspended time included.
    public var bootMilliseconds: Int64
    /// Identifies the boot of the machine and the time namespace (time_namespaces(7)); empty for a
    /// moment of the wall clock alone.
    public var boot: String
    /// Whether the boot's name is this process's own, because it could not read the machine's: no
    /// other process can compare the boot clock, so deadlines set now follow the wall clock.
    package var isBootUnknown = false

    /// Creates a reading for a clock of your own, with a `boot` that is not empty.
    public init(wallMilliseconds: Int64, bootMilliseconds: Int64, boot: String) {
        self.wallMilliseconds = wallMilliseconds
        self.bootMilliseconds = bootMilliseconds
        self.boot = boot
    }

    /// A moment on the wall clock alone: it moves when that clock is set.
    package init(onWallClock milliseconds: Int64) {
        self.init(wallMilliseconds: milliseconds, bootMilliseconds: 0, boot: "")
    }

    /// Whether it is a moment of the wall clock alone.
    package var isOnWallClock: Bool { boot.isEmpty }

    /// The name of the boot of every server's clock: it has one for ever.
    package static let serverBoot = "postgresql"

    /// The moment that is a duration later, to the millisecond, rounded up.
    public func advanced(by duration: Duration) -> ClockReading {
        var later = self
        later.wallMilliseconds = wallMilliseconds.addingBounded(duration.milliseconds)
        later.bootMilliseconds = bootMilliseconds.addingBounded(duration.milliseconds)
        return later
    }

    /// The time from this reading to another, negative if the other one is earlier.
    public func time(until other: ClockReading) -> Duration {
        boot == other.boot && !isOnWallClock
            ? .milliseconds(other.bootMilliseconds.subtractingBounded(bootMilliseconds))
            : .milliseconds(other.wallMilliseconds.subtractingBounded(wallMilliseconds))
    }

    /// Whether this reading is at or after another.
    public func isAtOrAfter(_ other: ClockReading) -> Bool {
        time(until: other) <= .zero
    }

    /// Makes sure that the log can hold the moment: it writes years with four digits.
    ///
    /// - Parameter part: What the moment is, for the error.
    /// - Throws: ``AlertError/invalid(_:_:)`` for a year before 1970 or after 9999.
    package func checkYear(of part: String) throws(AlertError) {
        guard !Timestamp.plain.contains(wallMilliseconds) else { return }
        let time = LocalTime.text(Timestamp.date(milliseconds: wallMilliseconds), .whole)
        throw .invalid(part, "is outside of the years 1970 to 9999: \(time)")
    }

    /// The first of several moments that this clock will reach; `nil` if there is none.
    package func earliest(of moments: some Sequence<ClockReading>) -> ClockReading? {
        moments.min { time(until: $0) < time(until: $1) }
    }
}
