import CLinux
import Glibc

/// What waitpid(2) tells of a child process.
package struct WaitStatus: Sendable, Hashable {
    private let raw: Int32

    private init(_ raw: Int32) {
        self.raw = raw
    }

    /// Reaps a child once it has ended; `nil` with `WNOHANG` while it runs.
    ///
    /// Where the host program has its children reaped by the system, they seem to have exited
    /// with 0.
    package static func reap(_ process: pid_t, _ options: Int32 = 0) -> WaitStatus? {
        var status: Int32 = 0
        while true {
            let found = waitpid(process, &status, options)
            if found == process { return WaitStatus(status) }
            if found == 0 { return nil }
            if errno != EINTR { return WaitStatus(0) }
        }
    }

    /// What the child exited with; `nil` if it didn't exit of its own accord.
    package var exitCode: Int32? { clinux_exited(raw) != 0 ? clinux_exit_status(raw) : nil }

    /// The signal that ended the child, if one did.
    package var signal: Int32? { clinux_signaled(raw) != 0 ? clinux_term_signal(raw) : nil }

    /// Whether the child has been stopped and still lives; see waitpid(2), `WUNTRACED`.
    package var isStopped: Bool { clinux_stopped(raw) != 0 }

    /// The exit code, or 128 and the signal, as a shell has it.
    package var shellCode: Int32 { exitCode ?? 128 + (signal ?? 0) }
}
