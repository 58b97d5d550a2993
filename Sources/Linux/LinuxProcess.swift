import Glibc

/// A process, as far as every user may see it; see proc(5).
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
    /// Whether it runs; see kill(2).
    package var isRunning: Bool { kill(pid, 0) == 0 || errno == EPERM }
}

extension LinuxProcess: Hashable {
    /// Whether both values are the same process, whatever it did in the meantime.
    package static func == (left: LinuxProcess, right: LinuxProcess) -> Bool {
        left.pid == right.pid
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(pid) }
}
