import Glibc
import Linux

/// The clocks of the machine.
public struct SystemClock: AlertClock {
    /// The boot of the machine and the time namespace.
    package static let boot = readBoot()

    /// Creates a clock; all instances are equivalent.
    public init() {}

    /// The time by clock_gettime(2), `CLOCK_REALTIME` and `CLOCK_BOOTTIME`, in milliseconds.
    public func now() -> ClockReading {
        ClockReading(
            wallMilliseconds: Self.milliseconds(CLOCK_REALTIME),
            bootMilliseconds: Self.milliseconds(CLOCK_BOOTTIME), boot: Self.boot)
    }

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

    private static func readBoot() -> String {
        let id = LinuxFile.text("/proc/sys/kernel/random/boot_id") ?? "unknown"
        let namespace = LinuxFile.link("/proc/self/ns/time") ?? "time:[0]"
        return id + " " + namespace
    }
}
