import Glibc

/// Another process, as the kernel shows it to everybody; see proc(5).
package struct LinuxProcess: Sendable {
    package let pid: Int32
    /// The program's name, as far as it can be seen; see proc(5), `comm`.
    package let program: String?
    /// Whether it is stopped, by SIGSTOP or a debugger, and so can't let go of anything.
    package let isStopped: Bool

    /// Looks at a process as it is now.
    package init(pid: Int32) {
        self.pid = pid
        program = LinuxFile.text("/proc/\(pid)/comm").map(SafeText.line)
        // The name before it may hold anything, brackets included.
        let state = LinuxFile.text("/proc/\(pid)/stat")?.split(separator: ")").last?
            .first { $0 != " " }
        isStopped = state == "T" || state == "t"
    }
}

extension LinuxProcess: Hashable {
    /// Whether two looks saw the same process, whatever it did meanwhile.
    package static func == (left: LinuxProcess, right: LinuxProcess) -> Bool {
        left.pid == right.pid
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(pid) }
}

extension LinuxProcess: CustomStringConvertible {
    /// `process 4711 (alertq), which is stopped`.
    package var description: String { "process " + name + (isStopped ? ", which is stopped" : "") }

    /// What it is at the beginning of a sentence: `process 4711 (alertq), which is stopped,`.
    package var subject: String { description + (isStopped ? "," : "") }

    /// Its number, and its program's name if that can be seen: `4711 (alertq)`.
    package var name: String { "\(pid)" + (program.map { " (\($0))" } ?? "") }
}
