import CLinux
import Glibc
import Linux

/// The clocks of the machine.
public struct SystemClock: AlertClock {
    /// The boot of the machine, followed by the time namespace if that is not the initial one.
    ///
    /// A process that sees no `/proc`, or only the part with processes (`subset=pid`, systemd's
    /// `ProcSubset=pid`), can't read the boot's id, and nothing else identifies a boot for every
    /// process: the clocks' difference changes whenever the wall clock is set. Such a process uses
    /// a random name, so that no two boots ever look like one.
    static let boot =
        (id ?? "unknown-" + Hex.text(AuditEntry.makeSalt()))
        + (namespace == initialNamespace ? "" : " " + namespace)
    private static let id = LinuxFile.text("/proc/sys/kernel/random/boot_id")
    /// The time namespace, which determines the offsets of the boot clock and the monotonic clock.
    package static let namespace = LinuxFile.link("/proc/self/ns/time") ?? "time:[0]"
    /// The one in which the machine starts: `PROC_TIME_INIT_INO` of Linux's `proc_ns.h`.
    private static let initialNamespace = "time:[\(0xEFFF_FFFA)]"

    /// Creates a clock; all instances are equivalent.
    public init() {}

    /// The time by clock_gettime(2), `CLOCK_REALTIME` and `CLOCK_BOOTTIME`, in milliseconds.
    public func now() -> ClockReading {
        var now = ClockReading(
            wallMilliseconds: Self.milliseconds(CLOCK_REALTIME),
            bootMilliseconds: Self.milliseconds(CLOCK_BOOTTIME), boot: Self.boot)
        now.isBootUnknown = Self.id == nil
        return now
    }

    /// Whether the kernel says that the wall clock is synchronised; see adjtimex(2).
    public var isSynchronized: Bool { clinux_is_clock_synchronized() }

    /// Waits by the clock of `Task.sleep(for:)`, which stops while the machine is suspended.
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
}
