import Glibc
import Linux

/// The time, as an alert queue needs it; replaced by a manual clock in tests.
public protocol AlertClock: Sendable {
    /// What all clocks say now.
    func now() -> ClockReading

    /// Waits for a length of monotonic time; not at all for zero or less.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for duration: Duration) async throws

    /// Waits until the clock has reached a moment; not at all if it has passed.
    ///
    /// A timer whose end is known before its task runs waits this way: what the clock does between
    /// the decision and the wait is then part of the wait. A clock that a test moves needs its own
    /// implementation for that; a clock that moves by itself can do with the default.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until moment: ClockReading) async throws
}

extension AlertClock {
    /// Waits by ``sleep(for:)`` for the time that is left.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until moment: ClockReading) async throws {
        try await sleep(for: now().time(until: moment))
    }
}

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
}

/// The clocks of the machine.
public struct SystemClock: AlertClock {
    /// Which start of which machine, and which time namespace.
    static let boot = readBoot()

    /// Creates a clock; all of them say the same.
    public init() {}

    /// The time by clock_gettime(2), `CLOCK_REALTIME` and `CLOCK_BOOTTIME`, in milliseconds.
    public func now() -> ClockReading {
        ClockReading(
            wallMilliseconds: Self.milliseconds(CLOCK_REALTIME),
            bootMilliseconds: Self.milliseconds(CLOCK_BOOTTIME), boot: Self.boot)
    }

    /// Waits by the clock of `Task.sleep(for:)`, which stands still while the machine is suspended.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    private static func readBoot() -> String {
        let id = LinuxFile.text("/proc/sys/kernel/random/boot_id") ?? "unknown"
        let namespace = LinuxFile.link("/proc/self/ns/time") ?? "time:[0]"
        return id + " " + namespace
    }
}

extension AlertClock where Self == SystemClock {
    /// The clocks of the machine.
    public static var system: SystemClock { SystemClock() }
}
