import Glibc
import Linux

/// One process of one machine.
public struct ProcessIdentity: Sendable, Hashable, Codable {
    /// The machine's name; see uname(2).
    public var host: String
    /// The boot of the machine, and the time namespace; see ``ClockReading/boot``. It is `nil` where
    /// it isn't known, as in a record: only the log has it.
    public var boot: String?
    /// The process's number in that boot.
    public var pid: Int32

    /// Creates the identity of a process.
    public init(host: String, boot: String? = nil, pid: Int32) {
        self.host = host
        self.boot = boot
        self.pid = pid
    }

    /// The process as a record tells it, without the boot.
    var recorded: ProcessIdentity { ProcessIdentity(host: host, pid: pid) }

    /// Whether both are the same process, as far as is known: a boot that isn't may be any.
    package func isSame(as other: ProcessIdentity) -> Bool {
        pid == other.pid && host.isIdentical(to: other.host)
            && (boot == nil || other.boot == nil || boot.isIdentical(to: other.boot))
    }
}

// MARK: - Processes of this machine

extension ProcessIdentity {
    /// This process.
    public static var current: ProcessIdentity {
        ProcessIdentity(host: LinuxProcess.hostName, boot: SystemClock.boot, pid: getpid())
    }

    /// Whether it is this process.
    package var isCurrent: Bool { isSame(as: .current) }

    /// The process with this number, if it is one of this machine since its start; it may have
    /// ended.
    package var local: LinuxProcess? {
        var here = ProcessIdentity.current
        here.pid = pid
        return pid > 0 && isSame(as: here) ? LinuxProcess(pid: pid) : nil
    }

    /// Whether it is known to run: nothing is known of other machines' processes.
    package var isRunning: Bool { local?.isRunning ?? false }
}
