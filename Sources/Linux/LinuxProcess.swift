/// Another process, as the kernel shows it to everybody; see proc(5).
package struct LinuxProcess: Sendable {
    package let pid: Int32
    /// The program's name, as far as it can be seen, in any bytes that it chose; see proc(5),
    /// `comm`.
    package let program: String?
    /// Whether it is stopped, by SIGSTOP or a debugger, and so can't let go of anything.
    package let isStopped: Bool

    /// Looks at a process as it is now.
    package init(pid: Int32) {
        self.pid = pid
        program = LinuxFile.text("/proc/\(pid)/comm")
        // The name before it may hold anything, brackets included.
        let state = LinuxFile.text("/proc/\(pid)/stat")?.split(separator: ")").last?
            .first { $0 != " " }
        isStopped = state == "T" || state == "t"
    }
}

extension LinuxProcess: Hashable {
    /// Whether two looks saw the same process, no matter what it did meanwhile.
    package static func == (left: LinuxProcess, right: LinuxProcess) -> Bool {
        left.pid == right.pid
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(pid) }
}
