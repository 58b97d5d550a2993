import CLinux
import Glibc

/// The status of a child process from waitpid(2).
package struct WaitStatus: Sendable, Hashable {
    /// `nil` if it is not known.
    private let raw: Int32?

    private init(_ raw: Int32?) {
        self.raw = raw
    }

    /// Reaps a child once it has ended; `nil` with `WNOHANG` while it is running.
    ///
    /// If the host program lets the system reap its children, nothing is known of their end.
    package static func reap(_ process: pid_t, _ options: Int32 = 0) -> WaitStatus? {
        var status: Int32 = 0
        while true {
            let found = waitpid(process, &status, options)
            if found == process { return WaitStatus(status) }
            if found == 0 { return nil }
            if errno != EINTR { return WaitStatus(nil) }
        }
    }

    /// The child's exit code; `nil` if it did not exit by itself, or if that is not known.
    package var exitCode: Int32? {
        raw.flatMap { clinux_exited($0) != 0 ? clinux_exit_status($0) : nil }
    }

    /// The signal that ended the child, if one is known to have done so.
    package var signal: Int32? {
        raw.flatMap { clinux_signaled($0) != 0 ? clinux_term_signal($0) : nil }
    }

    /// Whether the child is stopped but alive; see waitpid(2), `WUNTRACED`.
    package var isStopped: Bool { raw.map { clinux_stopped($0) != 0 } ?? false }

    /// The exit code, or 128 plus the signal, as in a shell.
    package var shellCode: Int32 { exitCode ?? 128 + (signal ?? 0) }
}
