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
