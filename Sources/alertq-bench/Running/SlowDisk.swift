import AlertQueue
import CSlowDisk
import Glibc
import Linux

/// Makes each sync of this program take longer, whatever code calls for it, so that a fast disk can
/// stand in for a slow one.
enum SlowDisk {
    private static let variable = "ALERTQ_BENCH_SYNC_DELAY"

    /// Adds a time to each sync of this process, and of its children.
    static func begin(microseconds: Int) {
        setenv(variable, "\(microseconds)", 1)
        inherit()
    }

    /// Applies the parent's delay in a child.
    static func inherit() {
        slow_disk_delay(LinuxProcess.environment(variable).flatMap(UInt32.init) ?? 0)
    }
}
