import Glibc

/// Another process, as far as every user may see it; see proc(5).
package struct LinuxProcess: Sendable {
    package let pid: Int32
    /// The program's name, if visible; the program may have set it to any bytes; see proc(5),
    /// `comm`.
    package let program: String?
    /// Whether it is stopped, by SIGSTOP or a debugger, and so can't release anything.
    package let isStopped: Bool

    /// Reads the current state of a process.
    package init(pid: Int32) {
        self.pid = pid
        program = LinuxFile.text("/proc/\(pid)/comm")
        // The name before it may contain anything, including brackets.
        let state = LinuxFile.text("/proc/\(pid)/stat")?.split(separator: ")").last?
            .first { $0 != " " }
        isStopped = state == "T" || state == "t"
    }
}

extension LinuxProcess {
    /// The device of this process's controlling terminal, such as `/dev/pts/3`; `nil` if it has
    /// none, or none that can be found in this mount namespace. See proc(5), `tty_nr`.
    package static var controllingTerminal: String? {
        // The program's name, in brackets, may contain anything.
        let fields = LinuxFile.text("/proc/self/stat")?.split(separator: ")").last?
            .split(separator: " ")
        guard let fields, fields.count > 4, let number = Int32(fields[4]), number != 0 else {
            return nil
        }
        // Twelve bits of the major number lie among twenty of the minor one; see makedev(3).
        let device = UInt32(bitPattern: number)
        let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
        // Pseudoterminals have no directory in sysfs.
        let event = LinuxFile.text("/sys/dev/char/\(major):\(minor)/uevent") ?? ""
        let name = event.split(separator: "\n").first { $0.hasPrefix("DEVNAME=") }?.dropFirst(8)
        let path = "/dev/" + (name.map(String.init) ?? "pts/\(minor)")
        var status = stat()
        let isIt = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
        return isIt && status.st_rdev == dev_t(device) ? path : nil
    }
}

extension LinuxProcess: Hashable {
    /// Whether both values are the same process, whatever it did in the meantime.
    package static func == (left: LinuxProcess, right: LinuxProcess) -> Bool {
        left.pid == right.pid
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(pid) }
}
